"""A problem is one line, whatever the file is called."""

from orgvault.domain.audit.finding import Note, Report, Rule
from orgvault.domain.problem import Problem, on_one_line


def test_a_line_break_in_a_name_breaks_no_line() -> None:
    assert str(Problem("a\nb.md", 3, "odd", "mend it")) == "a\\nb.md:3: odd, mend it"
    assert str(Problem("a\u2028b.md", 0, "odd")) == "a\\u2028b.md: odd"
    assert on_one_line("Tide, ebb and flöd 👩‍👧.md") == "Tide, ebb and flöd 👩‍👧.md"


def test_a_finding_of_the_whole_repository_names_no_place() -> None:
    report = Report()
    report.find(Rule.SHALLOW, "", "at 0123456789")
    report.commit = "0123456789"
    report.find(Rule.LINK, "a\tb", "it leads away")
    first, second = map(str, report.findings)
    assert first.startswith("history-cut-off: at 0123456789 (")
    assert second.startswith("0123456789 a\\tb: link: it leads away (")
    assert str(Note("", "", "nothing is lost")) == "nothing is lost"
