"""A vault with a past of every kind, made once by the product itself; each test gets a copy."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.audit.past import make_past
from tests.harbor import Harbor
from tests.vaults import folder_in_memory


@pytest.fixture(scope="session")
def past(isolation: None) -> Iterator[Path]:
    """The folder of the vault that nobody writes to."""
    del isolation
    with folder_in_memory() as folder:
        yield make_past(folder).root


@pytest.fixture
def vault(past: Path) -> Iterator[Harbor]:
    """A copy of it."""
    with folder_in_memory() as folder:
        root = folder / "harbor"
        shutil.copytree(past, root, symlinks=True)
        yield Harbor(root)


@pytest.fixture
def other(vault: Harbor) -> Iterator[Harbor]:
    """A second clone, of another person's."""
    with folder_in_memory() as folder:
        vault.git("clone", "-q", str(vault.root), str(folder / "clone"))
        clone = Harbor(folder / "clone")
        clone.git("config", "user.name", "Kim")
        clone.git("config", "user.email", "kim@example.org")
        clone.environment["ORGVAULT_OPERATOR"] = "sam"  # Kim's machine runs what Sam has set up
        yield clone
