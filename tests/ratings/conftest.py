"""The address of a rating store."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """The URL of an empty database."""
    return f"sqlite:///{tmp_path / 'ratings.sqlite'}"
