"""`prompt preview|diff|verify|shape`: what would be sent, what was, and whether it still is."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from orgvault import __version__
from orgvault.digests import sha256
from tests.harbor import Harbor

TASK = "Org/Tasks/nova.md"
SECTIONS = ["guidelines", "task", "state", "memory"]
SOURCES = (
    ".agents/org/prompts/system.md",
    ".agents/org/memory/nova.md",
    ".agents/org/memory/nova/core.md",
    ".agents/org/connectors/git/connector.yaml",
    TASK,
    "Projects/Site/Style guide.md",
    "Projects/Site/Site plan.md",
)


def start(harbor: Harbor, *words: str) -> str:
    return str(harbor.json("run", "start", *(words or ("nova",)))["run"])


def verify(harbor: Harbor, run: str, code: int = 0) -> dict[str, Any]:
    """What `prompt verify` says of each part, by name."""
    told = harbor.run("prompt", "verify", run, "--json", code=code).json
    assert told["ok"] is (code == 0)
    return {
        "prompt": told["prompt"],
        "rows": told["rows"],
        **{one["name"]: one for one in told["parts"]},
    }


def rebuilt(harbor: Harbor, run: str, code: int = 0) -> list[str]:
    told = verify(harbor, run, code)
    return [told[name]["rebuilt"] for name in SECTIONS]


def test_a_preview_is_what_a_start_sends_but_for_connectors_and_the_clock(harbor: Harbor) -> None:
    seen = harbor.json("prompt", "preview", "nova", "--message", "Go.")
    sent = harbor.json("run", "start", "nova", "--message", "Go.")

    before, after = ({one["name"]: one["text"] for one in it["sections"]} for it in (seen, sent))
    for name in ("guidelines", "task", "memory"):
        assert before[name] == after[name]
    assert seen["message"] == sent["message"]
    assert '"unavailable": "fetched live at run start"' in before["state"]
    assert "fetched live" not in after["state"]


def test_a_preview_stores_nothing_and_calls_no_connector(harbor: Harbor) -> None:
    path = harbor.root / ".agents/org/connectors/git/connector.yaml"
    trace = harbor.root.parent / "called"
    path.write_text(
        re.sub(r"command: \[.*\]", f"command: [touch, {trace}]", path.read_text("utf-8")), "utf-8"
    )
    harbor.git("commit", "-qam", "a hook that leaves a trace")
    before = harbor.git("rev-parse", "HEAD")

    harbor.run("prompt", "preview", "nova")

    assert not trace.exists()
    assert harbor.git("rev-parse", "HEAD") == before
    assert harbor.git("status", "--porcelain") == ""


def test_a_preview_by_section_and_by_tokens(harbor: Harbor) -> None:
    whole = harbor.run("prompt", "preview", "atlas").out

    task = harbor.run("prompt", "preview", "atlas", "--section", "task").out
    sizes = harbor.json("prompt", "preview", "atlas", "--tokens")
    table = harbor.run("prompt", "preview", "atlas", "--tokens").out

    assert f"<task>\n{task}</task>" in whole
    assert [one["name"] for one in sizes["sections"]] == SECTIONS
    by_name = {one["name"]: one for one in sizes["sections"]}
    assert by_name["task"]["bytes"] == len(task.encode()) - 1
    total = sum(one["tokens"] for one in sizes["sections"])
    assert re.search(rf"(?m)^all +{total} ", table)
    told = harbor.run("prompt", "preview", "atlas", "--section", "message", code=2)
    assert "no section `message`" in told.err


def test_only_one_origin_is_taken(harbor: Harbor) -> None:
    told = harbor.run("prompt", "preview", "nova", "--message", "x", "--group", "1", code=2)

    assert "give one" in told.err


def test_diff_goes_section_by_section(harbor: Harbor) -> None:
    first = start(harbor, "nova", "--message", "Go.")
    path = harbor.root / TASK
    path.write_text(path.read_text("utf-8").replace("One card at a time.", "Two cards."), "utf-8")
    second = start(harbor)

    told = harbor.run("prompt", "diff", first, second).out
    parts = {one["name"]: one for one in harbor.json("prompt", "diff", first, second)["parts"]}

    assert "guidelines: the same" in told
    assert "-- One card at a time." in parts["task"]["diff"]
    assert "+- Two cards." in parts["task"]["diff"]
    assert f"--- {first}/task\n+++ {second}/task" in told
    assert parts["message"]["only_in"] == first
    assert harbor.run("prompt", "diff", first, first).out.count(": the same\n") == 5


def test_verify_finds_all_as_it_was_and_composes_the_same(harbor: Harbor) -> None:
    run = start(harbor, "nova", "--message", "Go.")

    told = verify(harbor, run)

    assert told["prompt"] == "ok"
    assert {told[name]["stored"] for name in (*SECTIONS, "message")} == {"ok"}
    assert [told[name]["rebuilt"] for name in SECTIONS] == ["same", "same", "snapshot", "same"]
    assert told["message"]["rebuilt"] == "snapshot"
    assert "the system message is ok" in harbor.run("prompt", "verify", run).out


@pytest.mark.parametrize("agent", ["atlas", "juno"])
def test_verify_composes_the_same_for_every_agent(harbor: Harbor, agent: str) -> None:
    assert set(rebuilt(harbor, start(harbor, agent))) == {"same", "snapshot"}


def test_verify_composes_the_same_after_all_sources_have_changed(harbor: Harbor) -> None:
    run = start(harbor)
    for path in SOURCES:
        with (harbor.root / path).open("a", encoding="utf-8") as file:
            file.write("\n# One more line\n")
    harbor.edit_org("Careful, dry, curious", "Bold")
    harbor.git("commit", "-qam", "everything else")
    (harbor.root / TASK).unlink()

    assert rebuilt(harbor, run) == ["same", "same", "snapshot", "same"]


def test_verify_says_which_sources_are_gone(harbor: Harbor) -> None:
    path = harbor.root / TASK
    path.write_text("Never committed.\n", "utf-8")
    run = start(harbor)
    assert rebuilt(harbor, run) == ["same", "same", "snapshot", "same"]  # it still reads so
    blob = harbor.git("hash-object", TASK).strip()

    path.write_text("Edited.\n", "utf-8")

    told = verify(harbor, run)
    assert told["task"]["rebuilt"] == "cannot"
    assert told["task"]["why"] == [f"{TASK} at {blob[:10]} is gone"]
    assert told["guidelines"]["rebuilt"] == "same"


def test_verify_replays_what_could_not_be_embedded(harbor: Harbor) -> None:
    (harbor.root / "Projects/Site/plan.md").write_text("The plan.\n", "utf-8")
    (harbor.root / TASK).write_text(
        "---\nkind: x\n---\nA ![[Site plan#Now]] ![[Membership fees]] ![[nowhere]] ![[plan]]\n"
        "![[Site map.pdf]] ![[Site plan#Never]] ![[#Deep]] %%not this%% <task>\n\n"
        "## Deep\n\n![[nova]]\n",
        "utf-8",
    )
    harbor.git("add", "-A")
    harbor.git("commit", "-qm", "a hard task")
    run = start(harbor)
    markers = harbor.rows("runs", "nova")[0]["task_source"]["markers"]
    assert len(markers) >= 5

    # Every one of these would now be resolved otherwise.
    (harbor.root / "Org/Home/nova/nowhere.md").write_text("Here now.\n", "utf-8")
    (harbor.root / "Org/Home/nova/plan.md").write_text("Another.\n", "utf-8")
    (harbor.root / "Projects/Site/plan.md").unlink()
    harbor.git("add", "-A")
    harbor.git("commit", "-qm", "moved")

    told = verify(harbor, run)
    assert told["task"]["rebuilt"] == "same", told["task"]


@pytest.mark.parametrize(
    "task", ["Mend it. ![[Style guide#Tone]] ![[nowhere]]", "[[No such note]]", "[[Site plan#Now]]"]
)
def test_verify_composes_other_kinds_of_tasks_again(harbor: Harbor, task: str) -> None:
    harbor.edit_org(r'task: "\[\[Org/Tasks/nova\]\]"', f'task: "{task}"')
    run = start(harbor)

    assert rebuilt(harbor, run) == ["same", "same", "snapshot", "same"]


def test_verify_of_another_version_says_so_only_where_it_differs(harbor: Harbor) -> None:
    run = start(harbor)
    edit_manifest(harbor, f'"version":"{__version__}"', '"version":"0.0.1"')
    harbor.git("commit", "-q", "-a", "-m", "As an older one wrote it")
    assert rebuilt(harbor, run) == ["same", "same", "snapshot", "same"]

    edit_manifest(
        harbor, r'("name":"notebook","path":"[^"]*","blob":)"\w+"', rf'\1"{blob(harbor)}"'
    )

    harbor.git("commit", "-q", "-a", "-m", "As an older one wrote it")
    told = verify(harbor, run)
    assert told["memory"]["rebuilt"] == "cannot"
    assert told["memory"]["why"] == [f"composed by orgvault 0.0.1, this is {__version__}"]


def test_verify_fails_when_what_is_composed_again_differs(harbor: Harbor) -> None:
    run = start(harbor)
    edit_manifest(
        harbor, r'("name":"notebook","path":"[^"]*","blob":)"\w+"', rf'\1"{blob(harbor)}"'
    )

    assert rebuilt(harbor, run, code=1) == ["same", "same", "snapshot", "differs"]


def test_verify_fails_when_a_stored_text_is_not_what_was_sent(harbor: Harbor) -> None:
    run = start(harbor, "nova", "--message", "Go.")
    edit_manifest(harbor, r'"text":"Go\."', '"text":"Stop."')
    (path,) = text_files(harbor, "task")
    path.write_text("Sink it.", "utf-8")

    told = verify(harbor, run, code=1)

    assert told["prompt"] == "ok"  # its parts can still be had
    assert (told["task"]["stored"], told["task"]["where"]) == ("changed", "history")
    assert told["message"]["stored"] == "changed"


def test_verify_fails_when_the_state_in_its_row_was_changed(harbor: Harbor) -> None:
    run = start(harbor)
    edit_manifest(harbor, "utc_now", "utc_then")

    told = verify(harbor, run, code=1)

    assert (told["prompt"], told["state"]["stored"]) == ("changed", "changed")


def test_verify_of_a_text_that_is_only_in_history(harbor: Harbor) -> None:
    run = start(harbor)
    for name in SECTIONS:
        for path in text_files(harbor, name):
            path.unlink()

    told = verify(harbor, run)

    assert [told[name]["where"] for name in SECTIONS] == ["history", "history", "row", "history"]


def test_verify_when_a_secret_is_not_known_any_more(harbor: Harbor) -> None:
    note = harbor.root / TASK
    note.write_text("Say hoist-the-anchors aloud.\n", "utf-8")
    told = harbor.run("run", "start", "nova", "--json", SITE_DEPLOY_KEY="hoist-the-anchors")

    assert "hoist-the-anchors" not in told.out
    checked = verify(harbor, told.json["run"])
    assert checked["task"]["rebuilt"] == "cannot"
    assert "secret" in checked["task"]["why"][0]


def test_a_manifest_names_as_many_embeds_as_fit(harbor: Harbor) -> None:
    (harbor.root / TASK).write_text("![[Site plan#Never]] " * 2_000, "utf-8")
    run = start(harbor)

    source = harbor.rows("runs", "nova")[0]["task_source"]
    assert source["left_out"] + len(source["markers"]) == 2_000
    assert verify(harbor, run)["task"]["rebuilt"] == "cannot"
    assert "more embeds or markers" in harbor.run("run", "show", run).out


def test_shape_tells_what_stands_around_a_task(harbor: Harbor) -> None:
    parts = harbor.json("prompt", "shape")["parts"]

    template = harbor.root / ".agents/org/prompts/system.md"
    assert parts["template"] == template.read_text("utf-8")
    assert len(parts) > 1
    assert harbor.run("prompt", "shape", code=4, ORGVAULT_AGENT="nova").out == ""
    template.unlink()
    assert "system.md not found" in harbor.run("prompt", "shape", code=1).err


def edit_manifest(harbor: Harbor, pattern: str, replacement: str) -> None:
    """Change the one segment of nova's runs, as a person could."""
    (path,) = (harbor.root / ".agents/org/runs/nova").glob("*.jsonl")
    text, count = re.subn(pattern, replacement, path.read_bytes().decode(), count=1)
    assert count == 1, pattern
    path.write_bytes(text.encode())
    assert all(json.loads(line) for line in text.split("\n") if line)


def blob(harbor: Harbor) -> str:
    """The name of a content that is in git, and is no notebook of nova's."""
    return harbor.git("rev-parse", "HEAD:AGENTS.md").strip()


def text_files(harbor: Harbor, name: str) -> list[Path]:
    return list((harbor.root / ".agents/org/runs/texts").rglob(f"*.{name}.md"))


ROWS = {
    "another section": (r'"texts":\[\{"name":"guidelines"', '"texts":[{"name":"evil"'),
    "role": ('"role":"user"', '"role":"system"'),
    "actor": ('"actor":"sam"', '"actor":"eve"'),
    "claims": (r'"claims":\["[^]]*"\]', '"claims":[]'),
    "measure": (r'"bytes":\d', '"bytes":9'),
    "version": (f'"version":"{__version__}"', '"version":"9.9.9"'),
}


@pytest.mark.parametrize("edit", ROWS.values(), ids=ROWS)
def test_verify_fails_when_a_row_is_not_as_it_was_committed(
    harbor: Harbor, edit: tuple[str, str]
) -> None:
    run = start(harbor, "nova", "--message", "Go.")
    assert verify(harbor, run)["rows"] == []

    edit_manifest(harbor, *edit)

    assert "not as it was committed" in verify(harbor, run, code=1)["rows"][0]


def test_verify_fails_when_another_message_was_put_in_place(harbor: Harbor) -> None:
    run = start(harbor, "nova", "--message", "Go.")
    other = sha256(b"Stop.").hexdigest()
    edit_manifest(harbor, r'"text":"Go\.","sha256":"\w+"', f'"text":"Stop.","sha256":"{other}"')
    harbor.git("commit", "-q", "-a", "-m", "Nothing to see")

    told = verify(harbor, run, code=1)

    assert (told["rows"], told["message"]["stored"]) == ([], "changed")


def test_verify_fails_when_the_message_or_the_instant_was_taken_out(harbor: Harbor) -> None:
    run = start(harbor, "nova", "--message", "Go.")
    edit_manifest(harbor, r'\{"v":1,[^\n]*"index":1[^\n]*\n', "")
    edit_manifest(harbor, r'"at":"20\d\d', '"at":"2001')
    harbor.git("commit", "-q", "-a", "-m", "Nothing to see")

    told = verify(harbor, run, code=1)

    assert told["message"]["stored"] == "missing"
    assert [one.split()[0] for one in told["rows"]] == ["State", "the"]


def test_a_text_is_found_behind_a_commit_that_altered_it(harbor: Harbor) -> None:
    run = start(harbor)
    (path,) = text_files(harbor, "task")
    sent = path.read_bytes().decode()
    path.write_text("Sink it.", "utf-8")
    harbor.git("commit", "-q", "-a", "-m", "Nothing to see")

    assert verify(harbor, run, code=1)["task"]["where"] == "history"
    assert harbor.run("run", "show", run, "--section", "task").out == f"{sent}\n"


def test_a_folder_in_the_place_of_a_text_is_an_altered_text(harbor: Harbor) -> None:
    run = start(harbor)
    (path,) = text_files(harbor, "task")
    path.unlink()
    path.mkdir()

    assert verify(harbor, run, code=1)["task"]["stored"] == "changed"


def test_names_of_notes_that_hold_a_secret_are_not_told(harbor: Harbor) -> None:
    value = "hoist-the-anchors"
    (harbor.root / f"Projects/Site/{value}.md").write_text("x\n", "utf-8")
    text = f"![[{value}]] ![[{value}#No]] ![[not {value}]] ![a](<{value} gone.md>)\n"
    (harbor.root / TASK).write_text(text, "utf-8")
    told = harbor.run("run", "start", "nova", "--json", SITE_DEPLOY_KEY=value)
    run = told.json["run"]
    shown = harbor.run("run", "show", run, SITE_DEPLOY_KEY=value)
    preview = harbor.run("prompt", "preview", "nova", "--json", SITE_DEPLOY_KEY=value)

    for one in (told, shown, preview):
        assert value not in one.out + one.err
    assert value not in json.dumps(harbor.rows("runs", "nova"))
    assert "[secret]" in json.dumps(harbor.rows("runs", "nova")[0]["task_source"])
    checked = verify(harbor, run)
    assert (checked["task"]["stored"], checked["task"]["rebuilt"]) == ("ok", "cannot")

    (harbor.root / TASK).write_text(f"![[{value}]]\n", "utf-8")
    (harbor.root / f"Projects/Site/{value}.md").write_text("x" * 70_000, "utf-8")
    refused = harbor.run("run", "start", "nova", code=1, SITE_DEPLOY_KEY=value)
    assert "embed budget exceeded" in refused.err
    assert value not in refused.err


@pytest.mark.parametrize("command", [("run", "start", "nova"), ("prompt", "shape")])
def test_a_template_that_cannot_be_read_is_told_from_one_that_is_missing(
    harbor: Harbor, command: tuple[str, ...]
) -> None:
    (harbor.root / SOURCES[0]).write_bytes(b"# Gr\xfc\xdfe\n")

    assert "system.md not found: " in harbor.run(*command, code=1).err
    assert "not UTF-8" in harbor.run(*command, code=1).err


PLACES = {"protected": "../../../Areas/Finance/Money.md", "outside": "../../../../money.md"}


@pytest.mark.parametrize("leads_to", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("source", SOURCES[1:3])
def test_a_link_in_the_place_of_a_memory_is_not_followed_away(
    harbor: Harbor, source: str, leads_to: str
) -> None:
    path = harbor.root / source
    path.unlink()
    path.symlink_to(f"../{leads_to}" if source.endswith("core.md") else leads_to)
    money = path.parent / path.readlink()
    money.parent.mkdir(parents=True, exist_ok=True)
    money.write_text("Twelve crowns.\n", "utf-8")

    told = harbor.run("run", "start", "nova")

    assert "Twelve" not in told.out
    assert f"{source}: a link that leads" in told.err


def test_a_link_to_a_protected_place_is_no_template(harbor: Harbor) -> None:
    money = harbor.root / "Areas/Finance/Money.md"
    money.parent.mkdir(parents=True, exist_ok=True)
    money.write_text("Twelve crowns.\n", "utf-8")
    path = harbor.root / SOURCES[0]
    path.unlink()
    path.symlink_to("../../../Areas/Finance/Money.md")

    assert "protected place" in harbor.run("run", "start", "nova", code=1).err
    assert "protected place" in harbor.run("prompt", "shape", code=1).err


def test_a_roster_of_head_is_the_one_that_the_manifest_names(harbor: Harbor) -> None:
    (harbor.root / ".agents/org/org-agents.json").write_text("<<<<<<< HEAD\n{}\n", "utf-8")

    assert rebuilt(harbor, start(harbor)) == ["same", "same", "snapshot", "same"]


def test_a_task_is_the_same_from_every_folder(harbor: Harbor) -> None:
    inside = harbor.root / "Areas/Finance"
    inside.mkdir(parents=True, exist_ok=True)
    told = harbor.run("prompt", "preview", "nova", "--section", "task").out

    there = Harbor(inside).run("prompt", "preview", "nova", "--section", "task").out

    assert there == told
