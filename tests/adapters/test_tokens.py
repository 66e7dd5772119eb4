# ruff: noqa: RUF001 - texts of many scripts are counted
"""Counting tokens offline, with and without the encoder."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.adapters import tokens
from orgvault.adapters.tokens import ESTIMATE, PIECES, RANKS_SHA256, TokenCounter, estimate

COUNTER = TokenCounter({})
LINES = (
    "- (friction, seen 2×) I lose a turn whenever I run the site build before installing.\n",
    "- (lesson, seen 12×) Ich führe die Tests immer vor dem Push aus, außer freitags.\n",
    "- (lesson, seen 1×) Я всегда запускаю тесты перед отправкой изменений.\n",
    "- (lesson, seen 1×) 我总是在提交之前运行测试，因为构建很慢。\n",
    "- (lesson, seen 1×) من همیشه قبل از ارسال آزمون‌ها را اجرا می‌کنم.\n",
    "- (lesson, seen 1×) मैं हमेशा परीक्षण चलाता हूँ।\n",
    "- (lesson, seen 1×) 👩‍👩‍👧 🚀 are two signs.\n",
    '{"op": "add", "claim": null, "text": "I run `pytest -x`."}\n',
)


def key(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def test_counts_are_those_of_cl100k_base() -> None:
    """Figures that OpenAI's own tokenizer page and tiktoken's tests give."""
    assert COUNTER.count("hello world") == 2
    assert COUNTER.count("tiktoken is great!") == 6
    assert COUNTER.count("") == 0
    assert COUNTER.count("<|endoftext|>") == 7
    assert COUNTER.name == "cl100k_base"


def test_the_encoder_is_the_one_that_tiktoken_would_download() -> None:
    """The ranks and the division into pieces, against the two packages' own words."""
    ranks = tokens._installed_ranks()  # noqa: SLF001 - the place is what is tested
    assert ranks is not None
    assert sha256(ranks.read_bytes()).hexdigest() == RANKS_SHA256
    official = (ranks.parents[1] / "openai_public.py").read_text("utf-8")
    assert RANKS_SHA256 in official
    assert PIECES in official


@pytest.mark.parametrize("text", ["half \ud800 pair", "\x00", "a" * 200_000, "^" * 200_000])
def test_any_text_can_be_counted(text: str) -> None:
    assert COUNTER.count(text) > 0


def test_a_count_is_kept_by_the_hash_of_its_text() -> None:
    cache: dict[str, int] = {}
    counter = TokenCounter(cache)
    assert counter.count(LINES[0]) == 23
    assert cache == {key(LINES[0]): 23}
    cache[key("another text")] = 77
    assert counter.count("another text") == 77


def test_no_encoder_is_loaded_when_counts_are_cached() -> None:
    script = (
        "import sys\n"
        "from hashlib import sha256\n"
        "from orgvault.adapters.tokens import TokenCounter\n"
        "counter = TokenCounter({sha256(b'known').hexdigest(): 5})\n"
        "assert counter.count('known') == 5\n"
        "assert counter.name == 'cl100k_base'\n"
        "loaded = [one for one in sys.modules if one.startswith(('tiktoken', 'regex', 'base64'))]\n"
        "assert not loaded, loaded\n"
        "assert counter.count('unknown') == 1\n"
        "assert 'tiktoken' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("fault", ["missing", "wrong", "a folder"])
def test_tok_02_without_the_ranks_a_labelled_estimate(fault: str, tmp_path: Path) -> None:
    ranks = tmp_path / "cl100k_base.tiktoken"
    if fault == "wrong":
        ranks.write_bytes(b"IQ== 0\n")
    if fault == "a folder":
        ranks.mkdir()
    cache: dict[str, int] = {key("known"): 5}
    counter = TokenCounter(cache, ranks)
    assert (counter.count("known"), counter.name) == (5, "cl100k_base")
    assert counter.count(LINES[0]) == estimate(LINES[0])
    assert counter.name == ESTIMATE
    assert cache == {key("known"): 5}


def test_tok_02_counting_needs_no_network_and_no_cache_folder(tmp_path: Path) -> None:
    """The loader of tiktoken would download, or copy the ranks to a folder for all users."""
    script = (
        "import socket, tempfile\n"
        "def refused(*_): raise AssertionError('the network was asked')\n"
        "socket.socket = socket.getaddrinfo = refused\n"
        "from orgvault.adapters.tokens import TokenCounter\n"
        "counter = TokenCounter({})\n"
        "assert (counter.count('hello world'), counter.name) == (2, 'cl100k_base')\n"
    )
    environment = {"TMPDIR": str(tmp_path), "TIKTOKEN_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run(
        [sys.executable, "-c", script], check=True, timeout=60, env=environment,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("line", LINES)
def test_the_estimate_of_a_line_is_not_too_low_and_not_far_too_high(line: str) -> None:
    assert COUNTER.count(line) <= estimate(line) <= 2.6 * COUNTER.count(line)


@given(st.text(max_size=300))
def test_the_estimate_never_undercounts_badly(text: str) -> None:
    assert estimate(text) >= COUNTER.count(text) / 3 - 1
    assert estimate(text) <= len(text.encode())


@given(st.lists(st.sampled_from(LINES), max_size=20))
def test_estimates_of_lines_add_up_too(lines: list[str]) -> None:
    assert sum(map(estimate, lines)) == estimate("".join(lines))
