"""Waveforms as SVG paths and spectrograms as PNG, with equal scales for all recordings.

They are not Matplotlib figures, so that labels keep their size on narrow screens and follow the page's dark mode.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from components.execution.shard_worker import Task
from components.stages.evaluate_speech.recognition import read_samples

if TYPE_CHECKING:
    from components.speech.audio.files import Samples

SPECTROGRAM_FILE, WAVEFORM_FILE = "spectrogram.png", "waveform.txt"
COLUMNS = 480
"""Maximal number of columns of both images; a spectrogram has at most one per 5 ms."""
WINDOW, HOP = 512, 80
"""Samples of a spectrogram's frame (32 ms, 31.25 Hz per row), and the minimal hop between frames (5 ms)."""
ROWS = 128
"""Rows of the image, 62.5 Hz each: 0 Hz at the bottom, 8 kHz at the top."""
FLOOR_DB, CEILING_DB = -95.0, -25.0
"""Range of the colour scale in dB of full scale; fixed, so that recordings can be compared."""
COLOURS = "magma"
"""Matplotlib's name of a perceptually uniform colour map, also in grey."""


def image_job(spec: Any, task: Task, folder: Path) -> None:
    """Write the images of one recording; nothing if it is empty or cannot be decoded."""
    try:
        samples = read_samples(task, spec["media"])
    except ValueError:
        return
    if len(samples):
        (folder / WAVEFORM_FILE).write_text(waveform(samples))
        (folder / SPECTROGRAM_FILE).write_bytes(spectrogram(samples))


def waveform(samples: Samples) -> str:
    """Return the SVG path of a waveform's outline in a box of 480 by 200, full scale from top to bottom."""
    parts = np.array_split(samples, min(COLUMNS, len(samples)))
    step = COLUMNS / len(parts)
    # Half a unit to each side, so that silence is a visible line.
    above = [(round(n * step, 1), round(99.5 - 100.0 * float(part.max()), 1)) for n, part in enumerate(parts)]
    below = [(round(n * step, 1), round(100.5 - 100.0 * float(part.min()), 1)) for n, part in enumerate(parts)]
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in above + below[::-1]) + "Z"


def spectrogram(samples: Samples) -> bytes:
    """Return a spectrogram as PNG with 128 rows (0 Hz at the bottom) and up to 480 columns; colour is linear in dB."""
    # Imported here: matplotlib is slow to load.
    from matplotlib import colormaps

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
