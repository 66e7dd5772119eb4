"""What can be wrong with a run, what wakes one, and what is asked of it."""

from collections.abc import Sequence

from orgvault.errors import OrgvaultError


class NoTemplate(OrgvaultError):
    """The template of the Guidelines is missing, or not to be read: `why` says so."""

    def __init__(self, path: str, why: str = "") -> None:
        do = f"restore {path} from git, or write the packaged one with `orgvault init`"
        super().__init__(f"system.md not found: {why or do}")


class UnknownMessage(OrgvaultError):
    """No message of the group chat has that number."""

    def __init__(self, seq: int) -> None:
        super().__init__(f"no message {seq} in the group chat: see `orgvault chat list`")


class UnknownRoutine(OrgvaultError):
    """No routine of that id, or its file cannot be read."""

    def __init__(self, given: str, why: str) -> None:
        super().__init__(f"no routine `{given}`: {why or 'see `orgvault routine list`'}")


class NotItsRoutine(OrgvaultError):
    """The routine wakes another agent."""

    def __init__(self, routine: str, given: str, agent: str) -> None:
        super().__init__(
            f"the routine `{routine}` wakes {agent}, not {given}: "
            f"run `orgvault run start {agent} --routine {routine}`"
        )


class NothingSaid(OrgvaultError):
    """An empty message."""

    def __init__(self) -> None:
        super().__init__("there is nothing in the message: give it as TEXT, or with `-` on stdin")


class NoRoutine(OrgvaultError):
    """What was given makes no routine: which part, and what would be right."""

    exit_code = 2

    def __init__(self, given: str, what: str, do: str) -> None:
        super().__init__(f"the routine `{given}` was not added: {what}, {do}")


class RoutineExists(OrgvaultError):
    """There is a routine of that id."""

    def __init__(self, given: str) -> None:
        super().__init__(f"there is a routine `{given}` already: choose another id")


class RoutineIs(OrgvaultError):
    """The routine is as it is wanted already."""

    def __init__(self, given: str, *, paused: bool) -> None:
        state = "paused already" if paused else "not paused"
        super().__init__(f"the routine `{given}` is {state}: there is nothing to do")


class RoutineAsWritten(OrgvaultError):
    """The file of a routine cannot be changed in its place."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} cannot be changed without touching the rest of it: write each key on a line "
            "of its own, with plain values"
        )


class RunsAlready(OrgvaultError):
    """A dispatcher is running the agent."""

    def __init__(self, agent: str) -> None:
        super().__init__(f"{agent} is running already: wait until its run has ended")


class NoSuchRun(OrgvaultError):
    """No run of that id was started by orgvault."""

    def __init__(self, given: str) -> None:
        super().__init__(f"no run `{given}` was started here: see `orgvault run list`")


class NoSuchSection(OrgvaultError):
    """The prompt of a run has no section of that name."""

    exit_code = 2

    def __init__(self, given: str, known: Sequence[str]) -> None:
        super().__init__(f"no section `{given}` in this prompt: it has {', '.join(known)}")


class TextGone(OrgvaultError):
    """A text of a run is nowhere to be found."""

    def __init__(self, run: str, name: str, path: str) -> None:
        super().__init__(
            f"the {name} of {run} cannot be shown: {path} is neither here nor in this clone's "
            "history: fetch the rest of it, or restore the file"
        )


class UnknownConnector(OrgvaultError):
    """No such connector, or one that cannot be used."""

    def __init__(self, name: str, known: Sequence[str], why: str = "") -> None:
        there = f"there are {', '.join(known)}" if known else "there are none"
        super().__init__(f"no connector `{name}` that can be used: {why or there}")
