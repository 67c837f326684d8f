"""The speech engines by name. To add one: a module with an ``ENGINE``, and a line here (docs/voices.md)."""

from __future__ import annotations

from components.speech.voices import engine_espeak, engine_flite, engine_hibari, engine_kokoro, engine_nanotts, engine_piper
from components.speech.voices.voice import EngineEntry

ENGINES: dict[str, EngineEntry] = {
    "hibari": engine_hibari.ENGINE,
    "nanotts": engine_nanotts.ENGINE,
    "flite": engine_flite.ENGINE,
    "piper": engine_piper.ENGINE,
    "kokoro": engine_kokoro.ENGINE,
    "espeak": engine_espeak.ENGINE,
}
