"""Servers, and small projects whose outputs are in their bucket."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.core.object_store import ObjectStore
from tests.support.storage.projects import settings
from tests.support.storage.server import S3Server, serving


@pytest.fixture(scope="module")
def _shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with serving(tmp_path_factory.mktemp("server")) as started:
        yield started


@pytest.fixture
def server(_shared: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """The module's server, with a prefix of the test's own, and credentials for this process and those it starts."""
    _shared.prefix = f"team-{uuid.uuid4().hex[:8]}"
    for name, value in _shared.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    if _shared.process is None:
        _shared.start()
    yield _shared


@pytest.fixture
def store(server: S3Server, tmp_path: Path) -> ObjectStore:
    return ObjectStore(settings(server), tmp_path / "objects")
