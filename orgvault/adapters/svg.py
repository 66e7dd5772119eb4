"""The few pieces of SVG that a chart is made of, as text; everything written is escaped."""

import re
from collections.abc import Iterable
from html import escape

from orgvault.values import dataclass

# What XML 1.0 cannot say in any form.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Size:
    """How large a picture is, in its own units."""

    width: float
    height: float


def picture(size: Size, title: str, about: str, style: str, parts: Iterable[str]) -> str:
    """A whole file; `title` and `about` are what is read aloud."""
    wide, high = number(size.width), number(size.height)
    size_said = f'viewBox="0 0 {wide} {high}" width="{wide}" height="{high}"'
    read_aloud = 'role="img" aria-labelledby="t d"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size_said} {read_aloud}>',
            f'<title id="t">{words(title)}</title>',
            f'<desc id="d">{words(about)}</desc>',
            f"<style>{style.strip()}</style>",
            *parts,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, content: str, kind: str = "") -> str:
    """Words; `y` is the line they stand on."""
    return f'<text x="{number(x)}" y="{number(y)}"{_class(kind)}>{words(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    at = zip(("x1", "y1", "x2", "y2"), (x1, y1, x2, y2), strict=True)
    return "<line " + " ".join(f'{name}="{number(n)}"' for name, n in at) + f"{_class(kind)}/>"


def rect(x: float, y: float, width: float, height: float, kind: str, round_by: float = 0) -> str:
    """A rectangle."""
    corners = f' rx="{number(round_by)}"' if round_by else ""
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" '
        f'height="{number(height)}"{corners}{_class(kind)}/>'
    )


def circle(x: float, y: float, radius: float, kind: str) -> str:
    """A circle."""
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"{_class(kind)}/>'


def path(drawn: str, kind: str) -> str:
    """A path; nothing when there is none."""
    return f'<path d="{drawn}"{_class(kind)}/>' if drawn else ""


def group(about: str, content: str) -> str:
    """Pieces with words that show when one points at them."""
    return f"<g><title>{words(about)}</title>{content}</g>"


def number(value: float) -> str:
    """A coordinate, to a tenth."""
    tenths = round(value * 10)
    return f"{tenths / 10:.1f}".removesuffix(".0")


def words(content: str) -> str:
    """A text as XML holds it."""
    return escape(_NO_XML.sub("", content))


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
