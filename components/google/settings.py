"""Settings of requests to Google and its prices: ``params.yaml:google``. Neither changes results."""

from __future__ import annotations

from pathlib import Path

from components.core.params import Settings, parse_settings, read_params_file

USAGE = "google"
"""Folder of a stage's scratch for usage counts."""


class Asking(Settings):
    """How Google is asked; it never changes what comes out."""

    at_once: int
    """Requests of one worker at a time."""
    timeout: float
    """s that a request may wait for the service's next bytes."""
    retries: int
    """How often a request is made again."""
    backoff: float
    """s before the first of them; doubled each time."""


class Prices(Settings):
    """US dollars for 1,000 units of each feature."""

    syntax: float
    """A unit is 1,000 characters of a text, begun ones counted whole."""
    entities: float
    """As syntax."""
    sentiment: float
    """As syntax."""
    moderation: float
    """A unit is 100 characters of a text, begun ones counted whole."""
    label_detection: float
    """A unit is a picture."""
    safe_search_detection: float
    """A unit is a picture."""
    speech_wavenet: float
    """A unit is a character of a text spoken by a WaveNet voice."""


class GoogleParams(Settings):
    """``params.yaml:google``: how Google is asked and what it takes for it; never changes what comes out."""

    asking: Asking
    prices: Prices


def google_params(root: Path) -> GoogleParams:
    """Return the settings ``params.yaml:google``; raise HearsightError when they are invalid."""
    path = root / "params.yaml"
    settings = parse_settings(GoogleParams, read_params_file(path).get("google"), f"{path}: google")
    assert isinstance(settings, GoogleParams)
    return settings
