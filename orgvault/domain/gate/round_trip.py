"""The last word on org.yaml: ruamel's round trip of the old and of the new text.

It judges and never writes: a person's file is not re-dumped.
"""

from collections.abc import Sequence
from io import StringIO

from orgvault.domain.gate.diffs import Applied
from orgvault.domain.gate.refused import Refused
from orgvault.domain.gate.trees import Change, Comparison, Side
from orgvault.domain.org import FILE
from orgvault.domain.proposal import Rule
from orgvault.domain.yaml_tree import compose

NOT_COMPARED = "ruamel's round trip cannot read org.yaml as it stands: this check was left out"
_NEVER_FOLDED = 1 << 20  # columns


def round_trip_flags(
    applied: Applied, compared: Comparison, changes: Sequence[Change]
) -> tuple[str, ...]:
    """Load and dump both texts; the dumps may differ in the changed values only, or Refused."""
    old, new = _dumped(applied.old), _dumped(applied.new)
    if old is None:
        return (NOT_COMPARED,)
    if new is None:
        why = "ruamel's round trip reads the old text, and not the new one"
        raise Refused(Rule.ROUND_TRIP, why)
    compared = compared._replace(rule=Rule.ROUND_TRIP, loosely=True)
    seen = compared.changes(old, new)
    if [one.edit() for one in seen] != [one.edit() for one in changes]:
        raise Refused(Rule.ROUND_TRIP, "ruamel's round trip sees other values change")
    return ()


def _dumped(text: str) -> Side | None:
    """A text as ruamel writes it with its comments, quotes and anchors; None if it cannot."""
    from ruamel.yaml import YAML

    yaml = YAML()  # the round trip
    yaml.preserve_quotes = True
    yaml.width = _NEVER_FOLDED
    written = StringIO()
    try:
        yaml.dump(yaml.load(text), written)
    except Exception:  # noqa: BLE001 - whatever the library raises, it could not read the text
        return None
    document = compose(written.getvalue(), FILE)
    return Side(written.getvalue(), document) if document.root is not None else None
