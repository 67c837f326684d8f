"""Rating stores in both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from components.ratings.database import METADATA, Database
from tests.support.ratings.postgres import postgres


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a PostgreSQL database of this session."""
    with postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ratings.sqlite'}"
    url: str = request.getfixturevalue("postgres_url")
    database = Database(url)
    with database.writing() as connection:
        for table in METADATA.sorted_tables:
            connection.execute(text(f"DROP TABLE {table.name} CASCADE"))
    database.close()
    return url
