"""Connectors: their files with lines, their order, and who may not be used and why."""

from typing import Any

import pytest

from orgvault.domain.connector import (
    Catalog,
    Connector,
    Guidance,
    Manifest,
    StateKey,
    in_order,
    missing_login,
    refused,
)
from orgvault.domain.connector_file import read_catalog, read_manifest, read_packaged
from orgvault.domain.record import plain

FILE = "connector.yaml"
GOOD = """\
version: 1
title: Calendar
state:
  key: events
  intro: "`events` are the next ones."
  command: [python3, hook.py]
login: [CALENDAR_TOKEN]
"""
MANIFEST = Manifest(
    version=1, title="Calendar", login=("CALENDAR_TOKEN",),
    state=StateKey(
        key="events", intro="`events` are the next ones.", command=("python3", "hook.py")
    ),
)  # fmt: skip


def connector(name: str, key: str) -> Connector:
    state = StateKey(key=key, intro="It is.", command=("x",))
    manifest = Manifest(version=1, title=name, state=state, prompt=Guidance(guidance="Ask."))
    return Connector(name=name, manifest=manifest, source=f"{name}.yaml", blob="")


def test_a_manifest_is_read_with_the_line_of_its_key() -> None:
    found, problems = read_manifest(GOOD, FILE)
    assert problems == ()
    assert found is not None
    assert (found.manifest, found.key_line) == (MANIFEST, 4)


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("version: 1", "version: 2", 1, "format version 2"),
        ("title: Calendar\n", "", 1, "`title` is missing"),
        ("[python3, hook.py]", "[]", 6, "no program is named"),
        ("key: events", "key: Events", 4, "is not the name of a connector"),
        ("login: [CALENDAR_TOKEN]", "login: [calendar token]", 7, "is not the name of an env"),
    ],
)
def test_every_fault_of_a_manifest_has_its_line(old: str, new: str, line: int, what: str) -> None:
    found, problems = read_manifest(GOOD.replace(old, new), FILE)
    assert found is None
    assert [(one.file, one.line, what in one.what) for one in problems] == [(FILE, line, True)]


def test_a_catalog_names_each_once() -> None:
    assert read_catalog("version: 1\norder: [git, calendar]\n", FILE) == (
        Catalog(version=1, order=("git", "calendar")), (),
    )  # fmt: skip
    found, problems = read_catalog("version: 1\norder:\n  - git\n  - calendar\n  - git\n", FILE)
    assert found is None
    assert [(one.line, one.what) for one in problems] == [(5, "order[2]: git stands there twice")]
    for text, what in [
        ("version: 2\n", "format version 2"),
        ("ordre: []\n", "unknown key"),
    ]:
        found, problems = read_catalog(text, FILE)
        assert found is None
        assert [what in one.what for one in problems] == [True]


def test_a_package_brings_the_same_as_a_mapping() -> None:
    value: dict[str, Any] = plain(MANIFEST)
    assert read_packaged(value, "a package") == (MANIFEST, ())
    changes: list[tuple[dict[str, object], str]] = [
        ({"version": 2}, "format version 2"),
        ({"title": 7}, "title: expected text, found"),
        ({"state": {**value["state"], "command": []}}, "state.command: no program is named"),
    ]
    for change, what in changes:
        found, problems = read_packaged({**value, **change}, "a package")
        assert found is None
        assert [(one.file, one.line, what in one.what) for one in problems] == [
            ("a package", 0, True)
        ]
    found, problems = read_packaged(["no", "mapping"], "a package")
    assert found is None
    assert [one.what.startswith("expected a mapping") for one in problems] == [True]


def test_a_connector_tells_what_its_manifest_says() -> None:
    one = connector("calendar", "events")
    assert (one.key, one.intro, one.guidance) == ("events", "It is.", "Ask.")


def test_the_catalog_orders_and_others_follow_by_name() -> None:
    assert in_order(["b", "z", "git", "a", "git"], ["git", "z", "git"]) == ["git", "z", "a", "b"]


def test_a_state_key_is_the_first_ones_and_none_of_states_own() -> None:
    known = [connector("one", "events"), connector("two", "events"), connector("three", "utc_now")]
    found = refused([*known, connector("four", "loans")], {"two": 4})
    assert {name: (one.file, one.line, one.what) for name, one in found.items()} == {
        "two": ("two.yaml", 4, "state.key: `events` is taken by the connector one"),
        "three": ("three.yaml", 0, "state.key: `utc_now` is a key of State's own"),
    }


def test_a_login_is_connected_when_each_secret_is_bound_and_set() -> None:
    login = ["TOKEN", "USER_NAME", "HOST"]
    assert missing_login(login, login, login) == []
    assert missing_login(login, ["TOKEN", "HOST"], ["TOKEN", "USER_NAME"]) == [
        "USER_NAME is not bound to the agent", "HOST is not set",
    ]  # fmt: skip
