"""MFCCs beside librosa's, per core: ``python -m benchmarks.mfcc``.

Input: 48 clips of 3.5 s and of 8 s of a voice, the two durations of CSC, at equal settings (the defaults of
``components.models.mfcc``). librosa gets them as one batch, its fastest way, and clip by clip, as it is mostly called; it is
given single precision, its default (its FFT is double then too). Both in one process and one thread, in turns, CPU time; a
figure is the ratio of medians.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from benchmarks.harness import beside, medians, show, timed_in_turns
from components.models.mfcc import MFCC, RATE_HZ
from tests.support.models.mfcc_librosa import DEFAULT, theirs

CLIPS = 48
SECONDS = (3.5, 8.0)


def speech(seconds: float) -> np.ndarray:
    """Clips × samples, float32: stretches of one voice's speech, each from another place of it."""
    from py_nanotts import NanoTTS

    text = "A child in a red coat feeds the ducks by the old stone bridge while two dogs run along the quiet river. "
    voice = np.frombuffer(NanoTTS().speak(text * 2, voice="en-US", volume=0.5), dtype="<i2").astype(np.float32) / 32768.0
    return np.stack([np.resize(np.roll(voice, 997 * number), round(seconds * RATE_HZ)) for number in range(CLIPS)])


def compare(runs: int, seconds: float) -> None:
    """Print µs a frame of each way, and ratios to ours."""
    samples = speech(seconds)
    batch, transform = torch.from_numpy(samples), MFCC()
    ways: dict[str, Callable[[], Any]] = {
        "ours": lambda: transform(batch),
        "librosa": lambda: theirs(samples, DEFAULT),
        "librosa, clip by clip": lambda: [theirs(one, DEFAULT) for one in samples],
    }
    spent = timed_in_turns(ways, runs)
    frames = transform(batch)[1].sum().item()
    exact = theirs(samples.astype(np.float64), DEFAULT)
    row: dict[str, Any] = {"clips": f"{CLIPS} of {seconds} s", **medians(spent, "µs a frame", 1e6 / frames, 2), **beside(spent)}
    show(row | {"greatest difference": float(f"{np.abs(transform(batch)[0].numpy() - exact).max():.1e}")})


def main() -> None:
    """Print a line a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        for seconds in SECONDS:
            compare(options.runs, seconds)


if __name__ == "__main__":
    main()
