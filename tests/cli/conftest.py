"""A harbor for every test."""

from pathlib import Path

import pytest

from tests.harbor import Harbor, make_harbor


@pytest.fixture
def harbor(tmp_path: Path) -> Harbor:
    """A copy of the fixture vault."""
    return make_harbor(tmp_path)
