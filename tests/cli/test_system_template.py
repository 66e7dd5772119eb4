"""system.md: `init` writes it where it is missing, `check` names what is wrong in it."""

from orgvault.adapters.packaged import template
from tests.harbor import Harbor

FILE = ".agents/org/prompts/system.md"


def test_init_writes_the_packaged_one_where_it_is_missing_and_keeps_anothers(
    harbor: Harbor,
) -> None:
    path = harbor.root / FILE
    path.unlink()
    assert harbor.json("init")["written"] == [FILE]
    assert path.read_text("utf-8") == template("system.md")
    path.write_text("Ours.\n", "utf-8")
    assert harbor.json("init")["written"] == []
    assert path.read_text("utf-8") == "Ours.\n"


def test_check_says_that_it_is_missing(harbor: Harbor) -> None:
    harbor.run("check")
    (harbor.root / FILE).unlink()
    told = harbor.run("check", code=1)
    assert f"{FILE}: the file is missing, restore it from git, or run `orgvault init`" in told.out


def test_check_names_every_mistake_in_its_parts(harbor: Harbor) -> None:
    text = 'a\n<capability name="note">b</capability>\n</capability>\n<capability name="memory">'
    (harbor.root / FILE).write_text(text, "utf-8")
    told = harbor.run("check", code=1)
    assert f'{FILE}:2: no capability part is called "note", did you mean "notes"?' in told.out
    assert f"{FILE}:3: " in told.out
    assert f"{FILE}:4: " in told.out


def test_check_says_that_it_is_no_text(harbor: Harbor) -> None:
    (harbor.root / FILE).write_bytes(b"caf\xe9\n")
    assert f"{FILE}: the file is not UTF-8" in harbor.run("check", code=1).out
