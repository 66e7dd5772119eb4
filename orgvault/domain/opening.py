"""The message that a run opens with when the group chat or a routine has woken its agent."""

from collections.abc import Callable, Mapping
from typing import Any

from orgvault.domain.prompt import Message
from orgvault.domain.snapshot import harmless_json

GROUP_CHAT = "Group Chat info"
SCHEDULE = "Schedule wake-up"


def group_chat_info(
    latest: Mapping[str, Any], masked: Callable[[str], str], *, tagged: bool
) -> Message:
    """The message of a group run: the latest message, as State shows one, and who was tagged."""
    return _message(GROUP_CHAT, {"latestMessage": latest, "youWereTagged": tagged}, masked)


def schedule_wake_up(told: Mapping[str, Any], masked: Callable[[str], str]) -> Message:
    """The message of a scheduled run: `id`, `cron` or `window`, `instruction`, `previous_run_at`.

    `previous_run_at` is the instant of the routine's last run; null for its first.
    """
    return _message(SCHEDULE, told, masked)


def _message(title: str, told: Mapping[str, Any], masked: Callable[[str], str]) -> Message:
    text, _ = harmless_json(told, masked)
    return Message(title, f"{title}: {text}")
