"""`init`, `compile`, `check`, `status`."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command
from orgvault.services import checking, compiling, overview, setting_up


@click.command(cls=Command, example="orgvault init ~/notes")
@click.argument("path", required=False)
@click.option(
    "--agent", default=setting_up.DEFAULT_AGENT, show_default=True, help="Id of the first agent."
)
@click.option("--make", is_flag=True, help="Also org.mk: targets for the vault's own CI.")
def init(path: str | None, agent: str, *, make: bool) -> None:
    """Make PATH (default: this folder) a vault; write only what is missing."""
    vault, clock, made = wiring.new_vault(path)
    done = setting_up.init(
        vault, clock, wiring.VERSION, agent, packaged=wiring.packaged(make=make), made=made
    )
    lines = [f"{done.root} is a vault."]
    lines += ["made a git repository"] if done.repository_made else []
    lines += [f"wrote {one}" for one in done.written]
    lines += [f"kept  {one}" for one in done.kept]
    lines += [
        "",
        "Next: edit .agents/org/org.yaml, then `orgvault compile`.",
        "Hide our commits from your log with `git mine`:",
        "  git config alias.mine 'log --invert-grep --grep=^Orgvault-Op:'",
    ]
    output.show(done, "\n".join(lines))
    output.remarks(done.notes)
    wiring.finish(vault)


@click.command("compile", cls=Command, example="orgvault compile --check")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; fail when stale.")
def compile_(*, only_check: bool) -> None:
    """Compile org.yaml into org-agents.json, which the engine reads."""
    desk = wiring.desk_to_compile()
    work = compiling.check_compiled if only_check else compiling.compile_roster
    done = work(desk)
    state = "compiled" if done.changed else "up to date"
    output.show(done, f"{done.path}: {state} ({', '.join(done.agents) or 'no agents'})")
    if done.source_uncommitted:
        output.remark("org.yaml itself is yours to commit: `git commit .agents/org/org.yaml`")
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault check --format github")
@click.option(
    "--format", "form", type=click.Choice(["text", "github"]), default="text", show_default=True,
    help="github: annotations for the lines of a pull request.",
)  # fmt: skip
@click.pass_context
def check(context: click.Context, form: str) -> None:
    """Every file against its format, and the rules between files; fails on any problem."""
    desk = wiring.desk_to_compile()
    done = checking.check(desk)
    told = checking.annotations(desk, done) if form == "github" else map(str, done.problems)
    lines = [*told, f"{done.files} files, {len(done.problems)} problems"]
    output.show(done, "\n".join(lines))
    output.remarks(done.warnings)
    wiring.finish(desk.vault)
    context.exit(1 if done.problems else 0)


@click.command(cls=Command, example="orgvault status")
def status() -> None:
    """The queue, the backlog, and what waits to be committed."""
    desk = wiring.desk()
    seen = overview.overview(desk)
    columns = ("agent", "open wakes", "claims", "last run", "outcome", "finished")
    rows = [
        (a.agent, a.open_wakes, a.claims, a.last_run, a.last_outcome, a.finished_at)
        for a in seen.agents
    ]
    lines: list[str] = [output.table(columns, rows, "No agents.")]
    if seen.open_cards is not None:
        lines.append(f"{seen.open_cards} open cards, {seen.open_proposals} open proposals")
    lines.append(f"{seen.model_calls_today} model calls today (UTC)")
    if seen.waiting:
        lines.append(f"{seen.waiting} recorded writes wait to be committed")
    if seen.operation:
        lines.append(f"{seen.operation} is in progress")
    output.show(seen, output.Drawn("\n".join(lines)))  # git's own word is all that is not ours
    wiring.finish(desk.vault)
