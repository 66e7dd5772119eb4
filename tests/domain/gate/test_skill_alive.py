"""Rule 5, name by name: every element, query, scheme and mark that would be more than text."""

from orgvault.domain.proposal import Accepted, Refusal, Rule
from tests.domain.gate.conftest import BUILD, SKILL, Gate

LINK = "a link out of the agent's knowledge"
SCRIPT = "a script or a query"
ELEMENTS = (
    "script style iframe frame frameset object embed applet portal template img image svg math "
    "video audio source track picture link meta base form a area"
)
QUERIES = (
    "dataview dataviewjs query tasks templater js-engine base bases meta-bind meta-bind-js-view "
    "button dynamic-embed embed run-python run-js"
)
SCHEMES = "mailto obsidian file tel sms blob ssh git"
ATTRIBUTES = "onclick onx src href style action"


def found(gate: Gate, text: str, old: str = "") -> str:
    """What the added text is to the gate; empty when it is only text."""
    answer = gate.change(SKILL, f"{BUILD}{old}{text}\n", BUILD + old)
    if isinstance(answer, Accepted):
        return ""
    assert answer.rule is Rule.SKILL, answer
    return answer.why


def test_every_element_that_loads_runs_or_leads_away(gate: Gate) -> None:
    for name in ELEMENTS.split():
        for text in (f"<{name}>", f"</{name.upper()} >", f"x <{name}/"):
            what = "a section tag" if name == "embed" else SCRIPT  # it is a part of a prompt too
            assert found(gate, text).startswith(f"it adds {what}: `<"), text
    for text in ("<scripts>", "<a-b>", "<imgs>", "< b>", "a < a"):
        assert found(gate, text) == "", text


def test_every_attribute_that_does(gate: Gate) -> None:
    for name in ATTRIBUTES.split():
        for text in (f"<p {name}=x>", f"</p\t{name} =x>", f"<p a='b'{name}=x>", f"<p/{name}=x>",
                     f'<q "{name}=x>', f"<P {name.upper()}=x>"):  # fmt: skip
            assert found(gate, text).startswith(f"it adds {SCRIPT}: `<"), text
    for text in ("<p class=x>", "<p xsrc=x>", "<p src>", "p src=x", "<1 src=x>", "<p> src=x",
                 "<p on=x>"):  # fmt: skip
        assert found(gate, text) == "", text
    assert found(gate, f"<p {'x' * 499} src=x>").startswith(f"it adds {SCRIPT}")
    assert found(gate, f"<p{'x' * 501} src=x>") == ""


def test_every_query(gate: Gate) -> None:
    for name in QUERIES.split():
        for text in (f"```{name}", f"~~~~ {name.upper()}", f"```{{{name}}}", f"``` {{.{name}",
                     f"> ````{name} x"):  # fmt: skip
            assert found(gate, text).startswith(f"it adds {SCRIPT}: `"), text
    for text in ("``dataview", "~~dataview", "```dataviews", "```tasksx", "```sh", "```run",
                 "```xquery"):  # fmt: skip
        assert found(gate, f"{text}\n{text[:3]}") == "", text
    for text in ("`=x`", "`= x`", "`$=x`", "` $= x`", f"`={'x' * 80}`"):
        assert found(gate, text).startswith(f"it adds {SCRIPT}: `"), text
    for text in ("`x=1`", "`$x = 1`", "`+= 1`"):
        assert found(gate, text) == "", text


def test_every_script_that_an_address_is(gate: Gate) -> None:
    for text in ("javascript:x", "LiveScript:x", "vbscript: x", "data:text/html", "data: image/x"):
        assert found(gate, f"See {text}").startswith(f"it adds {SCRIPT}: `"), text
    for text in ("script: x", "data: text", "metadata:text/html", "java script"):
        assert found(gate, f"See {text}") == "", text


def test_every_scheme(gate: Gate) -> None:
    for name in SCHEMES.split():
        for text in (f"{name}:x", f"({name.upper()}:x)", f"-{name}:x.y"):
            assert found(gate, text).startswith(f"it adds {LINK}: `"), text
        for text in (f"{name}: x", f"x{name}:x", name):
            assert found(gate, text) == "", text
    for text in (
        "ftp://x",
        "x+y.z-1://x",
        "A://",
        f"{'a' * 31}://x",
        "-http://x",
        "6.http://x",
        "7http://x",
    ):
        assert found(gate, text).startswith(f"it adds {LINK}: `"), text
    for text in ("://x", "1://x", "http:/x", "e.g. a:b"):
        assert found(gate, text) == "", text
    for text in ("www.x", "see WWW.x.org", "(www.1"):
        assert found(gate, text).startswith(f"it adds {LINK}: `"), text
    for text in ("www. x", "awww.x", "www"):
        assert found(gate, text) == "", text


def test_an_address_ends_where_a_reader_ends_it(gate: Gate) -> None:
    for end in (" ", "<", ">", ")", "]"):
        for address in ("http://a.b/c", "www.a.b/c", "mailto:a.b"):
            assert found(gate, f"{address}{end}d") == f"it adds {LINK}: `{address}`", end


def test_an_address_of_mail_in_angle_brackets(gate: Gate) -> None:
    assert found(gate, "<sam@example.org>") == f"it adds {LINK}: `<sam@example.org>`"
    assert found(gate, f"<{'a' * 64}@{'b' * 255}>").startswith(f"it adds {LINK}")
    for text in ("sam@example.org", "<sam@>", "<@example.org>", "<sam@ example.org>",
                 f"<{'a' * 65}@b>", f"<x@{'b' * 256}>"):  # fmt: skip
        assert found(gate, text) == "", text


def test_every_mark_of_a_comment(gate: Gate) -> None:
    comment = "a comment, or takes the end of one away"
    for text in ("<!", "<!-- x -->", "<!x>", "%%", "<!--x--!>"):
        assert found(gate, text).startswith(f"it adds {comment}: `"), text
    for text in ("-->", "--!>", "% %", "< !", "->"):
        assert found(gate, text) == "", text
    assert found(gate, "a --!> b", "<!\n").startswith(f"it adds {comment}")


def test_every_embed(gate: Gate) -> None:
    for text in ("![[x]]", "![x](check-links.md)", "![x", "![[x", "![", f"![[{'x' * 100}]]"):
        assert found(gate, text).startswith("it adds an embed: `!["), text
    for text in ("! [x]", "!", "[!note]"):
        assert found(gate, text) == "", text
    assert found(gate, f"![{'x' * 100}").endswith("`![" + "x" * 58 + "`")


def test_labels_and_their_definitions(gate: Gate) -> None:
    for before in ("", " ", "> ", "- ", "* ", "+ ", "1. ", "123456789) ", "> - "):
        text = f"{before}[l]: /x"
        assert found(gate, text) == f"it adds {LINK}: `/x`", text
    for text in ("a [l]: /x", "[^l]: /x", "[l] : /x", "[]: /x", "1234567890. [l]: /x"):
        assert found(gate, text) == "", text
    assert found(gate, f"[{'l' * 999}]: /x") == f"it adds {LINK}: `/x`"
    assert found(gate, f"[{'l' * 1000}]: /x") == ""
    old = "[l m]: /x\n[a](/y) and [l m](/x)\n"
    for text in ("[l m]", "[L  m]", "[l\nm][]"):
        assert found(gate, text, old).startswith(f"it adds {LINK}: `"), text
    for text in ("[m]", "[^1]", "l m"):
        assert found(gate, text, old) == "", text


def test_a_link_that_is_written_as_a_link_only(gate: Gate) -> None:
    for text in ("[a] (/x)", "[a]x", "a](", "[ ] todo", "(a)[b]"):
        refusal = gate.change(SKILL, f"{BUILD}{text}\n", BUILD)
        assert isinstance(refusal, Refusal) == (text == "a]("), text
    for text, target in (("[a]( /x)", "/x"), ("[a](<b c>)", "b c"), ("[a](/x 'title')", "/x"),
                         ("[a](<b)", "b)"), ("[[a]](/x)", "[[a")):  # fmt: skip
        assert found(gate, text) == f"it adds {LINK}: `{target}`", text
