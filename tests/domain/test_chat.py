"""The group chat: whom a text tags, how it is cleaned, and what State shows of it."""

from dataclasses import replace

import pytest

from orgvault.domain.chat import Said, clean, history, order, tags
from orgvault.domain.roster import Agent, Roster


def roster(router: str = "recent", **names: str) -> Roster:
    agents = {key: Agent(id=key, name=name) for key, name in names.items()}
    return Roster(
        guild="Harbor", owner="sam", operators=(), agents=agents, protected=(), router=router
    )


HARBOR = roster(nova="Nova", prime="Nova Prime", rene="René")


@pytest.mark.parametrize(
    ("text", "tagged"),
    [
        ("@nova look", ("nova",)),
        ("@NOVA, and @Nova again.", ("nova",)),
        ("@nova prime: look", ("prime",)),
        ("@Nova  Prime's feed", ("prime",)),
        ("@nova-2 is nobody", ()),
        ("@novae is nobody", ()),
        ("sam@nova.example", ()),
        ("@@nova", ()),
        ("(@rene) @nova", ("rene", "nova")),
        ("@Rene\u0301", ("rene",)),
        ("@operator and @User", ("operator", "user")),
        ("nova", ()),
    ],
)
def test_tags_are_ids_and_names_as_whole_words(text: str, tagged: tuple[str, ...]) -> None:
    assert tags(text, HARBOR) == tagged


def test_a_guild_without_agents_still_tags_people() -> None:
    assert tags("@user @nova", roster()) == ("user",)


def test_control_characters_go_and_lines_stay() -> None:
    assert clean(" a\r\nb\rc\td\x1b[31m\x00\x9b\u2028e \n") == "a\nb\nc\td[31m\ne"


def said(seq: int, text: str, by: str = "sam") -> Said:
    at = f"2026-11-20T09:{seq:02d}:00Z"
    return Said(id=f"m-{seq}", seq=seq, at=at, sent_by=by, text=text)


def test_recent_is_the_last_ones_with_the_names_of_who_wrote_them() -> None:
    chat = [said(one, f"text {one}", by="nova") for one in range(1, 21)]
    shown = history(chat, HARBOR, "", 10)
    assert [one["seq"] for one in shown] == list(range(11, 21))
    assert shown[-1] == {
        "seq": 20, "sentBy": "Nova", "at": "2026-11-20T09:20:00Z", "text": "text 20",
    }  # fmt: skip
    assert history([], HARBOR, "", 10) == ()


def test_relevant_keeps_the_latest_and_what_fits_in_time_order() -> None:
    chat = [said(one, f"about nothing {one}") for one in range(1, 41)]
    chat[2] = said(3, "The site generator drops the dates of the feed")
    chat[-1] = said(40, "Lunch is ready")
    shown = history(chat, roster("relevant", nova="Nova"), "Repairs the site generator", 10)
    seqs = [one["seq"] for one in shown]
    assert len(seqs) == 10
    assert seqs == sorted(seqs)
    assert {3, 40} <= set(seqs)


def test_relevant_fills_up_with_the_newest() -> None:
    chat = [said(one, "zzz") for one in range(1, 41)]
    shown = history(chat, roster("relevant"), "", 10)
    assert 40 in [one["seq"] for one in shown]
    assert len(shown) == 10


def test_messages_are_ordered_by_number_then_time_then_id() -> None:
    first, second = said(1, "a"), said(2, "b")
    twice = [replace(second, id="m-1"), replace(second, id="m-2")]
    later = replace(second, id="m-0", at="2026-11-20T09:14:04Z")
    told = sorted([later, *reversed(twice), first], key=order)
    assert told == [first, *twice, later]
