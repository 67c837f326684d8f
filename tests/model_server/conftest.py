"""The faulty server, for every test of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.model_server.chat_server import ChatServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.delenv("MODEL_SERVER_KEY", raising=False)
    with ChatServer().running() as running:
        yield running
