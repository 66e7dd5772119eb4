"""The journal: a change that was cut off is finished or given up, and never half done."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orgvault.posix import take_lock
from orgvault.store.entry import Entry, Text, decode
from orgvault.store.files import fingerprint
from orgvault.store.spool import Spool
from tests.vaults import AT, NOVA, Home, message, row

ENTRY = ("refs/heads/main", "", "memory(nova): cut off\n", (NOVA.name, NOVA.email), AT)


def text(path: str, was: str | None, content: str | None) -> Text:
    before = None if was is None else was.encode()
    after = None if content is None else content.encode()
    return Text(path, fingerprint(before), fingerprint(after), content, before)


def cut_off(home: Home, *texts: Text, ref: str = ENTRY[0]) -> None:
    """A journal as a crash leaves it."""
    vault = home.fresh()
    spool = Spool(vault.private, vault.place.name)
    spool.write_journal(Entry(ref, *ENTRY[1:], (row("nova", "j-1"),), texts))


def test_a_journal_is_finished_by_the_next_command(home: Home) -> None:
    home.write_texts({"Org/a.md": "old\n", "Org/gone.md": "old\n"})
    cut_off(
        home, text("Org/a.md", "old\n", "new\n"), text("Org/b.md", None, "new\n"),
        text("Org/gone.md", "old\n", None),
    )  # fmt: skip
    home.write("Org/b.md", "new\n")
    home.fresh().settle()
    assert home.text_in_head("Org/a.md") == home.text_in_head("Org/b.md") == "new\n"
    assert home.text_in_head("Org/gone.md") is None
    assert home.rows_in_head() == ["j-1"]
    assert home.git("log", "-1", "--format=%s") == "memory(nova): cut off\n"
    assert home.git("status", "--porcelain") == ""


def test_a_journal_is_given_up_when_a_file_has_been_edited(home: Home) -> None:
    home.write_texts({"Org/a.md": "old\n", "Org/b.md": "old\n"})
    home.write("Org/b.md", b"the person's, unsaved \xff\n")
    cut_off(
        home, text("Org/a.md", "old\n", "new\n"),
        Text("Org/b.md", "x", fingerprint(b"new\n"), "new\n", b"the person's, unsaved \xff\n"),
    )  # fmt: skip
    home.write("Org/a.md", "edited since\n")
    home.write("Org/b.md", "new\n")
    vault = home.record("nova", "e-1")
    assert len(vault.remarks) == 1
    assert "cut off) was given up: Org/a.md" in vault.remarks[0]
    assert (home.top / "Org/a.md").read_text() == "edited since\n"
    assert (home.top / "Org/b.md").read_bytes() == b"the person's, unsaved \xff\n"
    assert home.rows_in_head() == ["e-1"]


def test_a_journal_whose_change_was_committed_is_dropped(home: Home) -> None:
    home.write_texts({"Org/a.md": "new\n", "Org/b.md": "new\n"})
    cut_off(home, text("Org/a.md", "old\n", "new\n"), text("Org/b.md", "old\n", "new\n"))
    home.write("Org/a.md", "edited since\n")
    head = home.head()
    vault = home.fresh()
    vault.settle()
    assert (vault.remarks, home.head()) == ([], head)
    assert (home.top / "Org/a.md").read_text() == "edited since\n"
    assert (home.top / "Org/b.md").read_text() == "new\n"


def test_a_journal_of_another_branch_is_given_up(home: Home) -> None:
    home.write_texts({"Org/a.md": "old\n"})
    cut_off(home, text("Org/a.md", "old\n", "new\n"), ref="refs/heads/other")
    home.write("Org/a.md", "new\n")
    vault = home.record("nova", "e-1")
    assert "it belongs to other" in vault.remarks[0]
    assert (home.top / "Org/a.md").read_text() == "old\n"


def test_a_journal_that_the_persons_index_forbids_is_given_up(home: Home) -> None:
    home.write_texts({"Org/a.md": "old\n"})
    home.write("Org/a.md", "staged\n")
    home.git("add", "Org/a.md")
    home.write("Org/a.md", "new\n")
    cut_off(home, text("Org/a.md", "old\n", "new\n"))
    vault = home.record("nova", "e-1")
    assert "is staged with other content" in vault.remarks[0]
    assert (home.top / "Org/a.md").read_text() == "old\n"
    assert home.rows_in_head() == ["e-1"]


def test_an_unreadable_journal_is_named_and_kept(home: Home) -> None:
    home.write_texts({"Org/a.md": "old\n"})
    cut_off(home)
    (journal,) = (Path(home.vault.private) / "journal").iterdir()
    journal.write_bytes(b'{"v": 99}\n')
    vault = home.write_texts({"Org/a.md": "new\n"})
    assert str(journal) in vault.remarks[0]
    assert home.text_in_head("Org/a.md") == "new\n"
    (kept,) = journal.parent.iterdir()
    assert kept.read_bytes() == b'{"v": 99}\n'


def interrupted(home: Home) -> None:
    with home.vault.change(message("x"), NOVA, AT, [row("nova", "e-1")]) as change:
        change.write("Org/a.md", "new\n")
        raise KeyboardInterrupt


def failing(home: Home) -> None:
    with home.vault.change(message("x"), NOVA, AT, [row("nova", "e-1")]) as change:
        change.write("Org/a.md", "new\n")
        change.add(row("nova", "e-2"))
        raise ZeroDivisionError


def test_an_interrupted_body_leaves_its_rows_to_the_next_command(home: Home) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(home)
    assert len(home.spooled()) == 1
    lock = take_lock(f"{home.vault.private}/lock", 0)
    assert lock is not None
    os.close(lock)
    home.record("nova", "e-3")
    assert home.rows_in_head() == ["e-1", "e-3"]
    assert not (home.top / "Org").exists()


def test_a_failing_body_commits_what_was_acknowledged_and_nothing_else(home: Home) -> None:
    with pytest.raises(ZeroDivisionError):
        failing(home)
    assert home.rows_in_head() == ["e-1"]
    assert not (home.top / "Org").exists()


def test_a_change_of_nothing_is_no_commit(home: Home) -> None:
    home.write_texts({"Org/a.md": "same\n"})
    head = home.head()
    home.write_texts({"Org/a.md": "same\n"})
    assert home.head() == head


def test_a_change_reads_what_it_has_written(home: Home) -> None:
    home.write_texts({"Org/a.md": "one\n", "Org/b.md": "one\n"})
    with home.vault.change(message("x"), NOVA, AT) as change:
        change.write("Org/c.md", "half a pair: \ud800\n")
        change.remove("Org/a.md")
        assert change.read("Org/a.md") is None
        assert change.read("Org/c.md") == b"half a pair: ?\n"
        assert change.names("Org") == ["b.md", "c.md"]
    assert home.vault.names("Org") == ["b.md", "c.md"]


def test_an_entry_survives_its_own_writing(home: Home) -> None:
    del home
    name = os.fsdecode(b"v\xff/\n")
    entry = Entry(
        "refs/heads/x", name, "m", ("a", "b"), AT, (row("nova", "e"),),
        (Text("p", "", "x", "ü", b"\xff\0"), Text("q", "x", "", None, None)), ("spooled",),
    )  # fmt: skip
    assert decode(entry.encode()) == entry
    assert decode(entry.encode()[:-2]) is None


def test_ctrl_c_while_committing_is_like_a_crash(home: Home) -> None:
    code = (
        "import sys, os, signal, threading; from pathlib import Path; from tests.vaults import *;"
        "p = Path(sys.argv[1]); home = Home(p, p); home.vault;"
        "threading.Timer(float(sys.argv[2]), lambda: os.killpg(0, signal.SIGINT)).start();"
        "[home.write_texts({'Org/a.md': f'{n}\\n', 'Org/b.md': f'{n}\\n'}, row('nova', f'e-{n}'))"
        " for n in range(100)]"
    )
    root = Path(__file__).parent.parent.parent
    for trial in range(6):
        command = [sys.executable, "-c", code, str(home.root), str(0.1 + trial * 0.011)]
        subprocess.run(
            command, cwd=root, stderr=subprocess.DEVNULL, start_new_session=True, check=False
        )
        home.record("nova", f"after-{trial}")
        rows = home.rows_in_head()
        assert rows == home.rows_on_disk()
        assert len(rows) == len(set(rows))
        assert home.text_in_head("Org/a.md") == home.text_in_head("Org/b.md")
        assert home.git("status", "--porcelain") == ""
        assert home.spooled() == []
