"""What must hold between the keys of org.yaml: people, agents, leads, names, grants.

The rules look at the plain values as they were written, so that they find their faults also
where a key elsewhere cannot be read.
"""

from collections.abc import Iterable, Iterator, Mapping
from unicodedata import normalize

from orgvault.domain.claim import BY_HAND, BY_REFLECTION
from orgvault.domain.compiled import memory_rules
from orgvault.domain.ids import agent_id_fault
from orgvault.domain.masking import mentions_protected
from orgvault.domain.record import Path, Violation

# Words that stand for something else where a name may stand: the author of a claim, and the
# people as a group in the chat.
TAKEN_NAMES = frozenset({BY_REFLECTION, BY_HAND, "operator", "user", "orgvault"})
RESERVED_VARIABLES = ("ORGVAULT_", "GIT_")


def broken_rules(value: object) -> list[Violation]:
    """Every rule that an org.yaml's plain value breaks."""
    if not isinstance(value, Mapping):
        return []
    people = _people(value)
    agents = list(_agents(value))
    return [
        *_owner(value, people),
        *_names(people, agents),
        *_leads(people, agents),
        *_timezone(value.get("timezone")),
        *_folders(value, agents),
        *_grants(agents),
        *_memory(value, agents),
    ]


def key_of(value: object, agent_id: str) -> str | None:
    """The key under `agents` of an agent's block in an org.yaml's plain value; None without one.

    Block and agent have the same name unless the block says another `id`.
    """
    agents = _agents(value) if isinstance(value, Mapping) else iter(())
    return next((str(one.at[1]) for one in agents if one.name == agent_id), None)


def in_dot_folder(path: str) -> bool:
    """Whether a path leads into a folder (or to a file) that Obsidian does not show."""
    return any(step.startswith(".") and step.strip(".") for step in path.split("/"))


class _Entry:
    """One person or agent: where its name stands, and the rest of its block."""

    def __init__(self, name: str, at: Path, block: Mapping[str, object], *, at_key: bool) -> None:
        self.name, self.at, self.block, self.at_key = name, at, block, at_key

    def broken(self, what: str, do: str) -> Violation:
        return Violation(self.at, what, do, self.at_key)


def _people(value: Mapping[str, object]) -> list[_Entry]:
    found = []
    operators = value.get("operators")
    for index, one in enumerate(operators if isinstance(operators, list) else []):
        if isinstance(one, Mapping) and isinstance(name := one.get("name"), str):
            found.append(_Entry(name, ("operators", index, "name"), one, at_key=False))
    return found


def _agents(value: Mapping[str, object]) -> Iterator[_Entry]:
    agents = value.get("agents")
    for key, block in agents.items() if isinstance(agents, Mapping) else []:
        given = block if isinstance(block, Mapping) else {}
        if isinstance(own := given.get("id"), str) and own:
            yield _Entry(own, ("agents", key, "id"), given, at_key=False)
        else:
            yield _Entry(str(key), ("agents", key), given, at_key=True)


def _owner(value: Mapping[str, object], people: list[_Entry]) -> Iterator[Violation]:
    owner = value.get("owner")
    if not isinstance(owner, str) or not people:
        return
    names = [one.name for one in people]
    if owner not in names:
        yield Violation(("owner",), f"`{owner}` is not among the operators", _near(owner, names))
    for one in people:
        role, at = one.block.get("role", "reviewer"), (*one.at[:-1], "role")
        if one.name == owner and role != "owner":
            yield Violation(at, f"`{owner}` is the owner", "give them `role: owner`")
        if one.name != owner and role == "owner":
            yield Violation(at, f"`{one.name}` is not the owner, {owner} is", "write reviewer")


def _names(people: list[_Entry], agents: list[_Entry]) -> Iterator[Violation]:
    for one in agents:
        fault = agent_id_fault(one.name)
        # A malformed `id:` is a violation of its description already.
        if fault and (one.at_key or "not an agent id" not in fault):
            yield one.broken(fault, "rename it")
    seen: dict[str, _Entry] = {}
    for one in [*people, *agents]:
        folded = folded_name(one.name)
        if folded in TAKEN_NAMES:
            yield one.broken(f"`{one.name}` is a word of orgvault's own", "choose another name")
        if folded in seen:
            what = f"`{one.name}` and `{seen[folded].name}` are one name to many file systems"
            yield one.broken(what if one.name != seen[folded].name else _twice(one), "rename one")
        seen.setdefault(folded, one)
    mails: set[str] = set()
    for one in people:
        mail = one.block.get("email")
        if isinstance(mail, str) and mail:
            if mail.casefold() in mails:
                at = (*one.at[:-1], "email")
                yield Violation(at, f"`{mail}` is another operator's", "give each their own")
            mails.add(mail.casefold())


def folded_name(text: str) -> str:
    """A name as a file system sees it that ignores case and accents' spelling."""
    return normalize("NFC", normalize("NFC", text).casefold())


def _twice(one: _Entry) -> str:
    return f"two have the name `{one.name}` (agents and operators share one list of names)"


def _leads(people: list[_Entry], agents: list[_Entry]) -> Iterator[Violation]:
    names = [one.name for one in [*people, *agents]]
    leads = {
        one.name: lead for one in agents if isinstance(lead := one.block.get("lead"), str) and lead
    }
    for one in agents:
        lead = leads.get(one.name)
        at = (*(one.at if one.at_key else one.at[:-1]), "lead")
        if lead is None:
            continue
        if lead == one.name:
            yield Violation(at, f"`{lead}` would lead itself", "name another, or nobody")
        elif lead not in names:
            what = f"`{lead}` is neither an agent nor an operator"
            yield Violation(at, what, _near(lead, names))
        elif circle := _circle(one.name, leads):
            what = f"the leads go round in a circle ({' → '.join(circle)})"
            yield Violation(at, what, "let one of them be led by a person or by nobody")


def _circle(start: str, leads: Mapping[str, str]) -> list[str]:
    """The way from an agent over its leads back to it; empty when there is none."""
    way = [start]
    while (following := leads.get(way[-1])) is not None and following not in way:
        way.append(following)
    return [*way, start] if following == start else []


def _timezone(name: object) -> Iterator[Violation]:
    if not isinstance(name, str):
        return
    from zoneinfo import ZoneInfo, available_timezones

    try:
        ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        what = f"`{name}` is not a time zone"
        yield Violation(
            ("timezone",),
            what,
            _near(name, sorted(available_timezones()), "write one like Europe/Berlin"),
        )


def _folders(value: Mapping[str, object], agents: list[_Entry]) -> Iterator[Violation]:
    pages = value.get("pages")
    folder = pages.get("folder") if isinstance(pages, Mapping) else None
    places: list[tuple[Path, object]] = [(("pages", "folder"), folder)]
    homes: dict[str, str] = {}
    for one in agents:
        at = (*(one.at if one.at_key else one.at[:-1]), "home")
        places.append((at, given := one.block.get("home")))
        home = given if isinstance(given, str) and given else f"{folder or 'Org'}/Home/{one.name}"
        folded = folded_name(home.rstrip("/"))
        if folded in homes and homes[folded] != one.name:
            what = f"`{home}` is the home of {homes[folded]} too"
            yield Violation(at, what, "give each its own")
        homes.setdefault(folded, one.name)
    given = value.get("protected")
    listed = given if isinstance(given, list) else []
    protected = tuple(one for one in listed if isinstance(one, str))
    for at, place in places:
        if not isinstance(place, str):
            continue
        if in_dot_folder(place):
            yield Violation(at, f"`{place}` is in a dot-folder", "name a visible folder")
        elif mentions_protected(f"{place}/x", protected):
            yield Violation(at, f"`{place}` is a protected place", "name another folder")


def _grants(agents: list[_Entry]) -> Iterator[Violation]:
    for one in agents:
        at = one.at if one.at_key else one.at[:-1]
        granted = one.block.get("capabilities")
        if isinstance(granted, list) and "memory_write" in granted and "memory" not in granted:
            what = "`memory_write` without `memory`"
            yield Violation((*at, "capabilities"), what, "add memory, or take memory_write out")
        yield from _variables(one.block, at)


def _variables(block: Mapping[str, object], at: Path) -> Iterator[Violation]:
    client, secrets = block.get("client"), block.get("secrets")
    env = client.get("env") if isinstance(client, Mapping) else None
    places: list[tuple[Path, object, bool]] = [
        ((*at, "client", "env", key), key, True)
        for key in (env if isinstance(env, Mapping) else ())
    ]
    names: set[object] = {name for _, name, _ in places}
    for index, secret in enumerate(secrets if isinstance(secrets, list) else []):
        name = secret.get("name") if isinstance(secret, Mapping) else None
        where = (*at, "secrets", index, "name")
        if isinstance(name, str):
            places.append((where, name, False))
            if name in names:
                yield Violation(where, f"`{name}` is set twice", "keep one of them")
            names.add(name)
    for where, name, at_key in places:
        if isinstance(name, str) and name.upper().startswith(RESERVED_VARIABLES):
            yield Violation(where, f"`{name}` is set by orgvault itself", "rename it", at_key)


def _memory(value: Mapping[str, object], agents: list[_Entry]) -> Iterator[Violation]:
    blocks: list[tuple[Path, object]] = [
        ((*(one.at if one.at_key else one.at[:-1]), "memory"), one.block.get("memory"))
        for one in agents
    ]
    defaults = value.get("defaults")
    if isinstance(defaults, Mapping):
        blocks.append((("defaults", "memory"), defaults.get("memory")))
    for at, block in blocks:
        for one in memory_rules(block):
            yield Violation((*at, *one.path), one.what, one.do, one.at_key)


def _near(given: str, known: Iterable[str], otherwise: str = "") -> str:
    from difflib import get_close_matches

    names = list(known)
    near = get_close_matches(given, names, n=1)
    return f"did you mean `{near[0]}`?" if near else otherwise or f"write one of {', '.join(names)}"
