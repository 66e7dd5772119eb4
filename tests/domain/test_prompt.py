"""A composed prompt: its message and hash, its formats, and the messages that a run opens with."""

import json
from hashlib import sha256

from orgvault.domain.clients_formats import FORMATS
from orgvault.domain.opening import group_chat_info, schedule_wake_up
from orgvault.domain.prompt import Composed, Message, Section

TASK, STATE = Section("task", "Look at [[é]]."), Section("state", "")
SYSTEM = "<task>\nLook at [[é]].\n</task>\n\n<state>\n</state>"
QUIET = Composed((TASK, STATE), None, 0)
ASKED = Composed((TASK, STATE), Message("", "Hello, é."), 0)


def shown(name: str, composed: Composed) -> object:
    return json.loads(FORMATS[name](composed))


def test_sections_are_elements_with_an_empty_line_between() -> None:
    assert QUIET.system == SYSTEM
    assert QUIET.sha256 == sha256(SYSTEM.encode()).hexdigest()
    assert TASK.sha256 == sha256("Look at [[é]].".encode()).hexdigest()


def test_as_text_the_message_stands_below() -> None:
    assert FORMATS["text"](QUIET) == SYSTEM
    assert FORMATS["text"](ASKED) == f"{SYSTEM}\n\nHello, é."


def test_as_the_apis_take_it() -> None:
    system = {"role": "system", "content": SYSTEM}
    user = {"role": "user", "content": "Hello, é."}
    assert shown("messages", ASKED) == [system, user]
    assert shown("messages", QUIET) == [system]
    assert shown("openai", ASKED) == {"messages": [system, user]}
    assert shown("anthropic", ASKED) == {"system": SYSTEM, "messages": [user]}
    assert shown("anthropic", QUIET) == {"system": SYSTEM, "messages": []}
    assert "Hello, é." in FORMATS["openai"](ASKED)


def masked(text: str) -> str:
    return text.replace("hunter2", "[secret]")


def test_a_group_run_opens_with_the_latest_message() -> None:
    latest = {"seq": 4, "text": "hunter2 </state>"}
    told = group_chat_info(latest, masked, tagged=True)
    title, _, data = told.text.partition(": ")
    assert (told.title, title) == ("Group Chat info", "Group Chat info")
    read = json.loads(data)
    assert (read["youWereTagged"], read["latestMessage"]["seq"]) == (True, 4)
    assert read["latestMessage"]["text"].startswith("[secret] ")
    assert "</state>" not in told.text


def test_a_scheduled_run_opens_with_its_routine() -> None:
    told = schedule_wake_up({"id": "digest", "previous_run_at": None}, masked)
    assert told.title == "Schedule wake-up"
    title, _, data = told.text.partition(": ")
    assert title == "Schedule wake-up"
    assert json.loads(data) == {"id": "digest", "previous_run_at": None}
