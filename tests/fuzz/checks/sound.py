"""Checks of audio files."""

from __future__ import annotations

from components.core.errors import HearsightError
from tests.fuzz.checks.common import storable


def sound(data: bytes) -> None:
    """Check that any file yields mono samples in -1..1 at 16 kHz, or a one-line error."""
    import numpy as np

    from components.speech.audio.files import read_sound

    try:
        found = read_sound(data, "input")
    except HearsightError as error:
        storable(str(error))
        return
    assert found.samples.dtype == np.float32 and found.samples.ndim == 1 and len(found.samples)
    assert np.isfinite(found.samples).all() and np.abs(found.samples).max() <= 1.0
    assert found.rate > 0 and found.channels > 0 and found.gain <= 0 and found.over >= 0
    storable(list(found.warnings))
