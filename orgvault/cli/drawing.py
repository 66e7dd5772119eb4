"""The option `--plot` of the statistics."""

from orgvault.cli import output
from orgvault.cli.options import settings
from orgvault.domain.problem import Problem
from orgvault.services.desk import Desk


def draw(desk: Desk, agent: str | None, file: str | None, days: int | None) -> list[Problem]:
    """Draw the weeks into a file, if one was named; what could not be counted."""
    if file is None:
        return []
    from orgvault.services import ledger_plot, plotting

    marks = ledger_plot.marks(desk, agent)
    made, problems = plotting.plot(desk, agent, file, days=days, marks=marks)
    if settings().dry_run:
        output.remark(f"would write {made.path}")
    else:
        plotting.save(made)
        output.remark(f"wrote {made.path}")
    return problems
