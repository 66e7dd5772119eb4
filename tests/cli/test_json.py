"""Every command's `--json`, in an example vault, against its schema in `schemas/cli/`."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from orgvault.cli.main import cli
from orgvault.domain.ledger_file import write_entry
from tests.cli.test_ledger import NOVAS
from tests.cli.test_propose_improvement import at, change, words
from tests.harbor import BUILD, LINKS, REPOSITORY, SESSIONS, Harbor
from tests.proposals import GOAL, ORG_YAML, commit, filed
from tests.provider import serving

SCHEMAS = REPOSITORY / "schemas" / "cli"
# Each command of `orgvault`, in an order in which they can run in one vault; {names} are filled in.
SCRIPT: tuple[tuple[str, ...], ...] = (
    ("init",),
    ("init", "--dry-run"),
    ("compile",),
    ("check",),
    ("audit",),
    ("doctor",),
    ("status",),
    ("redact", "--find", "hunter2-correct-horse"),
    ("wake add", "nova", "--reason", "task"),
    ("wake add", "nova", "--reason", "task", "--dry-run"),
    ("wake list", "--all"),
    ("post", "--run", "run-1", "--agent", "nova", "Half done"),
    ("wake-done", "{wake}", "--run", "run-1", "--transcript", BUILD),
    ("reflect", "nova", "--run", "run-2", "--transcript", LINKS),
    ("replay", "run-1", "run-2"),
    ("recall", "nova", "menu build"),
    ("memory show", "nova", "--all"),
    ("memory episodes", "nova"),
    ("memory stats", "nova"),
    ("memory stats", "nova", "--days", "0"),
    ("memory why", "{claim}"),
    ("memory render", "nova"),
    ("memory render", "nova", "--check"),
    ("memory edit", "{claim}", "I look twice."),
    ("memory retire", "{other}", "It no longer holds."),
    ("stats",),
    ("query", "SELECT run, agent, cost_usd FROM episodes LIMIT 3"),
    ("import claude-code", BUILD, "--agent", "atlas"),
    ("import codex", str(SESSIONS), "--agent", "juno"),
    ("task add", "Mend the feed", "--agent", "nova"),
    ("task list", "--all"),
    ("task show", "{card}"),
    ("task redo", "t-8h3w6r1d", "Dates are missing", "--dry-run"),
    ("task done", "{card}"),
    ("task close", "t-k2v9c5j7"),
    ("proposal list", "--all"),
    ("proposal show", "{proposal}"),
    ("proposal check", "{diff}", "--agent", "nova"),
    ("proposal sync",),
    ("proposal close", "{proposal}", "Not now"),
    ("ledger list",),
    ("ledger show", NOVAS.card),
    ("ledger sync",),
    ("prompt shape",),
    ("prompt preview", "nova"),
    ("prompt preview", "nova", "--tokens"),
    ("prompt preview", "nova", "--section", "task"),
    ("run start", "nova", "--message", "Look."),
    ("run start", "nova", "--message", "Look again."),
    ("run list",),
    ("run show", "{run}"),
    ("run show", "{run}", "--section", "state"),
    ("run exec", "nova", "--message", "Look.", "--", sys.executable, "-c", "print('done')"),
    ("run exec", "nova", "--dry-run", "--", "true"),
    ("prompt verify", "{run}"),
    ("prompt diff", "{run}", "{older}"),
    ("dispatch", "--dry-run"),
    ("dispatch", "--once", "--agent", "juno"),
    ("routine add", "nova", "tidy", "--cron", "0 9 * * *", "Tidy up."),
    ("routine list",),
    ("routine due",),
    ("routine pause", "tidy"),
    ("routine resume", "tidy"),
    ("chat post", "@nova look"),
    ("chat list",),
    ("collection add", "loans", "--purpose", "Who has what", "--column",
        "tool:text:required"),
    ("collection list",),
    ("collection show", "reading-queue"),
    ("collection check",),
    ("record add", "reading-queue", "title=A", "suggested_by=sam", "state=asked"),
    ("record list", "reading-queue"),
    ("script add", "nova", "hello", "--command", "python3", "--description", "Says hello"),
    ("script list",),
    ("connector list",),
    ("connector check",),
    ("connector try", "git", "--agent", "nova"),
    ("selftest", "--kills", "1"),
)  # fmt: skip
# Those that need a model, or a person's commit: each has a test of its own below.
APART = {"proposal shipped", "propose-improvement"}


def commands(group: click.Group, path: str = "") -> Iterator[str]:
    """The names of all commands that do something."""
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from commands(command, f"{path}{name} ")
            else:
                yield f"{path}{name}"


def schema(command: str) -> Any:  # noqa: ANN401 - a schema
    """The schema of a command's answer."""
    return json.loads((SCHEMAS / f"{command.replace(' ', '-')}.schema.json").read_text("utf-8"))


def test_every_command_has_a_schema_and_is_run() -> None:
    every = set(commands(cli))
    assert {path.name for path in SCHEMAS.iterdir()} == {
        f"{one.replace(' ', '-')}.schema.json" for one in every
    }
    assert {words[0] for words in SCRIPT} | APART == every
    for one in every:
        jsonschema.Draft202012Validator.check_schema(schema(one))


@pytest.fixture
def names(harbor: Harbor) -> dict[str, str]:
    """What the script's {names} stand for; ids come to be known as the commands run."""
    folder = harbor.root / ".agents/org/ledger"
    folder.mkdir()
    (folder / f"{NOVAS.card}.yaml").write_text(write_entry(NOVAS), "utf-8")
    proposal = filed(harbor)
    first, second, *_ = harbor.claims("nova")
    return {
        "claim": first["id"], "other": second["id"],
        "proposal": proposal.id, "diff": f".agents/org/proposals/{proposal.id}.diff",
    }  # fmt: skip


def test_every_answer_fits_its_schema(harbor: Harbor, names: dict[str, str]) -> None:
    for command, *rest in SCRIPT:
        given = [word.format(**names) for word in rest]
        first = given.index("--") if "--" in given else len(given)
        told = harbor.run(
            *command.split(), *given[:first], "--json", *given[first:], code=None,
            ORG_REFLECT_MODEL="builtin/extractive",
        )  # fmt: skip
        assert told.out.startswith(("{", "[")), (command, given, told)
        jsonschema.validate(told.json, schema(command), jsonschema.Draft202012Validator)
        learn(names, command, told.json)


def learn(names: dict[str, str], command: str, answer: Any) -> None:  # noqa: ANN401
    """Keep the ids that later commands speak of."""
    if command == "wake add" and "dry_run" not in answer:
        names["wake"] = answer["wake"]
    if command == "task add":
        names["card"] = answer["id"]
    if command == "run start":
        names["older"], names["run"] = names.get("run", ""), answer["run"]


def test_the_answer_of_propose_improvement(harbor: Harbor) -> None:
    harbor.edit_org("model: builtin/extractive", "model: openai/tiny")
    harbor.git("commit", "-qam", "a model")
    with serving("given", text=change()) as provider:
        told = harbor.json(*words(harbor), **at(provider))
    jsonschema.validate(told, schema("propose-improvement"))


def test_the_answer_of_proposal_shipped(harbor: Harbor) -> None:
    card = filed(harbor).id
    path = harbor.root / ORG_YAML
    path.write_text(path.read_text("utf-8").replace(GOAL, "A site that builds."), "utf-8")
    told = harbor.json("proposal", "shipped", card, "--commit", commit(harbor, "In my words"))
    jsonschema.validate(told, schema("proposal shipped"))


def test_a_refusal_of_the_gate_is_an_answer_too(harbor: Harbor, tmp_path: Path) -> None:
    (tmp_path / "bad.diff").write_text("nothing", "utf-8")
    told = harbor.run(
        "proposal", "check", str(tmp_path / "bad.diff"), "--agent", "nova", "--json", code=3
    )
    jsonschema.validate(told.json, schema("proposal check"))


def test_a_schema_refuses_what_is_no_answer(harbor: Harbor) -> None:
    answer = harbor.json("memory", "show", "nova")
    for spoiled in ({}, {**answer, "more": 1}, {"claims": [{"id": 1}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(spoiled, schema("memory show"))
