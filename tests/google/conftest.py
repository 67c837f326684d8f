"""Google's services on loopback, for this process and those it starts, with a key and no other credentials."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.google.fake_google import FakeGoogle


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGoogle]:
    with FakeGoogle().running() as server:
        monkeypatch.setenv("GOOGLE_API_KEY", "key-of-a-test")
        monkeypatch.setenv("GOOGLE_LANGUAGE_ENDPOINT", server.url)
        monkeypatch.setenv("GOOGLE_VISION_ENDPOINT", server.url)
        monkeypatch.setenv("GOOGLE_TEXTTOSPEECH_ENDPOINT", server.url)
        monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
        yield server
