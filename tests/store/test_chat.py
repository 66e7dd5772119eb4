"""The group chat's log: numbers, what clones merge, and that only its end is read."""

import json
from collections.abc import Sequence

from orgvault.domain.chat import Said
from orgvault.store.chat import Chat
from orgvault.store.entry import Row
from orgvault.store.logs import encode
from tests.vaults import AT, NOVA, Home, message


def _said(seq: int, key: str, at: str = AT, text: str = "words") -> Said:
    return Said(id=f"m-{key}", seq=seq, at=at, sent_by="nova", text=text)


def _row(said: Said) -> Row:
    return Row("chat", "guild", said.id, encode(said))


def _write(home: Home, said: Sequence[Said]) -> None:
    home.fresh().record(message("chat(nova): post"), NOVA, [_row(one) for one in said], AT)


def test_numbers_are_given_in_order_under_the_lock(home: Home) -> None:
    for key in ("a", "b", "c"):
        vault = home.fresh()

        def make(key: str = key, vault: object = vault) -> list[Row]:
            return [_row(_said(Chat(vault).next_seq(), key))]  # type: ignore[arg-type]

        vault.record_in_order(message("chat(nova): post"), NOVA, make, AT)
    assert [(one.seq, one.id) for one in Chat(home.fresh()).latest(9)] == [
        (1, "m-a"), (2, "m-b"), (3, "m-c"),
    ]  # fmt: skip
    assert Chat(home.fresh()).next_seq() == 4


def test_an_empty_chat(home: Home) -> None:
    chat = Chat(home.fresh())
    assert (chat.latest(5), chat.get(1), chat.next_seq()) == ([], None, 1)


def test_the_latest_up_to_a_number(home: Home) -> None:
    _write(home, [_said(one, f"k{one}") for one in range(1, 31)])
    chat = Chat(home.fresh())
    assert [one.seq for one in chat.latest(3)] == [28, 29, 30]
    assert [one.seq for one in chat.latest(3, up_to=12)] == [10, 11, 12]
    assert [one.seq for one in chat.latest(3, up_to=2)] == [1, 2]
    found = chat.get(7)
    assert found is not None
    assert found.id == "m-k7"
    assert chat.get(31) is None


def test_a_number_that_two_clones_gave_stands_twice_in_time_order(home: Home) -> None:
    _write(home, [_said(1, "a"), _said(2, "late", "2026-11-20T12:00:00Z")])
    segment = next((home.root / ".agents/org/chat").glob("*.jsonl"))
    early = json.loads(encode(_said(2, "early", "2026-11-20T11:00:00Z")))
    other = segment.with_name(segment.name.replace(segment.name.split(".")[2], "0000"))
    other.write_text(json.dumps(early) + "\n", "utf-8")
    chat = Chat(home.fresh())
    assert [one.id for one in chat.latest(9)] == ["m-a", "m-early", "m-late"]
    first = chat.get(2)
    assert first is not None
    assert first.id == "m-early"
    assert chat.next_seq() == 3


def test_the_newest_messages_stand_before_many_of_another_clone(home: Home) -> None:
    _write(home, [_said(one, f"a{one}") for one in range(1, 452)])
    last = max((home.root / ".agents/org/chat").glob("*.jsonl"))
    theirs = "".join(encode(_said(one, f"b{one}")) + "\n" for one in range(2, 302))
    last.write_text(last.read_text("utf-8") + theirs, "utf-8")
    chat = Chat(home.fresh())
    assert [one.seq for one in chat.latest(3)] == [449, 450, 451]
    assert [one.id for one in chat.latest(2, up_to=301)] == ["m-a301", "m-b301"]
    assert chat.next_seq() == 452
    found = chat.get(450)
    assert found is not None
    assert found.id == "m-a450"


def test_only_the_end_of_a_long_chat_is_read(home: Home) -> None:
    _write(home, [_said(one, f"k{one}", text="x" * 7000) for one in range(1, 301)])
    first, *_ = sorted((home.root / ".agents/org/chat").glob("*.jsonl"))
    first.unlink()
    first.mkdir()  # whoever reads it fails
    chat = Chat(home.fresh())
    assert [one.seq for one in chat.latest(2)] == [299, 300]
    assert chat.next_seq() == 301


def test_a_row_that_cannot_be_read_hides_no_other(home: Home) -> None:
    _write(home, [_said(1, "a"), _said(2, "b")])
    segment = next((home.root / ".agents/org/chat").glob("*.jsonl"))
    segment.write_bytes(segment.read_bytes() + b"<<<<<<< ours\n")
    assert [one.seq for one in Chat(home.fresh()).latest(9)] == [1, 2]
