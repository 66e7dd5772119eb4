"""What a person would call a command by."""

import pytest

from orgvault.domain.command_names import names


@pytest.mark.parametrize(
    ("command", "called"),
    [
        ("cd /x && FOO=1 uv run --quiet pytest a.py -x 2>&1 | tail -5", ("uv run pytest",)),
        ("python3 -m pytest -q", ("python3 -m pytest",)),
        ("/v/bin/python scripts/build.py --x", ("python build.py",)),
        ("git -C /x commit -m 'a && b'", ("git commit",)),
        ("sudo timeout 10 ./deploy.sh", ("deploy.sh",)),
        ("docker compose -f a.yml up -d", ("docker compose up",)),
        ("cd foo", ("cd",)),
        ("make; make test", ("make", "make test")),
        ("while true; do x; done", ()),
        ("python - <<'E'\nimport os && rm\nE", ("python",)),
        ("", ()),
        ("'", ()),
    ],
)
def test_a_command_is_called_by_its_program(command: str, called: tuple[str, ...]) -> None:
    assert names(command) == called


@pytest.mark.parametrize(
    ("command", "called"),
    [
        ('npm run "Build It"', "npm run"),
        ("npm run 3x", "npm run"),
        ("cargo --manifest-path site/Cargo.toml test", "cargo test"),
    ],
)
def test_arguments_and_the_values_of_options_are_no_part_of_the_name(
    command: str, called: str
) -> None:
    assert names(command) == (called,)
