"""Settings of requests to Google and its prices: ``params.yaml:google``. Neither changes results."""

from __future__ import annotations

from pathlib import Path

from components.core.params import Settings, project_settings

USAGE = "google"
"""Folder of a stage's scratch for usage counts."""


class RequestSettings(Settings):
    """Settings of requests to Google; they do not affect results."""

    at_once: int = 4
    """Requests of one worker at a time. Ours."""
    timeout: float = 30.0
    """Read timeout of a request in seconds. Ours."""
    retries: int = 6
    """How often a request is made again. Ours."""
    backoff: float = 1.0
    """Seconds before the first retry, doubled each time. Ours: 63 s in total, since quotas are per minute."""


class Prices(Settings):
    """US dollars for 1,000 units of each feature."""

    syntax: float = 0.5
    """A unit is 1,000 characters of a text, rounded up."""
    entities: float = 1.0
    """As syntax."""
    sentiment: float = 1.0
    """As syntax."""
    moderation: float = 0.5
    """A unit is 100 characters of a text, begun ones counted whole."""
    label_detection: float = 1.5
    """A unit is an image."""
    safe_search_detection: float = 0.0
    """A unit is an image. Beside label detection, which is always asked too, it is free; alone 1.5."""
    speech_wavenet: float = 0.016
    """A unit is a character of a text spoken by a WaveNet voice. Published lists name 16 and 4 a million; the higher one keeps
    sums upper bounds."""


class GoogleParams(Settings):
    """``params.yaml:google``: request settings and prices; they do not affect results."""

    asking: RequestSettings = RequestSettings()
    """How it is asked."""
    prices: Prices = Prices()
    """What it takes."""


def google_params(root: Path) -> GoogleParams:
    """Return the settings ``params.yaml:google``, defaults included; raise HearsightError when they are invalid."""
    return project_settings(GoogleParams, root, "google")
