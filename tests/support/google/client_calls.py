"""Calls of the client that the tests of Google share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from components.google.client import GoogleClient
from components.google.settings import RequestSettings
from components.language.google import GoogleSentiment
from components.vision.google import GoogleVision
from tests.support.google.fake_google import Reply

QUICK = RequestSettings(at_once=4, timeout=5.0, retries=3, backoff=0.01)


def sentiment(asking: RequestSettings = QUICK, folder: Path | None = None) -> GoogleSentiment:
    return GoogleSentiment(GoogleClient(asking, folder), "en")


def vision(asking: RequestSettings = QUICK, folder: Path | None = None) -> GoogleVision:
    return GoogleVision(GoogleClient(asking, folder))


def ask(method: Any, payloads: Sequence[Any]) -> dict[str, Any]:
    return dict(method.ask_many((str(number), payload) for number, payload in enumerate(payloads)))


def fail_first(times: int, reply: Reply) -> Callable[[int, str, Any], Reply | None]:
    return lambda number, path, body: reply if number < times else None


def texts(number: int) -> list[str]:
    return [f"Text number {each}." for each in range(number)]
