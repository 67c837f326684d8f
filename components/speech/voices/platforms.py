"""Engines that some systems lack, and the voices that speak in place of theirs (docs/platforms.md).

Nothing changes on Linux, where every engine exists.
"""

from __future__ import annotations

import sys

SYSTEMS = {"nanotts": ("linux",), "flite": ("linux",)}
"""Engine → the values of ``sys.platform`` for which its package or library is built; other engines: all."""
SUBSTITUTES: dict[str, str] = {
    "nanotts-en-us": "espeak-en-us",
    "nanotts-fr-fr": "espeak-fr-f",
    "nanotts-es-es": "espeak-es-f",
}
"""Voice of such an engine → the voice that takes its place where the engine does not exist. Voices without one are left out."""


def is_built(engine: str) -> bool:
    """Return whether the engine exists for this system, installed or not."""
    return sys.platform in SYSTEMS.get(engine, (sys.platform,))
