"""`check` tells of Tasks that their own agents can change, and fails for none of them."""

from pathlib import Path

import pytest

from tests.harbor import Harbor, make_harbor


@pytest.fixture
def harbor(tmp_path: Path) -> Harbor:
    return make_harbor(tmp_path)


def test_a_task_that_embeds_what_its_agent_may_write_is_told(harbor: Harbor) -> None:
    home = harbor.root / "Org/Home/nova"
    (home / "plans.md").write_text("# Plans\n", "utf-8")
    task = harbor.root / "Org/Tasks/nova.md"
    task.write_text(task.read_text("utf-8") + "\n![[Org/Home/nova/plans]]\n", "utf-8")

    told = harbor.run("check")

    assert told.out.endswith(" 0 problems\n")
    expected = "Org/Home/nova/plans.md: the Task of nova embeds it, and nova may write it"
    assert told.err == f"orgvault: {expected}\n"
    assert harbor.json("check")["warnings"] == [expected]
    run = harbor.json("run", "start", "nova")["run"]
    manifest = next(one for one in harbor.rows("runs", "nova") if one["run"] == run)
    marked = [one["path"] for one in manifest["task_source"]["embeds"] if one["writable"]]
    assert marked == ["Org/Home/nova/plans.md"]


def test_a_task_that_its_agent_may_write_is_told(harbor: Harbor) -> None:
    (harbor.root / "Org/Home/nova/mine.md").write_text("What I want.\n", "utf-8")
    harbor.edit_org(r'task: "\[\[Org/Tasks/nova\]\]"', 'task: "[[Org/Home/nova/mine]]"')
    assert (
        "Org/Home/nova/mine.md: the Task of nova, which nova may write" in harbor.run("check").err
    )


def test_a_task_that_is_too_large_is_told(harbor: Harbor) -> None:
    (harbor.root / "Projects/Site/long.md").write_text("x" * 70_000, "utf-8")
    task = harbor.root / "Org/Tasks/nova.md"
    task.write_text(task.read_text("utf-8") + "\n![[Projects/Site/long]]\n", "utf-8")
    told = harbor.run("check").err
    assert told.startswith("orgvault: nova: embed budget exceeded")


def test_the_fixture_has_nothing_to_be_told_of(harbor: Harbor) -> None:
    assert harbor.run("check").err == ""
