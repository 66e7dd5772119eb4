"""The index of recall: right whatever happened to the files or to itself, and never in git."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orgvault.domain.claim import Claim, ClaimKind, close, new_claim
from orgvault.domain.claim_file import write_claim
from orgvault.domain.ids import CROCKFORD
from orgvault.store.claims import Claims
from orgvault.store.recall_index import Found, index_path, search
from orgvault.store.vault import Vault
from tests.vaults import AT, Home, make_vault

NOTEBOOK = ".agents/org/memory/nova.md"
BUILD = "I lose a turn whenever I run the site build before installing its dependencies."
MENU = "The menu jumps when two pages have one number."


def claim(number: int, text: str, at: str = "") -> Claim:
    """A claim; each of a reflection of its own, unless its time says otherwise."""
    at = at or f"2026-11-20T{number // 60:02}:{number % 60:02}:00Z"
    return new_claim(f"c-{number:08d}", "nova", ClaimKind.LESSON, text, "run-1", at, "reflection")


def put(home: Home, *claims: Claim) -> None:
    for one in claims:
        home.write(Claims.path("nova", one.id), write_claim(one))


def ask(home: Home, query: str, count: int = 8) -> Found:
    """The answer of a newly started process."""
    return search(home.fresh(), "nova", query, count, lambda text: text)


def ids(home: Home, query: str) -> list[str]:
    found = ask(home, query)
    assert found.problems == ()
    return [one.id for one in found.passages]


def index(home: Home) -> Path:
    return Path(index_path(home.fresh(), "nova"))


@pytest.fixture
def learned(home: Home) -> Home:
    """A vault with two claims and a notebook, committed and searched once."""
    put(home, claim(1, BUILD), claim(2, MENU, "2026-11-21T00:00:00Z"))
    home.write(NOTEBOOK, "# Notebook\n\n## Pictures\n\nNothing wider than 1600 pixels.\n")
    home.commit("memory")
    ask(home, "build")
    return home


def test_a_passage_says_where_it_stands(learned: Home) -> None:
    (one, *_) = ask(learned, "installed dependency").passages
    assert (one.source, one.id, one.kind, one.text) == ("claim", "c-00000001", "lesson", BUILD)
    assert (one.file, one.line) == (Claims.path("nova", "c-00000001"), None)
    (section, *_) = ask(learned, "pixel").passages
    assert (section.source, section.id) == ("notebook", "nova#Notebook#Pictures")
    assert (section.heading, section.file, section.line) == ("Notebook > Pictures", NOTEBOOK, 3)
    assert section.text == "Nothing wider than 1600 pixels."
    assert section.score > 0


def test_nothing_to_search_gives_nothing(home: Home) -> None:
    assert ask(home, "build") == ask(home, "build") == Found((), ())


def test_a_warm_answer_is_the_first_one(learned: Home) -> None:
    warm = ask(learned, "the build of pictures")
    index(learned).unlink()
    assert ask(learned, "the build of pictures") == warm


def test_a_warm_answer_reads_no_yaml(learned: Home) -> None:
    code = asker(learned, 1)
    code[2] += "print([one for one in sys.modules if 'ruamel' in one or 'yaml' in one])"
    done = subprocess.run(code, capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["['c-00000001']", "[]"]


def test_r18_git_sees_nothing_and_a_saved_index_is_not_touched_by_asking(learned: Home) -> None:
    before = index(learned).stat()
    answers = [ask(learned, "build the menu") for _ in range(50)]
    assert answers == [answers[0]] * 50
    assert index(learned).stat() == before
    assert learned.git("status", "--porcelain", "--ignored") == ""


def test_an_edit_of_the_same_size_and_time_is_seen(learned: Home) -> None:
    path = learned.root / Claims.path("nova", "c-00000002")
    stat = path.stat()
    path.write_bytes(path.read_bytes().replace(b"menu", b"logo"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_size == stat.st_size
    assert ids(learned, "menu") == []
    assert ids(learned, "logo") == ["c-00000002"]


def test_claims_come_and_go(learned: Home) -> None:
    put(learned, claim(3, "The feed needs a date."))
    assert ids(learned, "feed") == ["c-00000003"]
    path = learned.root / Claims.path("nova", "c-00000001")
    path.unlink()
    assert ids(learned, "dependencies") == []
    assert "c-00000002" in ids(learned, "menu")


def test_a_closed_claim_and_a_sync_tools_copy_are_not_searched(learned: Home) -> None:
    put(learned, close(claim(1, BUILD), "sam", "no", AT))
    copy = learned.root / Claims.path("nova", "c-00000002")
    for name in ("c-00000002 (copy).yaml", os.fsdecode(b"c-\xff.yaml")):
        copy.with_name(name).write_bytes(copy.read_bytes())
    assert ids(learned, "dependencies") == []
    assert ids(learned, "menu") == ["c-00000002"]


def test_core_md_is_not_searched(learned: Home) -> None:
    learned.write(Claims.core_path("nova"), "- (lesson, seen 1×) Zebras are striped.\n")
    assert ids(learned, "zebras") == []


def test_a_section_that_only_moved_keeps_its_terms_and_gets_its_line(learned: Home) -> None:
    path = learned.root / NOTEBOOK
    path.write_text("# Before\n\nA zebra.\n\n" + path.read_text("utf-8"), "utf-8")
    (one, *_) = ask(learned, "pixels").passages
    assert one.line == 7
    assert ids(learned, "zebra")[0] == "nova#Before"


def test_sections_of_one_name_have_an_id_each(home: Home) -> None:
    home.write(NOTEBOOK, "# A\nred pump\n# A\nblue pump\n# A\nred pump\n")
    assert sorted(ids(home, "pump")) == ["nova#A", "nova#A (2)", "nova#A (3)"]


def test_a_claim_that_cannot_be_read_is_named_each_time_and_the_others_are_searched(
    learned: Home,
) -> None:
    learned.write(Claims.path("nova", "c-00000001"), "id: [")
    for _ in range(2):
        found = ask(learned, "menu")
        assert [one.id for one in found.passages] == ["c-00000002"]
        assert found.problems
        assert all("c-00000001" in one for one in found.problems)


def test_a_folder_in_a_claims_place_is_named(learned: Home) -> None:
    (learned.root / Claims.path("nova", "c-00000009")).mkdir()
    found = ask(learned, "menu")
    assert [one.id for one in found.passages] == ["c-00000002"]
    assert len(found.problems) == 1


def test_a_notebook_that_is_no_utf_8_is_searched(home: Home) -> None:
    home.write(NOTEBOOK, b"\xff\xfe caf\xe9 pump \x00 end")
    assert ids(home, "pump") == ["nova"]


def test_claims_of_one_reflection_are_neighbours_and_others_are_not(home: Home) -> None:
    put(home, claim(1, "The pump leaks.", AT), claim(2, "We tightened it.", AT))
    put(home, claim(3, "Sam reads in the morning.", "2026-12-01T00:00:00Z"))
    assert ids(home, "pump") == ["c-00000001", "c-00000002"]


def test_a_claims_dates_are_searched(home: Home) -> None:
    put(home, claim(1, "I was late.", "2026-10-02T00:00:00Z"), claim(2, "I was late."))
    assert ids(home, "late in October 2026")[0] == "c-00000001"
    assert ids(home, "late on 20 November 2026")[0] == "c-00000002"


def test_nothing_is_written_down_before_it_is_clean(home: Home) -> None:
    put(home, claim(1, "The key is hunter2hunter2."))
    home.write(NOTEBOOK, "# hunter2hunter2\n\nhunter2hunter2 opens the door\n")

    def clean(text: str) -> str:
        return text.replace("hunter2hunter2", "[secret]")

    found = search(home.fresh(), "nova", "key door", 8, clean)
    assert "hunter2" not in repr(found)
    assert b"hunter2" not in index(home).read_bytes()


@pytest.mark.parametrize("content", [b"", b"junk", b"SQLite format 3\x00" + b"\x00" * 5000])
def test_a_spoiled_index_is_made_anew(learned: Home, content: bytes) -> None:
    whole = index(learned).read_bytes()
    index(learned).write_bytes(content)
    assert ids(learned, "dependencies") == ["c-00000001"]
    assert index(learned).read_bytes()[:16] == whole[:16]


def test_an_index_of_another_form_or_cut_short_is_made_anew(learned: Home) -> None:
    whole = index(learned).read_bytes()
    for length in range(0, len(whole), 1500):
        index(learned).write_bytes(whole[:length])
        assert ids(learned, "dependencies") == ["c-00000001"], length
    with closing(sqlite3.connect(index(learned))) as database:
        database.executescript("UPDATE about SET value = 'other'; DELETE FROM postings")
    assert ids(learned, "dependencies") == ["c-00000001"]


def test_where_nothing_can_be_kept_it_answers_all_the_same(learned: Home) -> None:
    folder = index(learned).parent
    index(learned).unlink()
    folder.rmdir()
    folder.write_text("a file in the folder's place")
    assert ids(learned, "dependencies") == ["c-00000001"]
    assert ids(learned, "pixels") == ["nova#Notebook#Pictures"]


def test_working_trees_have_an_index_each(learned: Home, memory: Path) -> None:
    other = memory / "other"
    learned.git("worktree", "add", "-q", str(other))
    path = other / NOTEBOOK
    path.write_text("# Zebra\n\nstripes\n", "utf-8")
    there = search(Vault.find(str(other)), "nova", "zebra", 8, str)
    assert [one.id for one in there.passages] == ["nova#Zebra"]
    assert ids(learned, "zebra") == []
    assert len(list(index(learned).parent.iterdir())) == 2


ASKER = """
import sys
sys.path.insert(0, {tests!r})
from orgvault.store.recall_index import search
from orgvault.store.vault import Vault
for _ in range(int(sys.argv[2])):
    found = search(Vault.find(sys.argv[1]), "nova", "dependencies", 8, str)
    print([one.id for one in found.passages], flush=True)
"""


def asker(home: Home, times: int) -> list[str]:
    code = ASKER.format(tests=str(Path(__file__).parent.parent.parent))
    return [sys.executable, "-c", code, str(home.root), str(times)]


def test_many_processes_while_the_memory_changes(learned: Home) -> None:
    processes = [subprocess.Popen(asker(learned, 15), stdout=subprocess.PIPE) for _ in range(4)]
    for number in range(30):
        put(learned, claim(100 + number, f"Page {number} has no title."))
    for process in processes:
        out, _ = process.communicate()
        assert process.returncode == 0
        assert out.decode().splitlines() == ["['c-00000001']"] * 15
    assert len(ids(learned, "page")) == 8
    assert list(Path(learned.fresh().place.scratch).iterdir()) == []


def test_a_killed_process_spoils_nothing(learned: Home) -> None:
    def killed(number: int) -> None:
        index(learned).unlink(missing_ok=True)
        with subprocess.Popen(asker(learned, 1000), stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            put(learned, claim(200 + number, f"Page {number}."))
            process.kill()
        assert ids(learned, "dependencies") == ["c-00000001"]

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(killed, range(8)))


WORDS = st.lists(st.sampled_from(["pump", "menu", "build", "feed", "zebra"]), max_size=4).map(
    " ".join
)
CLAIM_FILES = st.dictionaries(st.sampled_from(CROCKFORD[1:5]), WORDS, max_size=4)
NOTES = st.lists(st.sampled_from(["# A", "## B", "pump", "menu here", ""]), max_size=6)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(CLAIM_FILES, NOTES), min_size=1, max_size=5), WORDS)
def test_an_index_brought_up_to_date_says_what_a_new_one_says(
    states: list[tuple[dict[str, str], list[str]]], query: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = make_vault(Path(folder) / "vault")
        claims = home.root / ".agents/org/memory/nova/claims"
        for files, notes in states:
            claims.mkdir(parents=True, exist_ok=True)
            for old in claims.iterdir():
                old.unlink()
            put(home, *(claim(int(name), text or "I am.") for name, text in files.items()))
            home.write(NOTEBOOK, "\n".join(notes))
            ask(home, query)
        grown = ask(home, query)
        index(home).unlink()
        assert ask(home, query) == grown


def test_an_index_that_is_damaged_in_the_middle_is_made_anew(learned: Home) -> None:
    before = ids(learned, "build dependencies")
    content = index(learned).read_bytes()
    page = 4096
    for at in range(page, len(content), page):
        index(learned).write_bytes(content[:at] + os.urandom(page) + content[at + page :])
        assert ids(learned, "build dependencies") == before
        assert ids(learned, "build dependencies") == before


def test_a_pipe_in_the_place_of_the_index_is_not_waited_for(learned: Home) -> None:
    before = ids(learned, "build")
    index(learned).unlink()
    os.mkfifo(index(learned))
    assert ids(learned, "build") == before
    assert index(learned).is_file()


@pytest.mark.parametrize("what", ["notebook", "claim", "folder"])
def test_nothing_is_read_through_a_link(learned: Home, tmp_path: Path, what: str) -> None:
    (tmp_path / "pay.md").write_text("# Salaries\nKim gets 5000 zorkmids.\n", "utf-8")
    claims = learned.root / ".agents/org/memory/nova/claims"
    if what == "folder":
        shutil.move(claims, tmp_path / "claims")
        claims.symlink_to(tmp_path / "claims")
    else:
        place = learned.root / NOTEBOOK if what == "notebook" else claims / "c-00000001.yaml"
        place.unlink()
        place.symlink_to(tmp_path / "pay.md")
    found = ask(learned, "zorkmids build")
    assert "zorkmids" not in repr(found)
    (problem,) = found.problems
    assert "reached by a link" in problem


def test_one_lost_byte_changes_no_answer(learned: Home) -> None:
    before = ask(learned, "build dependencies")
    content = index(learned).read_bytes()
    for at in range(11, len(content), len(content) // 60):
        index(learned).write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        assert ask(learned, "build dependencies") == before
        assert index(learned).read_bytes() == content
