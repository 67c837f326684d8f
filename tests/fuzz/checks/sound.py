"""Checks of audio files."""

from __future__ import annotations

from components.core.errors import HearsightError
from tests.fuzz.checks.common import storable


def sound(data: bytes) -> None:
    """Check that any file yields mono samples in -1..1 at 16 kHz, or a one-line error."""
    import numpy as np

    from components.speech.audio.files import read_sound

    try:
        result = read_sound(data, "input")
    except HearsightError as error:
        storable(str(error))
        return
    assert result.samples.dtype == np.float32 and result.samples.ndim == 1 and len(result.samples)
    assert np.isfinite(result.samples).all() and np.abs(result.samples).max() <= 1.0
    assert result.rate > 0 and result.channels > 0 and result.gain <= 0 and result.over >= 0
    storable(list(result.warnings))
