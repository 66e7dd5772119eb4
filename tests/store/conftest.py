"""What the tests of the store share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vaults import Home, folder_in_memory, make_vault


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder where fsync costs nothing, for tests that write much."""
    with folder_in_memory() as folder:
        yield folder


@pytest.fixture
def home(memory: Path) -> Home:
    """A vault at the top of a repository of its own."""
    return make_vault(memory / "vault")
