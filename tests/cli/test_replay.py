"""`replay`: stored answers judged again, with no model and without writing."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.harbor import BUILD, FRICTION, LINKS, Harbor
from tests.provider import Provider, serving

QUOTE = "ModuleNotFoundError: No module named 'markdown'"
LEARNED = "I install what the build needs before I run it."


def operation(text: str = LEARNED, evidence: str = QUOTE, **more: object) -> dict[str, object]:
    """An operation that adds a claim."""
    return {
        "why": "it cost turns", "evidence": evidence, "op": "add", "claim": None,
        "claim_starts": "", "kind": "lesson", "text": text, **more,
    }  # fmt: skip


def answer(*operations: dict[str, object]) -> str:
    """An answer of these operations."""
    return json.dumps({"operations": operations})


def at(provider: Provider) -> dict[str, str]:
    """The environment in which a provider is reached."""
    return {"OPENAI_BASE_URL": provider.url + "/v1", "OPENAI_API_KEY": "sk-test-0123456789"}


@pytest.fixture
def remote(harbor: Harbor) -> Harbor:
    """A harbor whose nova reflects with a model."""
    harbor.edit_org("model: builtin/extractive", "model: openai/tiny")
    return harbor


def reflected(harbor: Harbor, run: str, *modes: str, text: str, transcript: str = BUILD) -> None:
    """Finish a run of nova that a model of these manners reflects on."""
    with serving(*(modes or ("given",)), text=text) as provider:
        harbor.finish("nova", run, "--transcript", transcript, **at(provider))


def replayed(harbor: Harbor, *runs: str, code: int = 0, **environment: str) -> Any:  # noqa: ANN401
    """The object that `replay` answers."""
    return harbor.run("replay", *runs, "--json", code=code, **environment).json


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_same_rules_give_the_same_verdicts(remote: Harbor) -> None:
    claim = remote.claims("nova")[0]
    number = sorted(c["id"] for c in remote.claims("nova")).index(claim["id"]) + 1
    known = operation(claim["text"], op="update", claim=number, claim_starts=claim["text"][:20])
    reflected(
        remote, "run-1",
        text=answer(
            operation(), operation("npm run build", kind="friction"),
            operation("I test the links.", "a quote that stands nowhere"), known,
            operation("I push at once.", op="update", claim=99, claim_starts="I never"),
        ),
    )  # fmt: skip
    (one,) = replayed(remote, "run-1")["reflections"]
    assert (one["stored"], one["today"], one["differs"]) == ("read", "read", False)
    assert one["remarks"] == []
    assert [pair["stored"] for pair in one["operations"]] == [
        pair["today"] for pair in one["operations"]
    ]
    assert [pair["stored"] == "accepted" for pair in one["operations"]] == [
        True, False, False, True, False,
    ]  # fmt: skip


def test_it_is_judged_by_the_claims_of_that_time(remote: Harbor) -> None:
    old = remote.claims("nova")[0]
    ids = sorted(c["id"] for c in remote.claims("nova"))
    update = operation(
        "I look at the footer on a phone, too.", op="update",
        claim=ids.index(old["id"]) + 1, claim_starts=old["text"][:30],
    )  # fmt: skip
    reflected(remote, "run-1", text=answer(update))
    reflected(remote, "run-2", text=answer(operation()))
    for claim in remote.claims("nova")[:2]:
        remote.run("memory", "retire", claim["id"], "it changed")
    done = replayed(remote, "run-1", "run-2")
    assert [one["differs"] for one in done["reflections"]] == [False, False]
    assert [one["remarks"] for one in done["reflections"]] == [[], []]


def test_what_a_rule_of_today_drops_is_marked_and_fails(remote: Harbor) -> None:
    text = "I ask Nils before I change the menu."
    reflected(remote, "run-1", text=answer(operation(text), operation()))
    remote.edit_org(r"(?m)^agents:\n", "agents:\n  nils: {name: Nils, focus: Paints}\n")
    done = replayed(remote, "run-1", code=1)
    (one,) = done["reflections"]
    assert done["differ"] == 1
    assert [pair["differs"] for pair in one["operations"]] == [True, False]
    assert one["operations"][0]["stored"] == "accepted"
    assert "agent" in one["operations"][0]["today"]
    told = remote.run("replay", "run-1", code=1)
    assert "differs: was accepted, today " in told.out
    assert "1 stored answer, 1 would be judged otherwise" in told.out


def test_nothing_is_written_and_no_model_is_asked(remote: Harbor) -> None:
    reflected(remote, "run-1", text=answer(operation()))
    (remote.root / ".git/orgvault/tokens.json").unlink(missing_ok=True)
    before = everything(remote.root)
    with serving("given") as provider:
        replayed(remote, "run-1", code=0, **at(provider))
        assert provider.requests == []
    assert everything(remote.root) == before


def test_a_repaired_answer_is_read_as_its_repair_gave_it(remote: Harbor) -> None:
    reflected(remote, "run-1", "malformed", "given", text=answer(operation()))
    (one,) = replayed(remote, "run-1")["reflections"]
    assert [pair["today"] for pair in one["operations"]] == ["accepted"]


def test_an_answer_that_stays_unreadable_is_the_same(remote: Harbor) -> None:
    reflected(remote, "run-1", "malformed", "malformed", text="")
    (one,) = replayed(remote, "run-1")["reflections"]
    assert (one["stored"], one["today"], one["differs"]) == ("unreadable", "unreadable", False)


def test_every_try_of_a_run_is_judged_and_one_without_an_answer_says_so(remote: Harbor) -> None:
    reflected(remote, "run-1", "500", "500", text="")
    with serving("given", text=answer(operation())) as provider:
        remote.run("reflect", "nova", "--run", "run-1", code=0, **at(provider))
    first, second = replayed(remote, "run-1")["reflections"]
    assert first["today"] == "not judged"
    assert first["remarks"][0].startswith("no answer is stored: ")
    assert (second["today"], second["differs"]) == ("read", False)


def test_without_its_transcript_everything_but_the_quotes_is_judged(
    remote: Harbor, tmp_path: Path
) -> None:
    session = tmp_path / "session.jsonl"
    shutil.copy(BUILD, session)
    asked = answer(
        operation(), operation("npm run build"), operation("I test it.", "it stands nowhere at all")
    )
    reflected(remote, "run-1", text=asked, transcript=str(session))
    session.unlink()
    (one,) = replayed(remote, "run-1")["reflections"]
    assert not one["differs"]
    assert any("no quote was checked" in remark for remark in one["remarks"])
    assert one["operations"][2]["today"] == "the evidence does not stand in the run"


def test_a_transcript_that_went_on_is_said(remote: Harbor, tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    shutil.copy(BUILD, session)
    reflected(remote, "run-1", text=answer(operation()), transcript=str(session))
    with session.open("a") as file:
        file.write('{"type": "summary"}\n')
    (one,) = replayed(remote, "run-1")["reflections"]
    assert any("has changed since" in remark for remark in one["remarks"])
    assert not one["differs"]


def test_what_only_applying_showed_is_left_as_it_was(remote: Harbor) -> None:
    gone = remote.claims("nova")[0]
    remote.run("memory", "retire", gone["id"], "no")
    reflected(remote, "run-1", text=answer(operation(gone["text"])))
    (one,) = replayed(remote, "run-1")["reflections"]
    assert one["operations"][0]["stored"] == "equal to a retired claim"
    assert not one["differs"]


def test_an_answer_by_rule_is_judged_too(harbor: Harbor) -> None:
    harbor.finish("nova", "run-1", "--transcript", BUILD)
    harbor.finish("nova", "run-2", "--transcript", LINKS)
    done = replayed(harbor, "run-1", "run-2", "run-1")
    assert [one["run"] for one in done["reflections"]] == ["run-1", "run-2"]
    assert [one["differs"] for one in done["reflections"]] == [False, False]
    assert any(FRICTION in pair["text"] for pair in done["reflections"][0]["operations"])


def test_an_answer_that_was_put_off_is_judged_once(remote: Harbor) -> None:
    merge = remote.root / ".git/MERGE_HEAD"
    merge.write_text(remote.git("rev-parse", "HEAD"))
    reflected(remote, "run-1", text=answer(operation()))
    (one,) = replayed(remote, "run-1")["reflections"]
    assert one["remarks"] == ["git does not know the claims of that time: it is judged by today's"]
    assert not one["differs"]
    merge.unlink()
    reflected(remote, "run-2", text=answer())
    (one,) = replayed(remote, "run-1")["reflections"]
    assert not one["differs"]
    assert [pair["stored"] for pair in one["operations"]] == ["accepted"]


def test_a_history_that_was_squashed_is_said(remote: Harbor) -> None:
    begin = remote.git("rev-parse", "HEAD").strip()
    reflected(remote, "run-1", text=answer(operation()))
    number = sorted(c["id"] for c in remote.claims("nova")).index(
        remote.claim("nova", LEARNED)["id"]
    )
    again = operation(LEARNED, op="update", claim=number + 1, claim_starts=LEARNED[:20])
    reflected(remote, "run-2", text=answer(again))
    assert replayed(remote, "run-2")["reflections"][0]["remarks"] == []
    remote.git("reset", "-q", "--soft", begin)
    remote.git("commit", "-q", "-m", "All of it")
    (one,) = remote.run("replay", "run-2", "--json", code=None).json["reflections"]
    assert "git does not have all the claims as the model saw them" in one["remarks"]


def test_who_may_and_what_is_not_there(remote: Harbor) -> None:
    reflected(remote, "run-1", text=answer(operation()))
    for agent in ("nova", "atlas"):
        replayed(remote, "run-1", ORGVAULT_AGENT=agent)
    refused = remote.run("replay", "run-1", code=4, ORGVAULT_AGENT="juno").err
    absent = remote.run("replay", "run-7", code=4, ORGVAULT_AGENT="juno").err
    assert refused.replace("run-1", "run-7") == absent
    assert "run-7" in remote.run("replay", "run-7", code=1).err
    remote.run("replay", code=2)


def test_claims_that_cannot_be_read_are_a_remark(remote: Harbor) -> None:
    merge = remote.root / ".git/MERGE_HEAD"
    merge.write_text(remote.git("rev-parse", "HEAD"))
    reflected(remote, "run-1", text=answer(operation()))
    claim = remote.claims("nova")[0]["id"]
    (remote.root / f".agents/org/memory/nova/claims/{claim}.yaml").write_text("id: [")
    (one,) = replayed(remote, "run-1")["reflections"]
    assert (one["today"], one["differs"]) == ("not judged", False)
    assert claim in one["remarks"][-1]
