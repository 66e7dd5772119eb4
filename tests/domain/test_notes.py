"""Resolving links: the rules against each other, and a vault as somebody keeps it."""

from pathlib import Path

import pytest

from orgvault.domain.links import find, find_by_parser
from orgvault.domain.notes import (
    IN_DOT_FOLDER,
    LINKED,
    MISSING,
    aliases,
    fold_name,
    kind_of,
    resolve,
)
from tests.embeds_vault import Shelf

KEPANO = Path(__file__).parents[3] / "shared/vaults/kepano"


def found(link: str, source: str, *paths: str) -> str:
    """What a link means in a vault of these files."""
    return resolve(link, source, Shelf(dict.fromkeys(paths, ""))).path


def test_the_root_wins_over_the_own_folder_and_that_over_the_shortest() -> None:
    assert found("N", "own/s.md", "own/N.md", "N.md", "x/N.md") == "N.md"
    assert found("N", "own/s.md", "x/N.md", "own/N.md") == "own/N.md"
    assert found("n", "own/s.md", "x/n.md", "own/N.md") == "own/N.md"
    assert found("N", "own/s.md", "xxxxx/N.md", "y/z/N.md", "own/in/N.md") == "y/z/N.md"
    assert found("b/N", "own/s.md", "x/b/N.md", "own/b/N.md") == "own/b/N.md"


def test_a_name_with_a_dot_or_another_extension() -> None:
    assert found("v1.2", "", "v1.2.md") == "v1.2.md"
    assert found("N.md", "", "N.md.md", "N.md") == "N.md"
    assert found("N.md", "", "N.md.md") == "N.md.md"
    assert found("pic.png", "", "a/pic.png", "pic.png.md") == "a/pic.png"
    assert found("Makefile", "", "Makefile") == "Makefile"


def test_a_path_does_not_match_half_a_folder_s_name() -> None:
    assert found("b/N", "", "ab/N.md") == ""
    assert found("/b/N", "", "a/b/N.md") == ""


def test_a_path_deeper_than_any_is_none() -> None:
    assert found("a/" * 2000 + "N", "", "N.md") == ""


def test_nothing_leads_out_of_the_vault() -> None:
    for link in ("../N", "./../../N", "../", "a/../../N", "/../N", "..", "."):
        assert found(link, "own/s.md", "x/N.md") == ""


def test_names_are_equal_in_any_case_and_form() -> None:
    assert fold_name("NÖTE") == fold_name("no\u0308te") == "nöte"
    assert fold_name("a\u00a0b") == "a b"
    assert kind_of("A.MD") == "note"
    assert kind_of("md") != "note"


def test_aliases_in_every_way_to_write_them() -> None:
    assert list(aliases("aliases: [A, 'B c']\n")) == ["A", "B c"]
    assert list(aliases('x: 1\naliases:\n  - A\n- "B"\ny: 2\n')) == ["A", "B"]
    assert list(aliases("alias: A\naliases:\n")) == ["A"]


@pytest.mark.skipif(not KEPANO.exists(), reason="the vaults to try on are not here")
def test_in_a_vault_as_somebody_keeps_it_both_ways_agree() -> None:
    texts = {str(one.relative_to(KEPANO)): one.read_text() for one in KEPANO.rglob("*.md")}
    shelf = Shelf(texts)
    count = 0
    for path, text in texts.items():
        assert find(text) == find_by_parser(text)
        done = shelf.expand(text, path)
        count += len(done.markers) + len(done.embeds)
    assert count


class Linked(Shelf):
    """Notes among symbolic links, of which a test names the paths."""

    links = ("door", "Link.md", "a/in")

    def linked(self, name: str, /) -> list[str]:
        """The links of this name."""
        return [path for path in self.links if fold_name(path.rpartition("/")[2]) == name]


def test_why_a_link_means_no_note() -> None:
    shelf = Linked({".hidden/N.md": ""})
    assert resolve(".hidden/N", "", shelf).reason == IN_DOT_FOLDER
    for link in ("door/N", "Link", "link.md", "a/in/N", "in/N"):
        assert resolve(link, "", shelf).reason == LINKED
    assert resolve("elsewhere/N", "", shelf).reason == MISSING


def test_of_equals_one_is_taken_and_the_others_are_said() -> None:
    found = resolve("N", "", Shelf(dict.fromkeys(["b/N.md", "a/N.md", "c/N.md"], "")))
    assert (found.path, found.warning) == ("a/N.md", "a/N.md was taken, not b/N.md, c/N.md")
