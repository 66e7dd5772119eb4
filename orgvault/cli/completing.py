"""Shell completion of ids: quiet, and without a write."""

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from orgvault.cli.options import Settings
from orgvault.services import completing
from orgvault.services.desk import Desk

_BY_NAME: dict[str, Callable[[Desk], list[str]]] = {
    "agent": completing.agents,
    "actor": completing.actors,
    "claim": completing.claims,
    "card": completing.cards,
    "proposal": completing.proposals,
    "wake": completing.wakes,
    "run": completing.runs,
    "collection": completing.collections,
    "routine": completing.routines,
    "connector": completing.connectors,
}


def complete(kind: str, context: click.Context, incomplete: str) -> list[CompletionItem]:
    """The ids of a kind that begin so; none where the vault cannot be read."""
    from orgvault.cli import wiring
    from orgvault.errors import OrgvaultError

    root = context.find_root()
    given = root.ensure_object(Settings)
    given.vault, given.quiet = root.params.get("vault"), True
    try:
        with context.scope(cleanup=False):
            words = _BY_NAME[kind](wiring.desk_to_look())
    except (OrgvaultError, OSError):
        return []  # whoever presses Tab is typing: what is wrong, the command itself will say
    before, comma, begun = incomplete.rpartition(",")  # several wakes are one word
    return [CompletionItem(before + comma + word) for word in words if word.startswith(begun)]
