"""Plain files only: no link, no repository within, no other mode where the engine writes."""

from orgvault.domain.audit.finding import Report, Rule
from orgvault.domain.audit.places import ENGINE, spot

PLAIN, LINK, SUBMODULE = "100644", "120000", "160000"


def check(path: str, mode: str, report: Report) -> None:
    """Judge the mode that a commit gives a path."""
    kind = spot(path).kind
    if mode == PLAIN or (
        kind not in ENGINE and (kind != "source" or mode not in {LINK, SUBMODULE})
    ):
        return
    if mode == LINK:
        report.find(Rule.LINK, path, "a link")
    elif mode == SUBMODULE:
        report.find(Rule.SUBMODULE, path, "a repository of its own")
    else:
        report.find(Rule.MODE, path, f"its mode is {mode}")
