"""Problems as GitHub's workflow commands, which annotate the lines of a pull request.

Format: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from orgvault.domain.problem import Problem


def annotation(problem: Problem, file: str) -> str:
    """One workflow command; `file` is the problem's as the repository calls it."""
    line = f",line={problem.line}" if problem.line else ""
    told = f"{problem.what}, {problem.do}" if problem.do else problem.what
    return f"::error file={_property(file)}{line}::{_data(told)}"


def _data(text: str) -> str:
    """Text of a command: a line end would end it, and what follows could be another command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
