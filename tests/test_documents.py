"""The README, the docs and the demo say what is so."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from orgvault.adapters.models.providers import PROVIDERS
from orgvault.cli.main import cli
from orgvault.cli.query import query
from orgvault.domain.claim_file import read_claim
from orgvault.domain.org_compiler import compile_org
from orgvault.services.querying import VIEWS

REPOSITORY = Path(__file__).resolve().parent.parent
REFERENCE = REPOSITORY / "docs" / "reference"
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
SOURCES = "\n".join(
    path.read_text("utf-8") for path in sorted((REPOSITORY / "orgvault").rglob("*.py"))
)
TRACKED = subprocess.run(
    ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
).stdout.split("\0")[:-1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_is_named_exists(page: Path) -> None:
    for line in re.findall(r"orgvault ((?:[a-z-]+ ?)+)", page.read_text("utf-8")):
        command: click.Command | None = cli
        for word in line.split():
            if not isinstance(command, click.Group):
                break
            with click.Context(command) as context:
                known = command.list_commands(context)
                if word not in known:
                    # `memory AGENT`, or the word "orgvault" in a sentence.
                    assert word in {"nova", "ada", "is", "in", "and", "has"} or command is cli, line
                    break
                command = command.get_command(context, word)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_to_be_pasted_holds_no_comment(page: Path) -> None:
    """An interactive zsh takes `# …` for words of the command."""
    for block in re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL):
        assert not re.search(r"(?m)(?:^|\s)#", block), block


def test_the_readme_leads_to_every_page_of_the_reference() -> None:
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    for page in REFERENCE.glob("*.md"):
        assert f"](docs/reference/{page.name})" in readme


def test_the_example_of_org_yaml_compiles() -> None:
    assert compile_org(_yaml(REFERENCE / "org.md"), "1")[1] == ()


def test_the_example_of_a_claim_is_one_written_by_hand() -> None:
    claim, problems = read_claim(_yaml(REFERENCE / "files.md"), "")
    assert claim is not None, problems
    assert claim.edited_by_hand


def test_every_verb_that_is_asked_for_stands_on_the_page_of_access() -> None:
    page = (REFERENCE / "access.md").read_text("utf-8")
    asked = set(re.findall(r"\.require\(\s*\"([a-z-]+)\"", SOURCES))
    assert asked
    assert asked <= set(re.findall(r"^\| `([a-z-]+)` \|", page, flags=re.MULTILINE))


def test_every_variable_that_is_read_stands_on_the_page_of_the_environment() -> None:
    page = (REFERENCE / "environment.md").read_text("utf-8")
    read = set(re.findall(r"\"(ORG(?:VAULT)?_[A-Z_]*[A-Z])\"", SOURCES)) | {"NO_COLOR"}
    for provider in PROVIDERS.values():
        read |= {*provider.keys, provider.base_variable} - {""}
    assert {"ORGVAULT_VAULT", "ORG_REFLECT_MODEL", "OPENAI_API_KEY"} <= read
    for name in read:
        assert f"`{name}`" in page, name


def test_the_help_of_query_names_every_view() -> None:
    for view in VIEWS:
        assert re.search(rf"\b{view.name}\b", query.help or "")


def _yaml(page: Path) -> str:
    """The first block of YAML on a page."""
    found = re.search(r"```yaml\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL)
    assert found is not None
    return found[1]


def test_no_file_names_a_place_of_this_machine() -> None:
    here = re.compile(r"/(?:work|root|home/[a-z]+)/[a-z]")
    for name in TRACKED:
        path = REPOSITORY / name
        if path.suffix in {".py", ".md", ".toml", ".txt", ".yaml", ".json", ".jsonl", ""}:
            found = here.search(path.read_text("utf-8", errors="replace"))
            assert found is None, f"{name}: {found}"


def test_the_demo_plays_to_its_end() -> None:
    done = subprocess.run(
        [sys.executable, "tools/demo.py"], cwd=REPOSITORY, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "seen 2×" in done.stdout
    assert "I install the dependencies before I build the site." in done.stdout
    assert "A  Daily/today.md" in done.stdout
    assert " 0 problems" in done.stdout
