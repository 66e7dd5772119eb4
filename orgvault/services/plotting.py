"""The statistics as a picture, in a file that the person names."""

import os
import re
import stat
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path

from orgvault.adapters.plot import Chart, Mark, Week, draw
from orgvault.adapters.statistics import Tables
from orgvault.domain.instants import days_before
from orgvault.domain.problem import Problem
from orgvault.errors import NotAllowed, OrgvaultError
from orgvault.services.desk import Desk
from orgvault.services.gathering import CORRECTIONS, EPISODES, gather
from orgvault.services.measuring import Work, since, work
from orgvault.store.files import replace
from orgvault.values import dataclass

SUFFIX = ".svg"
WEEKS = 260  # five years; what is older is counted, not drawn
_MONDAY = date(1969, 12, 29)
_LOOKED_AT = 1024
# What may stand before the picture itself: a byte order mark, declarations, remarks.
_SVG = rb"(?s)(?:\xef\xbb\xbf)?\s*(?:(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>)\s*)*<svg[\s>]"
_BY_WEEK = """
SELECT (epoch(finished_at)::BIGINT + 3 * 86400) // (7 * 86400) AS week,
  count(*) FILTER (outcome = 'done'),
  count(*) FILTER ((agent, id) IN (SELECT (agent, episode) FROM corrections)),
  sum(round(cost_usd * 1e6)::BIGINT)
FROM episodes
WHERE finished_at >= $since::TIMESTAMPTZ AND finished_at < $until::TIMESTAMPTZ
GROUP BY week ORDER BY week"""


class Unfit(StrEnum):
    """Why a picture cannot be written to a path."""

    NAME = "it is not named ….svg: give it that ending"
    FOLDER = "its folder does not exist: make it first"
    OTHER = "it is there and is no SVG: choose another name"


class NoPlot(OrgvaultError):
    """A picture cannot be written where it is wanted."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{' '.join(path.split())} cannot be written, {why}")


@dataclass(frozen=True)
class Plot:
    """A picture: where it belongs, and its text."""

    path: Path
    svg: str


def plot(
    desk: Desk, agent_id: str | None, given: str, *, days: int | None, marks: tuple[Mark, ...] = ()
) -> tuple[Plot, list[Problem]]:
    """The picture of an agent's last weeks, or of all agents that the actor may read.

    `given` is a path with the ending .svg, absolute or from where the process is.  `marks` are
    days to be marked.  Raises NoPlot when nothing may or can be written there.
    """
    path = place(desk, given)
    agents = desk.readable()
    title = "All agents"
    if agent_id is not None:
        agents = [desk.agent(agent_id)]
        desk.require("read", f"read the memory of {agent_id}", agents[0])
        title = f"{agents[0].name} ({agent_id})" if agents[0].name != agent_id else agent_id
    begin, problems = since(desk, days), list[Problem]()
    with Tables() as tables:
        ids = [agent.id for agent in agents]
        gather(desk.vault, ids, (EPISODES, CORRECTIONS), problems, tables)
        figures, weeks = work(tables, begin), _weeks(desk, tables, begin)
    return Plot(path, draw(_chart(title, figures, weeks, days), marks)), problems


def save(made: Plot) -> None:
    """Write the picture.  Raises NoPlot."""
    try:
        replace(str(made.path), made.svg.encode())
    except OSError as failure:
        raise NoPlot(str(made.path), failure.strerror or str(failure)) from None


def _weeks(desk: Desk, tables: Tables, begin: str) -> tuple[Week, ...]:
    """All weeks from the first to the last that has anything, at most the newest five years.

    A run from the future (a clock that was wrong) would stretch the axis, and is left out.
    """
    until = days_before(desk.clock.now(), -1)
    known = {row[0]: row[1:] for row in tables.ask(_BY_WEEK, since=begin, until=until)}
    if not known:
        return ()
    newest = max(known)
    first = max(min(known), newest - WEEKS + 1)
    return tuple(
        Week(_MONDAY + timedelta(weeks=at), done, corrected, None if micro is None else micro / 1e6)
        for at in range(first, newest + 1)
        for done, corrected, micro in [known.get(at, (0, 0, None))]
    )


def _chart(title: str, did: Work, weeks: tuple[Week, ...], days: int | None) -> Chart:
    when = "from the beginning" if days is None else f"the last {days} days"
    share, cost = did.corrections_per_completed_card, did.cost_per_completed_card_usd
    priced = f", {did.unpriced} of {did.episodes} episodes unpriced" if did.unpriced else ""
    return Chart(
        title,
        f"{did.done:,} completed cards in {did.episodes:,} episodes, {when}, by week (UTC)",
        weeks, share, cost,
        "n/a" if share is None else f"{share:.2f} over all weeks (dashed)",
        ("n/a" if cost is None else f"${cost:,.2f} over all weeks (dashed)") + priced,
    )  # fmt: skip


def place(desk: Desk, given: str) -> Path:
    """Where the picture is written; raises NoPlot or NotAllowed.

    Anywhere outside the vault, and in it where nothing is protected; for an agent in its home.
    A picture replaces a picture, and no other file.
    """
    path = Path(os.path.realpath(given))  # Path.resolve fails on a link to itself
    if {Path(given).suffix.casefold(), path.suffix.casefold()} != {SUFFIX}:
        raise NoPlot(given, Unfit.NAME)
    _guard(desk, path, given)
    if not path.parent.is_dir():
        raise NoPlot(given, Unfit.FOLDER)
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a pipe would be waited for
            raise NoPlot(given, Unfit.OTHER)
        with path.open("rb") as file:
            if re.match(_SVG, file.read(_LOOKED_AT)) is None:
                raise NoPlot(given, Unfit.OTHER)
    except FileNotFoundError:
        pass
    except OSError as failure:
        raise NoPlot(given, failure.strerror or str(failure)) from None
    return path


def _guard(desk: Desk, path: Path, given: str) -> None:
    if ".git" in {part.casefold() for part in path.parts}:
        raise NotAllowed(desk.actor.name, f"write {given}, which is git's", "nobody")
    if desk.leads_into_protected(given):
        raise NotAllowed(desk.actor.name, f"write {given}, which is protected", "nobody")
    root = Path(desk.vault.root).resolve()
    if not path.is_relative_to(root):
        return
    name = path.relative_to(root).as_posix()
    if not desk.actor.is_person and not name.startswith(_home(desk)):
        raise NotAllowed(desk.actor.name, f"write {given}, which is not in its home", "a person")


def _home(desk: Desk) -> str:
    """The folder of the acting agent's own notes."""
    name = desk.actor.name
    block = desk.agent(name).block
    return str(block.get("home") or f"{desk.roster.pages_folder}/Home/{name}").rstrip("/") + "/"
