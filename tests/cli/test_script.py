"""`script`: the owner gives agents scripts; secrets, links and big files stay outside."""

from pathlib import Path

import pytest

from tests.harbor import Harbor

SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer", "description": "How many"}}}'


@pytest.fixture
def main(tmp_path: Path) -> Path:
    path = tmp_path / "links.py"
    path.write_text("print('é')\n", "utf-8")
    return path


def add(*words: str, name: str = "links") -> tuple[str, ...]:
    return (
        "script", "add", "nova", name, "--command", "python3", "--command", "links.py",
        "--description", "List dead links", *words,
    )  # fmt: skip


def test_a_script_is_added_with_its_files(harbor: Harbor, main: Path, tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text("\ufeff" + SCHEMA, "utf-8")
    words = add("--file", str(main), "--parameters", str(schema), "--timeout", "5")
    made = harbor.json(*words)
    folder = ".agents/org/scripts/nova/links"
    assert made["paths"] == [f"{folder}/script.yaml", f"{folder}/links.py"]
    assert (harbor.root / folder / "links.py").read_text("utf-8") == "print('é')\n"
    (listed,) = harbor.json("script", "list", "nova")["scripts"]
    assert listed["script"] == made["script"]
    assert listed["script"]["parameters"]["properties"]["n"]["type"] == "integer"
    assert (listed["script"]["command"], listed["script"]["timeout_s"]) == (
        ["python3", "links.py"], 5,
    )  # fmt: skip
    assert harbor.subjects(1) == ["script(nova): add links"]
    assert harbor.run("check").out.endswith(" 0 problems\n")
    assert "is there already" in harbor.run(*words, code=1).err


def test_who_may(harbor: Harbor) -> None:
    harbor.run(*add(), code=4, ORGVAULT_OPERATOR="kim")
    harbor.run(*add(), code=4, ORGVAULT_AGENT="nova")
    harbor.run(*add())
    for who, code in (("atlas", 0), ("nova", 0), ("juno", 4)):
        harbor.run("script", "list", "nova", code=code, ORGVAULT_AGENT=who)
    harbor.run("script", "list", "nova", ORGVAULT_OPERATOR="kim")
    own = harbor.json("script", "list", ORGVAULT_AGENT="juno")["scripts"]
    assert [(one["agent"], one["script"]["name"]) for one in own] == [("juno", "count-words")]
    assert len(harbor.json("script", "list")["scripts"]) == 2
    assert "no agent `nobody`" in harbor.run("script", "list", "nobody", code=1).err


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("big.py", b"x" * (256 * 1024 + 1), "more than the 262,144 bytes"),
        ("bad.py", b"\xff\xfe", "is not UTF-8"),
        ("script.yaml", b"x: 1\n", "a name that cannot stand"),
        ("a b.py", b"x\n", "a name that cannot stand"),
        (".hidden", b"x\n", "a name that cannot stand"),
        ("key.py", b"KEY = 'ghp_" + b"a1B2" * 9 + b"'\n", "looks like a secret"),
    ],
)
def test_files_that_are_refused(
    harbor: Harbor, tmp_path: Path, name: str, content: bytes, what: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert what in harbor.run(*add("--file", str(tmp_path / name)), code=1).err
    assert harbor.subjects() == ["My notes"]
    assert not (harbor.root / ".agents/org/scripts/nova").exists()


def test_links_folders_and_what_is_not_there(harbor: Harbor, main: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.py"
    link.symlink_to(main)
    assert "is a link" in harbor.run(*add("--file", str(link)), code=1).err
    assert "cannot be read" in harbor.run(*add("--file", str(tmp_path / "none.py")), code=1).err
    (tmp_path / "folder").mkdir()
    assert "cannot be read" in harbor.run(*add("--file", str(tmp_path / "folder")), code=1).err
    secret = harbor.root / "Areas/Finance/plan.md"
    secret.parent.mkdir(parents=True, exist_ok=True)
    secret.write_text("x\n", "utf-8")
    assert "is protected" in harbor.run(*add("--file", str(secret)), code=1).err
    assert "twice" in harbor.run(*add("--file", str(main), "--file", str(main)), code=2).err


@pytest.mark.parametrize(
    ("schema", "code", "what"),
    [
        ("{", 1, "holds no JSON"),
        ('{"type": NaN}', 1, "holds no JSON"),
        ("[" * 100_000, 1, "holds no JSON"),
        ('{"type": "object", "type": "object"}', 2, "twice"),
        ("[]", 2, "a JSON Schema is expected"),
        ('{"type": "object"}', 2, "names no parameters"),
        (SCHEMA.replace("integer", "whole"), 2, "`whole` is no type"),
        (SCHEMA.replace('"How many"', "1e999"), 2, "not a finite number"),
        (SCHEMA[:-1] + ', "required": ["zz", 1, {}, []]}', 2, "no parameter `{}`"),
        (SCHEMA[:-1] + ', "default": 12345678901234567890123}', 2, "quote it"),
    ],
)
def test_parameters_that_are_none(
    harbor: Harbor, tmp_path: Path, schema: str, code: int, what: str
) -> None:
    path = tmp_path / "p.json"
    path.write_text(schema, "utf-8")
    assert what in harbor.run(*add("--parameters", str(path)), code=code).err
    assert harbor.subjects() == ["My notes"]


def test_names_and_times_that_are_refused(harbor: Harbor) -> None:
    assert "a tool of orgvault's own" in harbor.run(*add(name="note_get"), code=2).err
    assert "device name" in harbor.run(*add(name="nul"), code=2).err
    assert "name" in harbor.run(*add(name="../x"), code=2).err
    assert "timeout_s" in harbor.run(*add("--timeout", "0"), code=2).err
    assert "command" in harbor.run(*add("--command", "a\nb"), code=2).err


def test_a_preview_writes_nothing(harbor: Harbor, main: Path) -> None:
    told = harbor.run("--dry-run", *add("--file", str(main)))
    assert "would commit: script(nova): add links" in told.out
    assert "print('é')" in told.out
    assert harbor.subjects() == ["My notes"]
    assert harbor.git("status", "--porcelain") == ""


def test_check_names_what_is_wrong(harbor: Harbor) -> None:
    folder = harbor.root / ".agents/org/scripts"
    about = (folder / "juno/count-words/script.yaml").read_text("utf-8")
    (folder / "juno/other").mkdir()
    (folder / "juno/other/script.yaml").write_text(about, "utf-8")
    (folder / "juno/Bad Name").mkdir()
    (folder / "juno/empty").mkdir()
    (folder / "ghost/count-words").mkdir(parents=True)
    (folder / "ghost/count-words/script.yaml").write_text(about + "colour: red\n", "utf-8")
    told = harbor.run("check", code=1).out
    for what in (
        "juno/other/script.yaml: it holds the script count-words under another name",
        "juno/Bad Name: not the name of a script",
        "juno/empty: there is no script.yaml in it",
        "scripts of ghost, who is not on the roster",
        "unknown key `colour`",
    ):
        assert what in told
    assert "Bad Name" in harbor.run("script", "list").err
