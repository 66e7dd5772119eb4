"""Secrets go, and what only looks like one stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.masking import SECRET, mask, mask_values, mentions_protected

LETTERS = "q7Rk2Zp9Xw4Tn8Vb3Lm6"
# Each is put together here, so that no scanner takes this file for a leak.
SECRETS = [
    "AKIA" + "IOSFODNN7" + "EXAMPLE",
    "ghp_" + LETTERS + "aaaabbbbcccc1111",
    "github_pat_" + LETTERS + "_" + LETTERS,
    "glpat-" + LETTERS,
    "xoxb-123456789012-" + LETTERS,
    "sk_live_" + LETTERS,
    "AIza" + LETTERS + "abcdefghijklmno",
    "sk-proj-" + LETTERS + LETTERS,
    "sk-ant-api03-" + LETTERS + "-" + LETTERS,
    "npm_" + LETTERS + LETTERS[:16],
    "pypi-AgEIcHlwaS5vcmc" + LETTERS + LETTERS,
    "hf_" + LETTERS + LETTERS,
    "eyJhbGciOiJIUzI1" + ".eyJzdWIiOiIxMjM0" + "." + LETTERS,
    "SG." + LETTERS + "." + LETTERS + LETTERS,
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:8])
@pytest.mark.parametrize("around", ["{}", "key={}\n", 'curl -H "X: {}" x', '{{"a":"{}"}}', "({})."])
def test_a_secret_is_known_by_its_look(secret: str, around: str) -> None:
    masked, count = mask("before " + around.format(secret) + " after")
    assert secret not in masked
    assert SECRET in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")
    assert count == 1


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password=hunter22", "password=[secret]"),
        ("DB_PASSWORD=correcthorse", "DB_PASSWORD=[secret]"),
        ("passwd: 'tr0ub4dor&3'", "passwd: '[secret]'"),
        ('{"apiKey": "a1b2c3d4e5f6"}', '{"apiKey": "[secret]"}'),
        (r'{\"token\": \"a1b2c3d4e5f6\"}', r'{\"token\": \"[secret]\"}'),
        ("login --token a1b2c3d4e5f6 --now", "login --token [secret] --now"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MD", "aws_secret_access_key = [secret]"),
        ("Authorization: Bearer abcdef0123456789xyz", "Authorization: Bearer [secret]"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [secret]"),
        ("postgres://ada:pa55@db/x", "postgres://ada:[secret]@db/x"),
        ("https://hooks.slack.com/services/T0/B0/" + LETTERS, "https://hooks.slack.com/services/[secret]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nx", "[secret]\nx"),
        ("a\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb cut off", "a\n[secret]"),
        (f"a b\n{LETTERS}\n{LETTERS}=\n-----END PRIVATE KEY-----", "a b\n[secret]"),
    ],
)  # fmt: skip
def test_a_secret_is_known_by_what_stands_before_it(text: str, masked: str) -> None:
    assert mask(text) == (masked, 1)


@pytest.mark.parametrize(
    "text",
    [
        "commit 9f2c41aa9f2c41aa9f2c41aa9f2c41aa9f2c41aa",
        "3a1b0c9e-1111-2222-3333-444455556666",
        "sha256:" + "0f" * 32,
        "/usr/lib/python3.11/site-packages/secret_storage/token.py",
        "token: str",
        "password: Optional[str] = None",
        "password = get_password(user)",
        "api_key=os.environ['KEY']",
        "export TOKEN=$TOKEN",
        "--token <your token>",
        "max_tokens: 4096, input_tokens: 3173",
        "the secret of good tea",
        "the password reset page",
        "secret: /run/secrets/db_1",
        "https://user:$PASS@host/x",
        "git@github.com:ada/site.git",
        "sk-learn-and-other-nice-packages",
        "c-7f3k2q9d superseded c-1m8p0r4t",
        "password=[secret]",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask(text) == (text, 0)


@given(st.text(st.sampled_from("abAB019 -_=:.\"'@/\n") | st.characters(), max_size=300))
def test_masking_takes_any_text_and_is_done_at_once(text: str) -> None:
    masked, count = mask(text)
    assert (masked == text) is (count == 0)
    assert mask(masked) == (masked, 0)


def test_bound_values_go_wherever_they_stand_unless_they_are_short() -> None:
    values = ("hunter2", "correct horse", 'tr"ub\nle4', "correct horse battery")
    text = 'hunter2 a correct horse battery {"k": "tr\\"ub\\nle4"}'
    assert mask_values(text, values) == ('hunter2 a [secret] {"k": "[secret]"}', 2)


@pytest.mark.parametrize(
    "text",
    [
        "cat .env", "vi src/.env.local", '{"path": ".ENV"}', "source .envrc", ".git/config",
        "rm -r sub/.git", "CURRENT/plan.md", "current/plan.md", "cd CURRENT && ls", '"CURRENT"',
        "Areas/Finance/2026.md", "areas\\finance\\x", "ls ./Areas/Finance", "Areas//Finance/a",
        "see Areas/Health/x", "Cafe\u0301/notes.md",
    ],
)  # fmt: skip
def test_protected_places_are_recognised(text: str) -> None:
    assert mentions_protected(text, ("Areas/Health/", "Caf\u00e9/"))


@pytest.mark.parametrize(
    "text",
    [
        ".environment", "process.env.HOME", "import.meta.env", "the current state", "current",
        "concurrent/x", ".gitignore", ".github/workflows", "git clone https://h.io/a.git",
        "Areas/Financed", "my Areas/Health", "config.env", "CURRENT affairs", "",
    ],
)  # fmt: skip
def test_ordinary_words_are_no_places(text: str) -> None:
    assert not mentions_protected(text)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('API_KEY="/srv/app/key1.pem"', 'API_KEY="/srv/app/key1.pem"'),
        ("API_TOKEN=https://example.org/a1b2", "API_TOKEN=https://example.org/a1b2"),
        ("PASSWORD=12345678", "PASSWORD=[secret]"),
        ("TOKEN=1234567890123456", "TOKEN=1234567890123456"),
        ("The password is <your-password-1>.", "The password is <your-password-1>."),
        ("The password is /etc/pass1", "The password is /etc/pass1"),
        ("The password is tr0ub4dor&3", "The password is [secret]"),
    ],
)
def test_places_numbers_and_stand_ins_are_told_apart(text: str, masked: str) -> None:
    assert mask(text) == (masked, int(text != masked))


def test_a_place_of_nothing_is_nowhere_and_one_of_small_letters_needs_its_slash() -> None:
    assert not mentions_protected("all / of it // x", ("/",))
    assert not mentions_protected('ls "journal" and cd journal', ("journal/",))
    assert mentions_protected('ls "Journal" and more', ("Journal/",))
    assert mentions_protected("cat journal/x", ("journal/",))
