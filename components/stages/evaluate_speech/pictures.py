"""A recording as a picture: its waveform as an SVG path, its spectrogram as a PNG; the same scales for every recording.

Not matplotlib's figures: labels that are the page's keep their size on a narrow screen and its colours in the dark.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.execution.shard_worker import Task
from components.stages.evaluate_speech.recognition import read

if TYPE_CHECKING:
    from components.speech.audio.files import Samples

SPECTROGRAM_FILE, WAVEFORM_FILE = "spectrogram.png", "waveform.txt"
COLUMNS = 480
"""Columns of both pictures at most; a spectrogram has one for each 5 ms where that is fewer."""
WINDOW, HOP = 512, 80
"""Samples of a spectrogram's frame (32 ms, 31.25 Hz a row), and the least from one to the next (5 ms)."""
ROWS = 128
"""Rows of the picture, 62.5 Hz each: 0 to 8 kHz from below."""
FLOOR_DB, CEILING_DB = -95.0, -25.0
"""dB of full scale that the colours run between: fixed, so that a louder recording looks louder."""
COLOURS = "magma"
"""Matplotlib's name of a scale that is even to the eye, also without colour."""


def picture_job(spec: Any, task: Task, folder: Path) -> None:
    """Draw one recording into ``folder``; nothing where it cannot be read or holds nothing."""
    try:
        samples = read(task, spec["media"])
    except ValueError:
        return
    if len(samples):
        (folder / WAVEFORM_FILE).write_text(waveform(samples))
        (folder / SPECTROGRAM_FILE).write_bytes(spectrogram(samples))


def waveform(samples: Samples) -> str:
    """The path of a waveform's outline in a box of 480 by 200, full scale from top to bottom."""
    import numpy as np

    parts = np.array_split(samples, min(COLUMNS, len(samples)))
    step = COLUMNS / len(parts)
    # Half a unit to each side, so that silence is a line.
    above = [(round(n * step, 1), round(99.5 - 100.0 * float(part.max()), 1)) for n, part in enumerate(parts)]
    below = [(round(n * step, 1), round(100.5 - 100.0 * float(part.min()), 1)) for n, part in enumerate(parts)]
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in above + below[::-1]) + "Z"


def spectrogram(samples: Samples) -> bytes:
    """A PNG of 128 rows (0 Hz at the bottom, 8 kHz at the top) and up to 480 columns; power by colour, linear in dB."""
    import numpy as np
    from matplotlib import colormaps
    from PIL import Image

    hop = max(HOP, -(-len(samples) // COLUMNS))
    padded = np.pad(samples.astype(np.float64), (WINDOW // 2, WINDOW // 2 + hop))
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::hop][: -(-len(samples) // hop)]
    window = np.hanning(WINDOW + 1)[:-1]
    # A full-scale sine has 0 dB in its row.
    power = np.square(np.abs(np.fft.rfft(frames * window, axis=1)) * 2.0 / window.sum())[:, 1:]
    power = power.reshape(len(frames), ROWS, -1).max(axis=2)
    share = (10.0 * np.log10(np.maximum(power, 1e-12)) - FLOOR_DB) / (CEILING_DB - FLOOR_DB)
    image = Image.fromarray(np.round(255.0 * np.clip(share, 0.0, 1.0)).astype(np.uint8).T[::-1].copy()).convert("P")
    image.putpalette((colormaps[COLOURS](np.arange(256), bytes=True)[:, :3]).astype(np.uint8).tobytes())
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()
