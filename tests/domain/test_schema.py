"""The schemas say what the reader accepts."""

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from orgvault.domain import connector
from orgvault.domain.card import Card
from orgvault.domain.chat import Said
from orgvault.domain.claim import Claim, ClaimKind, new_claim
from orgvault.domain.collection import Collection, Column
from orgvault.domain.episode import Correction, Episode, TranscriptFile
from orgvault.domain.ledger import Compared, Entry, Window
from orgvault.domain.org import OrgFile
from orgvault.domain.org_agents import CompiledOrg
from orgvault.domain.org_compiler import compile_org
from orgvault.domain.proposal import Edit, Proposal, Target
from orgvault.domain.record import plain, read
from orgvault.domain.reflection import Reflection, Result, Verdict
from orgvault.domain.routine import Routine
from orgvault.domain.run import (
    KeptConnector,
    KeptEmbed,
    KeptMarker,
    KeptSection,
    KeptSource,
    KeptText,
    Manifest,
    OpeningRow,
    TaskSource,
)
from orgvault.domain.schema import json_schema
from orgvault.domain.script import Script
from orgvault.domain.wake import Outcome, Reason, Status, Trigger, WakeEvent
from orgvault.domain.yaml_tree import compose

TOOL = Path(__file__).parent.parent.parent / "tools" / "schemas.py"
AT, SHA = "2026-11-20T09:14:03Z", "0123456789abcdef" * 4
EPISODE = Episode(
    id="e-1", agent="nova", run="r1", wakes=("w-7f3k2q9d",), reason=Reason.TASK, card=None,
    outcome=Outcome.DONE, exit_code=0, turns=3, cost_usd=0.25, duration_s=None, tokens_in=1,
    tokens_out=None, model="m", summary="I worked.", log=None,
    transcript=TranscriptFile(path="t", sha256=SHA), prompt_sha256=None, core_sha256=SHA,
    client="claude", session=None, session_cost_usd=None, reflect_skipped=None, started_at=None,
    finished_at=AT,
)  # fmt: skip
VALID: dict[str, tuple[type[Any], Any]] = {
    "episode": (Episode, plain(EPISODE)),
    "correction": (Correction, plain(Correction(
        id="k-1", agent="nova", card="t-7f3k2q9d", episode="e-1", run="r1", why="x", actor="sam",
        at=AT,
    ))),
    "wake": (WakeEvent, plain(WakeEvent(
        id="w-7f3k2q9d.added", agent="nova", wake="w-7f3k2q9d", event="added", at=AT, actor="sam",
        reason=Reason.CHAT, card="t-7f3k2q9d",
    ))),
    "status": (Status, plain(Status(
        id="s-1", agent="nova", run="r1", at=AT, text="x", outcome="done",
    ))),
    "reflection": (Reflection, plain(Reflection(
        id="r-1", agent="nova", run="r1", at=AT, trigger=Trigger.CHAT_END, result=Result.APPLIED,
        operations=(Verdict(op="add", verdict="accepted"),),
    ))),
    "claim": (Claim, plain(new_claim(
        "c-7f3k2q9d", "nova", ClaimKind.LESSON, "x", "r1", AT, "sam",
    ))),
    "proposal": (Proposal, plain(Proposal(
        id="imp-7f3k2q9d", agent="nova", memory_id="c-7f3k2q9d", target=Target.OWN_PROMPT,
        path="x.md", edits=(Edit(key="goal", before=("x",), after=None),), base=SHA, base_blob=SHA,
        diff_sha256=SHA, flags=("x",), evidence=("r1",), created=AT, expires=AT,
    ))),
    "ledger": (Entry, plain(Entry(
        card="imp-7f3k2q9d", agent="nova", shipped_commit=SHA, shipped_at=AT, shipped_by="sam",
        before=Window(
            since=AT, until=AT, episodes=1, done=1, corrected=0, cost_usd=None, priced=0,
        ),
        corrections=Compared(observed=None, low=0.5, high=2.5), confounders=("x",), next_at=AT,
    ))),
    "card": (Card, plain(Card(
        id="t-7f3k2q9d", kind="task", status="open", title="x", author="sam", created=AT,
    ))),
    "run-manifest": (Manifest, plain(Manifest(
        id="n-1", agent="nova", run="run-7f3k2q9d", at=AT, actor="sam", origin="direct",
        prompt_sha256=SHA, core_sha256=SHA, counter="cl100k_base",
        sections=(KeptSection(name="task", sha256=SHA, bytes=1, tokens=1),),
        sources=(KeptSource(name="connector/git", path="p", blob=SHA[:40]),),
        task_source=TaskSource(
            path="t.md", embeds=(KeptEmbed(path="n.md", bytes=1, depth=1),),
            markers=(KeptMarker(source="t.md", target="x", reason="y"),),
        ),
        connectors=(KeptConnector(name="git", ms=3, unavailable="late"),), neutralised=0,
        claims=("c-7f3k2q9d",), tools=("note_get",), version="0.1.0",
    ))),
    "run-opening": (OpeningRow, plain(OpeningRow(
        id="o-1", agent="nova", run="run-7f3k2q9d", index=1, role="user",
        texts=(KeptText(text="x", sha256=SHA),),
    ))),
    "chat": (Said, plain(Said(
        id="m-1", seq=1, at=AT, sent_by="nova", text="x", tags=("sam",), run="r1",
    ))),
    "routine": (Routine, plain(Routine(
        id="digest", agent="nova", cron="0 9 * * *", instruction="x", created=AT, resumed=AT,
    ))),
    "collection": (Collection, plain(Collection(
        name="books", purpose="x", access={"nova": "read"}, queue="state",
        columns=(Column(name="state", type="choice", choices=("read", "left")),),
    ))),
    "script": (Script, plain(Script(
        name="count", description="x", command=("python3", "main.py"),
        parameters={"type": "object", "properties": {}},
    ))),
    "connector": (connector.Manifest, plain(connector.Manifest(
        title="Git", state=connector.StateKey(key="git", intro="x", command=("git",)),
        prompt=connector.Guidance(guidance="x"), login=("TOKEN",),
    ))),
    "catalog": (connector.Catalog, plain(connector.Catalog(order=("git",)))),
}  # fmt: skip


def validator(record: type[Any]) -> Draft202012Validator:
    schema = json_schema(record, "title", "x.schema.json")
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


VALIDATORS = {record: validator(record) for record, _ in VALID.values()}
VALIDATORS |= {record: validator(record) for record in (OrgFile, CompiledOrg)}

# No `1.0`, no line break at the end, no date that is none: where schema and reader differ is
# said in schema.py.
OTHER: list[Any] = [
    None, True, False, -1, 0, 1, 2, 3999, 4001, 10**9, -0.5, 0.5, 1.5,
    "", " ", "x", "Nova", "nova", "off", "openai/x", "owner", "open", "done", "lesson", "a" * 5000,
    "a\nb", "a/b", "/a", "../a", "C:/a", "é", "sam@example.org", AT, "2026-11-20", SHA,
    "c-7f3k2q9d", "t-7f3k2q9d", "imp-7f3k2q9d", "core", "own_prompt", "memory",
    [], ["x"], [1], [None], {}, {"x": 1}, {"name": "x"}, {"enabled": False}, [{"name": "x"}],
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401
    found = [path] if path else []
    if isinstance(value, dict):
        value = list(value.items())
    elif isinstance(value, list):
        value = list(enumerate(value))
    else:
        return found
    return found + [place for key, below in value for place in places(below, (*path, key))]


def mutated(data: st.DataObject, value: Any) -> Any:  # noqa: ANN401
    value = deepcopy(value)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(value)))
        *way, last = path
        here = value
        for step in way:
            here = here[step]
        change = data.draw(st.sampled_from(["replace", "delete", "add"]))
        if change == "replace":
            here[last] = deepcopy(data.draw(st.sampled_from(OTHER)))
        elif change == "delete":
            del here[last]
        elif isinstance(here, dict):
            here[data.draw(st.sampled_from(["x", "reason", "memory", "Nova"]))] = {}
        if not places(value):
            break
    return value


def agree(record: type[Any], value: object) -> None:
    _, violations = read(record, value)
    errors = [error.message for error in VALIDATORS[record].iter_errors(value)]
    assert bool(violations) == bool(errors), (violations, errors)


@given(st.data())
def test_schema_and_reader_agree(data: st.DataObject) -> None:
    record, value = data.draw(st.sampled_from(list(VALID.values())))
    agree(record, value)
    agree(record, mutated(data, value))


@given(data=st.data())
def test_schema_and_reader_agree_on_org_yaml(data: st.DataObject) -> None:
    agree(OrgFile, mutated(data, ORG_VALUE))


@given(data=st.data())
def test_schema_and_reader_agree_on_the_compiled_form(data: st.DataObject) -> None:
    agree(CompiledOrg, mutated(data, COMPILED))


# Small forms of both, for the mutations to hit everything.
ORG_VALUE: dict[str, Any] = {
    "version": 1,
    "guild": {"name": "Harbor"},
    "owner": "sam",
    "operators": [{"name": "sam", "role": "owner", "email": "sam@example.org"}],
    "timezone": "UTC",
    "protected": ["Areas/"],
    "runs": {"keep_days": None},
    "ledger": {"margin": 0.1},
    "agents": {
        "nova": {
            "id": "nova",
            "lead": "sam",
            "home": "Org/Home/nova",
            "goal": "g\n",
            "principles": ["p"],
            "wakes_per_day": None,
            "capabilities": ["memory"],
            "notes": {"read": ["a/**"], "write": None},
            "secrets": [{"name": "A"}],
            "client": {"command": ["x"], "env": {"B": "c"}},
            "memory": {"tiers": ["episodic"], "reflect": {"model": "cheap"}},
        }
    },
}
COMPILED = compile_org(json.dumps(ORG_VALUE), "0.1")[0]


def test_the_full_example_fits_its_schema(org_text: str) -> None:
    assert list(VALIDATORS[OrgFile].iter_errors(compose(org_text, "").value)) == []
    compiled, _ = compile_org(org_text, "0.1")
    assert list(VALIDATORS[CompiledOrg].iter_errors(compiled)) == []
    assert read(CompiledOrg, compiled)[1] == []


def test_every_key_of_org_yaml_is_in_the_schema_with_a_sentence_and_a_default() -> None:
    schema = json_schema(OrgFile, "t", "i")
    for record in [schema, *schema["$defs"].values()]:
        assert record["additionalProperties"] is False
        for name, key in record["properties"].items():
            assert key["description"].endswith("."), name
            optional = name not in record["required"]
            assert ("default" in key) <= optional
    assert schema["properties"]["agents"]["default"] == {}
    limits = schema["$defs"]["MemorySettings"]["properties"]["core_budget_tokens"]
    assert (limits["minimum"], limits["maximum"], limits["default"]) == (100, 4000, 1500)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TOOL), *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("spoil", ["change", "remove", "add"])
def test_the_tool_writes_the_schemas_and_names_those_that_drifted(
    tmp_path: Path, spoil: str
) -> None:
    assert run("--folder", str(tmp_path)).returncode == 0
    names = {path.name.removesuffix(".schema.json") for path in tmp_path.iterdir()}
    assert names == {*VALID, "org", "org-agents"}
    assert run("--folder", str(tmp_path), "--check").returncode == 0
    spoiled = tmp_path / ("old.schema.json" if spoil == "add" else "claim.schema.json")
    if spoil == "remove":
        spoiled.unlink()
    else:
        spoiled.write_text("{}", "utf-8")
    done = run("--folder", str(tmp_path), "--check")
    assert done.returncode == 1
    assert done.stdout.count("\n") == 1
    assert spoiled.name in done.stdout
    assert run("--folder", str(tmp_path)).returncode == 0
    assert run("--folder", str(tmp_path), "--check").returncode == 0
