"""What each path below `.agents/org/` is, by its name."""

import re
from typing import NamedTuple

ORG = ".agents/org/"
SOURCE, COMPILED = f"{ORG}org.yaml", f"{ORG}org-agents.json"

_AGENT = r"[a-z][a-z0-9-]{0,31}"
_ID = r"[0-9a-hjkmnp-tv-z]{8}"
_SEGMENT = rf"\d{{4}}-\d\d-\d{{4,}}\.(?P<agent>{_AGENT})\.[0-9a-f]{{4}}\.jsonl"
# A copy that a sync tool has made of a segment is read like one.
_LIKE_SEGMENT = rf"[^/.]+\.(?P<agent>{_AGENT})\.[^/]*\.jsonl"
_TORN = re.compile(r"\.torn-[0-9a-f]+$")
_KINDS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("segment", rf"(?P<log>episodes|runs)/(?P<folder>{_AGENT})/{_SEGMENT}"),
        ("segment", rf"(?P<log>wakes|status|corrections|reflections|chat)/{_SEGMENT}"),
        ("segment-copy", rf"(?P<log>episodes|runs)/(?P<folder>{_AGENT})/{_LIKE_SEGMENT}"),
        ("segment-copy", rf"(?P<log>wakes|status|corrections|reflections|chat)/{_LIKE_SEGMENT}"),
        ("text", r"runs/texts/(?:[0-9a-f]{2}/)?(?P<name>[0-9a-f]{64})(?:\.[^/]*)?"),
        ("active", rf"memory/(?P<agent>{_AGENT})/claims/(?P<name>c-{_ID})\.yaml"),
        ("closed", rf"memory/(?P<agent>{_AGENT})/closed/(?P<name>c-{_ID})\.yaml"),
        ("core", rf"memory/(?P<agent>{_AGENT})/core\.md"),
        ("proposal", rf"proposals/(?P<name>(?:t|imp)-{_ID})\.yaml"),
        ("diff", rf"proposals/(?P<name>(?:t|imp)-{_ID})\.diff"),
        ("entry", rf"ledger/(?P<name>(?:t|imp)-{_ID})\.yaml"),
        ("compiled", r"org-agents\.json"),
        ("source", r"org\.yaml"),
        ("person", r"prompts/.*|connectors/.*|\.gitattributes|\.gitignore|org\.schema\.json"),
        ("engine", r"(?:episodes|runs|wakes|status|corrections|reflections|chat|proposals|ledger)"),
        ("stray", r"memory/[^/]+/(?:claims|closed)/.*"),
        ("engine", r"memory(?:/[^/.]+(?:/(?:claims|closed))?)?"),
        (
            "stray",
            r"(?:episodes|runs|wakes|status|corrections|reflections|chat|proposals|ledger)/.*",
        ),
    )
)
# Of these the mode, too, is only ever that of a plain file.
ENGINE = frozenset({
    "segment", "segment-copy", "text", "active", "closed", "core", "proposal", "diff", "entry",
    "compiled", "engine", "stray",
})  # fmt: skip
# Nothing in these is looked into.
UNREAD = frozenset({"elsewhere", "other", "stray", "torn", "engine"})
_ABOVE = frozenset({".agents", ".agents/org"})
SEGMENTS = frozenset({"segment", "segment-copy"})


class Spot(NamedTuple):
    """What a path is: its kind, and of which log, agent and name where it has one."""

    kind: str
    log: str = ""
    agent: str = ""
    name: str = ""


def spot(path: str) -> Spot:
    """What stands at a path, relative to the vault."""
    if path in _ABOVE:
        return Spot("engine")
    if not path.startswith(ORG):
        return Spot("elsewhere")
    inside = path[len(ORG) :]
    if _TORN.search(inside):
        return Spot("torn")
    for kind, pattern in _KINDS:
        found = pattern.fullmatch(inside)
        if found:
            named = found.groupdict()
            if named.get("folder") not in {None, named.get("agent")}:
                return Spot("stray")
            return Spot(
                kind, named.get("log") or "", named.get("agent") or "", named.get("name") or ""
            )
    return Spot("other")


def claim_path(agent: str, claim: str, folder: str) -> str:
    """Where a claim stands: `claims` while active, `closed` afterwards."""
    return f"{ORG}memory/{agent}/{folder}/{claim}.yaml"
