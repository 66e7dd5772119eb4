"""A secret taken out of bytes in every form in which it may be written."""

import pytest

from orgvault.domain.masking import SECRET
from orgvault.domain.redaction import forms, holds, redacted, why_not

VALUE = 'pa"ss\\wörd-1'


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (VALUE, ""),
        ("abc", "stands in ordinary words"),
        ("   abc        ", "stands in ordinary words"),
        (SECRET, "stands in the place of a secret"),
    ],
)
def test_what_would_tear_other_words_apart_is_not_looked_for(value: str, why: str) -> None:
    assert why in why_not(value)
    assert bool(why) == bool(why_not(value))


@pytest.mark.parametrize(
    "written",
    [VALUE, 'pa\\"ss\\\\wörd-1', 'pa\\"ss\\\\w\\u00f6rd-1'],
    ids=["plain", "json", "ascii"],
)
def test_every_form_goes_and_every_other_byte_stays(written: str) -> None:
    before, after = b'\xff {"key": "', b'"}\r\n\x00'
    content = before + written.encode() + after
    assert holds(content, forms(VALUE))
    assert redacted(content, forms(VALUE)) == before + SECRET.encode() + after
    assert not holds(before + after, forms(VALUE))
