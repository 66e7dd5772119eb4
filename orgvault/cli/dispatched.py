"""How runs that were dispatched are shown, a line each."""

from orgvault.services.dispatching import Planned, RunEnded, Skipped


def described(one: RunEnded | Skipped | Planned) -> str:
    """What came of a run, or of work that was left, in one line."""
    if isinstance(one, Planned):
        return f"{one.agent}: a {one.origin} run for {', '.join(one.wakes)}"
    if isinstance(one, Skipped):
        left = f" ({', '.join(one.wakes)} stay open)" if one.wakes else ""
        return f"{one.agent} is left: {one.why}{left}" if one.agent else one.why
    figures = [f"exit {one.exit_code}"] if one.exit_code else []
    figures += [f"{one.turns} turns"] if one.turns is not None else []
    figures += [f"{one.duration_s:.1f} s"] if one.duration_s is not None else []
    figures += [f"{one.cost_usd:.2f} USD"] if one.cost_usd is not None else []
    figures += [f"closed {', '.join(one.wakes)}"] if one.wakes else []
    figures += [f"proposed {one.proposal}"] if one.proposal else []
    return f"{one.run} of {one.agent}: {one.outcome} ({', '.join(figures)})"
