"""`run start|list|show`: what is printed is what is stored, and nothing is stored on an error."""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orgvault.digests import sha256
from tests.harbor import Harbor, Told

ORIGINS = {
    "silent": ("nova",),
    "direct": ("nova", "--message", "Mend the feed, see </task> é\u2028.\n\nToday."),
    "colours": ("nova", "--message", "See \x1b[31mred\x1b[0m\r\nand \x07\u202e.\n\n"),
    "schedule": ("juno", "--routine", "weekly-digest"),
}
SYSTEM = ".agents/org/prompts/system.md"


def start(harbor: Harbor, *words: str) -> tuple[str, str]:
    """Start a run; its id, and what was printed."""
    told = harbor.run("run", "start", *words)
    return run_in(told), told.out


def run_in(told: Told) -> str:
    (found,) = re.findall(r"started (run-[0-9a-z]{8})\n", told.err)
    return str(found)


def put_together(harbor: Harbor, run: str) -> str:
    """A run's messages from what is stored, by a reader that has nothing of orgvault's."""
    segments = (harbor.root / ".agents/org/runs").glob("*/*.jsonl")
    rows = [json.loads(line) for one in segments for line in one.read_bytes().split(b"\n") if line]
    mine = [row for row in rows if row["run"] == run]
    (manifest,) = [row for row in mine if row["kind"] == "manifest"]
    system, *after = [row for row in mine if row["kind"] == "opening"]

    def text(kept: dict[str, Any]) -> str:
        if kept["text"] is not None:
            return str(kept["text"])
        name = f"{kept['sha256']}.{manifest['agent']}.{kept['name']}.md"
        (path,) = (harbor.root / ".agents/org/runs/texts").glob(f"*/{name}")
        return path.read_bytes().decode()

    elements = []
    for kept, section in zip(system["texts"], manifest["sections"], strict=True):
        content = text(kept)
        assert kept["name"] == section["name"]
        assert sha256(content.encode()).hexdigest() == section["sha256"]
        assert len(content.encode()) == section["bytes"]
        inner = f"{content}\n" if content else ""
        elements.append(f"<{kept['name']}>\n{inner}</{kept['name']}>")
    whole = "\n\n".join(elements)
    assert sha256(whole.encode()).hexdigest() == manifest["prompt_sha256"]
    return "\n\n".join([whole, *(text(kept) for row in after for kept in row["texts"])])


@pytest.mark.parametrize("words", ORIGINS.values(), ids=ORIGINS)
def test_what_is_printed_is_what_is_stored(harbor: Harbor, words: tuple[str, ...]) -> None:
    run, printed = start(harbor, *words)

    assert printed == put_together(harbor, run) + "\n"
    assert harbor.subjects(1) == [f"run({words[0]}): start {run}"]
    assert harbor.git("status", "--porcelain") == ""
    assert harbor.run("check").out.endswith(" 0 problems\n")


def test_a_group_run_opens_with_the_message_that_it_answers(harbor: Harbor) -> None:
    harbor.run("chat", "post", "Ahoy @nova, the tide is late.")

    run, printed = start(harbor, "nova", "--group", "1")

    assert printed == put_together(harbor, run) + "\n"
    opening = harbor.rows("runs", "nova")[-1]
    assert opening["title"] == "Group Chat info"
    told = json.loads(opening["texts"][0]["text"].partition(": ")[2])
    assert told["latestMessage"]["text"] == "Ahoy @nova, the tide is late."
    assert told["youWereTagged"] is True


def test_a_scheduled_run_is_told_when_its_routine_ran_before(harbor: Harbor) -> None:
    start(harbor, "juno", "--routine", "weekly-digest")
    first = harbor.rows("runs", "juno")[0]
    start(harbor, "juno", "--routine", "weekly-digest")

    opening = harbor.rows("runs", "juno")[-1]
    told = json.loads(opening["texts"][0]["text"].partition(": ")[2])
    assert opening["title"] == "Schedule wake-up"
    assert told["previous_run_at"] == first["at"]
    assert told["cron"] == "45 8 * * 5"


def test_a_message_that_is_no_utf_8_is_sent_as_it_is_stored(harbor: Harbor) -> None:
    run, printed = start(harbor, "nova", "--message", "Go \udcff.")

    assert printed.endswith("\n\nGo ?.\n")
    assert printed == put_together(harbor, run) + "\n"


def test_texts_that_did_not_change_are_stored_once(harbor: Harbor) -> None:
    start(harbor, "nova", "--message", "One.")
    before = texts(harbor)
    start(harbor, "nova", "--message", "Two.")

    assert texts(harbor) == before
    assert len(before) == 3


def test_every_format_says_the_same(harbor: Harbor) -> None:
    told = harbor.run("prompt", "preview", "nova", "--message", "Go.", "--format", "messages")
    system, user = json.loads(told.out)
    assert user == {"role": "user", "content": "Go."}
    assert system["role"] == "system"
    assert system["content"].startswith("<guidelines>\n")

    told = harbor.run("run", "start", "nova", "--message", "Go.", "--format", "anthropic")
    anthropic = json.loads(told.out)
    assert anthropic["messages"] == [user]
    assert put_together(harbor, run_in(told)) == f"{anthropic['system']}\n\nGo."

    told = harbor.run("run", "start", "nova", "--message", "Go.", "--format", "openai")
    first, second = json.loads(told.out)["messages"]
    assert (first["role"], second) == ("system", user)
    assert put_together(harbor, run_in(told)) == f"{first['content']}\n\nGo."

    told = harbor.run("run", "start", "nova", "--format", "anthropic")
    assert json.loads(told.out)["messages"] == []


def test_as_one_object(harbor: Harbor) -> None:
    started = harbor.json("run", "start", "nova", "--message", "Go.")

    names = [one["name"] for one in started["sections"]]
    assert names == ["guidelines", "task", "state", "memory"]
    assert started["message"]["text"] == "Go."
    assert all(one["tokens"] > 0 for one in started["sections"])
    (manifest,) = harbor.json("run", "list")["runs"]
    assert manifest["run"] == started["run"]
    assert manifest["counter"] == "cl100k_base"


def test_show_puts_it_together_and_each_section_alone(harbor: Harbor) -> None:
    run, printed = start(harbor, "nova", "--message", "Go.")

    shown = harbor.run("run", "show", run).out
    assert f"{run} of nova" in shown
    assert "embeds Projects/Site/Style guide.md#Tone" in shown
    for name in ("guidelines", "task", "state", "memory"):
        alone = harbor.run("run", "show", run, "--section", name).out
        assert f"<{name}>\n{alone}</{name}>" in printed
    assert harbor.run("run", "show", run, "--section", "message").out == "Go.\n"
    told = harbor.run("run", "show", run, "--section", "tusk", code=2)
    assert "guidelines, task, state, memory, message" in told.err


def test_runs_are_listed_newest_first_and_by_agent(harbor: Harbor) -> None:
    runs = [start(harbor, agent)[0] for agent in ("nova", "juno", "nova")]

    def listed(*words: str) -> set[str]:
        return {one["run"] for one in harbor.json("run", "list", *words)["runs"]}

    assert listed() == set(runs)
    assert listed("--agent", "nova") == {runs[0], runs[2]}
    assert len(listed("--limit", "1")) == 1
    assert harbor.run("run", "list", "--agent", "atlas").out == "No runs yet.\n"


def test_a_dry_run_stores_nothing(harbor: Harbor) -> None:
    before = harbor.git("rev-parse", "HEAD")

    told = harbor.run("run", "start", "nova", "--dry-run")

    assert told.out.startswith("<guidelines>\n")
    assert "would commit: run(nova): start run-" in told.out
    assert harbor.git("rev-parse", "HEAD") == before
    assert not (harbor.root / ".agents/org/runs").exists()


def test_secrets_are_neither_sent_nor_stored(harbor: Harbor) -> None:
    secret = "hoist-the-9-anchors"

    words = ("run", "start", "nova", "--message", f"Use {secret}.")
    told = harbor.run(*words, SITE_DEPLOY_KEY=secret)
    run, printed = run_in(told), told.out

    assert secret not in printed
    assert secret not in put_together(harbor, run)
    assert printed.endswith("\n\nUse [secret].\n")


def too_much(harbor: Harbor) -> None:
    note = harbor.root / "Projects/Site/Site plan.md"
    note.write_text(f"## Now\n{'much ' * 20_000}\n", "utf-8")


def broken(harbor: Harbor) -> None:
    with (harbor.root / SYSTEM).open("a") as file:
        file.write('\n<capability name="sailing">x</capability>\n')


ERRORS = {
    "no template": (lambda harbor: (harbor.root / SYSTEM).unlink(), "nova", "system.md not found"),
    "too much": (too_much, "nova", "embed budget exceeded"),
    "broken": (broken, "nova", "system.md"),
    "no agent": (lambda _: None, "zed", "no agent `zed`"),
    "no message": (lambda _: None, "nova --group 77", "no message 77"),
    "no routine": (lambda _: None, "nova --routine tea", "no routine `tea`"),
    "not its": (lambda _: None, "nova --routine weekly-digest", "wakes juno, not nova"),
}


@pytest.mark.parametrize(("spoil", "words", "says"), ERRORS.values(), ids=ERRORS)
def test_an_error_stops_the_run_before_anything_is_stored(
    harbor: Harbor, spoil: Callable[[Harbor], object], words: str, says: str
) -> None:
    spoil(harbor)
    before = harbor.git("rev-parse", "HEAD")

    told = harbor.run("run", "start", *words.split(), code=1)
    seen = harbor.run("prompt", "preview", *words.split(), code=1)

    assert says in told.err
    assert told.err == seen.err
    assert told.out == ""
    assert harbor.git("rev-parse", "HEAD") == before
    assert not (harbor.root / ".agents/org/runs").exists()
    assert not list((harbor.root / ".git/orgvault/spool").glob("*"))


@pytest.mark.parametrize("who", ["ORGVAULT_AGENT", "ORGVAULT_OPERATOR"])
def test_only_the_owner_starts_runs(harbor: Harbor, who: str) -> None:
    told = harbor.run("run", "start", "nova", code=4, **{who: "nova" if "AGENT" in who else "kim"})

    assert "the owner may" in told.err


def test_mem_06_another_agent_is_refused_alike(harbor: Harbor) -> None:
    run, _ = start(harbor, "nova")

    told = [
        harbor.run(*words, code=4, ORGVAULT_AGENT="juno").err.replace(run, "RUN")
        for words in (
            ("run", "show", run),
            ("run", "show", "run-00000000"),
            ("prompt", "verify", run),
        )
    ]
    told[1] = told[1].replace("run-00000000", "RUN")

    assert told[0] == told[1] == told[2]
    harbor.run("prompt", "diff", run, run, code=4, ORGVAULT_AGENT="juno")
    harbor.run("prompt", "preview", "nova", code=4, ORGVAULT_AGENT="juno")
    harbor.run("run", "list", "--agent", "nova", code=4, ORGVAULT_AGENT="juno")
    assert harbor.run("run", "list", ORGVAULT_AGENT="juno").out == "No runs yet.\n"
    for who in ("nova", "atlas"):  # itself, and its lead
        assert run in harbor.run("run", "show", run, ORGVAULT_AGENT=who).out
    assert "no run `run-00000000`" in harbor.run("run", "show", "run-00000000", code=1).err


def test_the_episode_of_a_started_run_names_its_prompt(harbor: Harbor) -> None:
    run, _ = start(harbor, "nova")
    manifest = harbor.rows("runs", "nova")[0]

    harbor.finish("nova", run)
    harbor.finish("nova", "run-77777777")
    harbor.finish("nova", "elsewhere-1")

    known, *others = harbor.rows("episodes", "nova")[-3:]
    assert known["prompt_sha256"] == manifest["prompt_sha256"]
    assert known["core_sha256"] == manifest["core_sha256"]
    assert known["core_sha256"] is not None
    assert [one["prompt_sha256"] for one in others] == [None, None]


def test_in_a_merge_a_run_starts_and_waits(harbor: Harbor) -> None:
    (harbor.root / ".git/MERGE_HEAD").write_text(harbor.git("rev-parse", "HEAD"))

    told = harbor.run("run", "start", "nova", "--message", "Go.")
    run = run_in(told)
    shown = harbor.run("run", "show", run, "--section", "task").out
    verified = harbor.json("prompt", "verify", run)

    assert "a merge is in progress" in told.err
    assert shown in told.out
    assert verified["ok"] is True
    assert not (harbor.root / ".agents/org/runs").exists()
    (harbor.root / ".git/MERGE_HEAD").unlink()
    harbor.wake("nova")
    assert told.out == put_together(harbor, run) + "\n"


def test_old_texts_leave_the_working_tree_and_can_still_be_read(harbor: Harbor) -> None:
    harbor.edit_org(r"runs: \{keep_days: null\}", "runs: {keep_days: 1}")
    run, printed = start(harbor, "nova")
    age(harbor)
    note = harbor.root / "Org/Tasks/nova.md"
    note.write_text("Rest.\n", "utf-8")

    planned = harbor.run("run", "start", "nova", "--dry-run").out
    assert "would commit: run(texts): remove what no run of 1 days uses" in planned
    start(harbor, "nova")

    assert harbor.subjects(1) == ["run(texts): remove what no run of 1 days uses"]
    names = [path.rpartition("/")[2] for path in texts(harbor)]
    assert len([one for one in names if one.endswith(".task.md")]) == 1
    assert harbor.run("run", "show", run, "--section", "task").out in printed
    verified = harbor.run("prompt", "verify", run, "--json", code=1).json
    assert len(verified["rows"]) == 1  # the instant, which `age` made another
    assert [one["where"] for one in verified["parts"]].count("history") == 1
    assert harbor.run("check").out.endswith(" 0 problems\n")
    count = harbor.git("rev-list", "--count", "HEAD")
    start(harbor, "nova")  # not twice a day
    assert int(harbor.git("rev-list", "--count", "HEAD")) == int(count) + 1


def test_old_texts_stay_while_they_cannot_leave(harbor: Harbor) -> None:
    harbor.edit_org(r"runs: \{keep_days: null\}", "runs: {keep_days: 1}")
    start(harbor, "nova")
    age(harbor)
    (harbor.root / "Org/Tasks/nova.md").write_text("Rest.\n", "utf-8")
    (harbor.root / ".git/MERGE_HEAD").write_text(harbor.git("rev-parse", "HEAD"))

    told = harbor.run("run", "start", "nova")

    assert "older texts of runs stay in the working tree for now: " in told.err
    assert len(texts(harbor)) == 3
    (harbor.root / ".git/MERGE_HEAD").unlink()
    start(harbor, "nova")
    assert harbor.subjects(1) == ["run(texts): remove what no run of 1 days uses"]


def age(harbor: Harbor) -> None:
    """Have all that was stored so far look years old, as a person could."""
    (path,) = (harbor.root / ".agents/org/runs/nova").glob("*.jsonl")
    text = path.read_text("utf-8")
    path.write_text(re.sub(r'"at":"20\d\d-(\d\d)', r'"at":"2020-\1', text), "utf-8")
    harbor.git("commit", "-qam", "years ago")
    (harbor.root / ".git/orgvault/runs-swept").unlink(missing_ok=True)


def texts(harbor: Harbor) -> list[str]:
    folder = harbor.root / ".agents/org/runs/texts"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.md"))


def test_check_finds_what_is_wrong_with_runs(harbor: Harbor) -> None:
    start(harbor, "nova")
    folder = harbor.root / ".agents/org/runs"
    paths = {path.name.split(".")[2]: path for path in folder.rglob("*.md")}
    paths["task"].write_text("altered", "utf-8")
    paths["memory"].unlink()
    (folder / "texts/conflict copy.md").write_text("x", "utf-8")
    (folder / "texts/00").mkdir(exist_ok=True)
    (folder / "texts/00/copy (1).md").write_text("x", "utf-8")
    (segment,) = folder.glob("nova/*.jsonl")
    with segment.open("a") as file:
        file.write('{"v":1,"id":"n-1","kind":"sail","agent":"nova"}\n')

    told = harbor.run("check", code=1).out

    assert "not the text that its name says" in told
    assert "is missing, restore it from git" in told
    assert "not the name of a text" in told
    assert "kind: `sail` is not one of manifest, opening" in told


KILLED = """
import os, signal, sys
root, at = sys.argv[1], int(sys.argv[2])
seen = [0]
def hook(event, args):
    changes = event in ("os.rename", "os.remove", "os.mkdir", "subprocess.Popen") or (
        event == "open" and isinstance(args[0], str) and args[0].startswith(root) and args[2] & 3
    )
    seen[0] += changes
    if changes and seen[0] == at:
        os.kill(os.getpid(), signal.SIGKILL)
from orgvault.cli.main import main
sys.addaudithook(hook)
code = main(["run", "start", "nova", "--message", "Go."])
print("changes", seen[0], file=sys.stderr)
sys.exit(code)
"""


def test_a_killed_start_leaves_the_run_whole_or_not_at_all(harbor: Harbor, tmp_path: Path) -> None:
    def killed(root: Path, at: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", KILLED, str(root), str(at)],
            cwd=root, capture_output=True, text=True, check=False,
        )  # fmt: skip

    whole = shutil.copytree(harbor.root, tmp_path / "whole")
    count = int(killed(whole, 0).stderr.rpartition("changes ")[2])
    outcomes = set()
    for number in range(1, count + 1, max(1, count // 10)):
        copy = Harbor(Path(shutil.copytree(harbor.root, tmp_path / f"copy-{number}")))
        end = killed(copy.root, number).returncode
        # Two starts need not change files equally often: the last number may be one too many.
        assert end == -signal.SIGKILL or (end == 0 and number > count * 3 // 4)

        copy.wake("nova")  # whoever comes next settles

        runs = copy.json("run", "list")["runs"]
        outcomes.add(len(runs))
        for run in (one["run"] for one in runs):
            assert copy.json("prompt", "verify", run)["ok"] is True
            assert put_together(copy, run).endswith("\n\nGo.")
            assert len(texts(copy)) == 3
        assert runs or not (copy.root / ".agents/org/runs").exists()
        assert copy.git("status", "--porcelain") == ""
        assert copy.run("check").out.endswith(" 0 problems\n")
    assert outcomes == {0, 1}
