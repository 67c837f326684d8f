"""A voice and its engine, as the catalogue lists them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

SETUP = "make setup"
"""The command that installs voices which are packages of the lock."""


@dataclass(frozen=True)
class Voice:
    """One speaker, as ``synthesize.voices`` names it."""

    name: str
    engine: str
    """Key of ``engines.ENGINES``."""
    model: str
    """Package and version of engine and voice, or ``<name>-<number>`` for our own code: cached speech is keyed by it."""
    language: str
    """ISO 639-1."""
    sex: str
    """F or M, as listeners would say; empty for neither."""
    licence: str
    """SPDX, of the engine and the voice."""
    install: str = SETUP
    """The command that installs it."""
    speaker: str = ""
    """Name of the speaker in the engine."""
    level: float = 0.0
    """dB that bring its captions to a mean active level of -26 dBFS (``hearsight say`` prints the level)."""
    extra: bool = False
    """Optional: skipped with a message if not installed; other voices must be installed."""
    slow: bool = False
    """Takes about a second of CPU an utterance or more: left out of large sets (``synthesize.slow_utterances``)."""
    paid: bool = False
    """Spoken by a service over the network that charges for each answer."""


class Engine(Protocol):
    """A loaded speech engine. Only a host process loads one (``host``)."""

    keeps_state: bool
    """Whether earlier texts change the speech of later ones, so that each text needs a fork of its own."""

    def say(self, text: str, speaker: str) -> tuple[NDArray[Any], int]:
        """Return the speech, mono, int16 or float32 in -1..1, and its rate in Hz; no samples when it cannot be spoken."""


class EngineEntry(NamedTuple):
    """What an engine module registers."""

    load: Callable[[], Engine]
    is_installed: Callable[[], bool]
    """Whether its files are on this machine; loads nothing."""
    voices: tuple[Voice, ...]
