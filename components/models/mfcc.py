"""128 mel-frequency cepstral coefficients in torch (CSC §4.1: 16 kHz, 20 ms windows, 10 ms hop).

The paper names no FFT size, mel formula, range or normalisation. Taken are: periodic Hamming windows, centred in an FFT of 1,024
points, since at 512 some of 128 filters would hold no bin; triangles of height 1 by HTK's mel formula, from 0 to 8,000 Hz; power
in dB, at least -100, not relative to the clip; an orthonormal DCT-II. At these settings librosa 0.11 gives the same values
(within 1e-4 in ``tests/models/test_mfcc.py``).
"""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import pad

RATE_HZ, WINDOW, HOP, FFT, COEFFICIENTS = 16_000, 320, 160, 1024, 128
FLOOR = 1e-10
"""Minimum power before the logarithm; 0 dB is 1."""
FRAMES_AT_ONCE = 128
"""Frames computed together, so that their spectra stay in the processor's cache."""


def frame_count(samples: int) -> int:
    """Return the number of frames of a clip of ``samples`` samples."""
    return 1 + samples // HOP


def excerpt(first: int, count: int) -> tuple[int, int, int]:
    """Return the samples that ``count`` frames from frame ``first`` on depend on, so that a long clip need not be read whole.

    Returns:
        The first sample, the one after the last, and how many frames of these samples precede the requested ones.
    """
    before = min(first, math.ceil(WINDOW / 2 / HOP))
    return (first - before) * HOP, (first + count - 1) * HOP + WINDOW, before


@torch.no_grad()
def mfcc(samples: Tensor) -> Tensor:
    """Return the coefficients of one clip, coefficients × frames, float32.

    Frame t is centred on sample t · hop of the zero-padded clip. Windows, FFT, logarithm and DCT are float64; filters float32,
    since all terms of their sums are positive: a relative error of 1e-7. Coefficients are not normalised over the clip: the
    networks contain the mean and deviation of the training set.

    Args:
        samples: n floats, -1..1; n may be 0.

    Raises:
        ValueError: ``samples`` is no such clip.
    """
    if samples.ndim != 1 or not samples.is_floating_point():
        raise ValueError(f"a clip must be a row of floats, not {tuple(samples.shape)} of {samples.dtype}")
    window, filters, cosines = _constants()
    windows = pad(samples.double(), (WINDOW // 2, WINDOW // 2)).unfold(0, WINDOW, HOP)
    parts = []
    for part in windows.split(FRAMES_AT_ONCE):
        # The window is at the start of the FFT instead of its middle: only phases differ.
        spectrum = torch.fft.rfft(part * window, n=FFT)
        power = spectrum.real.square() + spectrum.imag.square()
        decibel = 10.0 * (power.float() @ filters).double().clamp_min(FLOOR).log10()
        parts.append((cosines @ decibel.T).float())
    return torch.cat(parts, 1)


@cache
def _constants() -> tuple[Tensor, Tensor, Tensor]:
    """Return the window, the filters as bins × filters, and the basis of the DCT."""
    window = torch.hamming_window(WINDOW, periodic=True, dtype=torch.float64)
    return window, mel_filters().T.contiguous().float(), cosine_basis()


def mel_filters() -> Tensor:
    """Return the triangles' weights, filters × (FFT // 2 + 1) bins, float64; bin k is the frequency k · rate / FFT."""
    top = 2595.0 * math.log10(1.0 + RATE_HZ / 2 / 700.0)
    edges = 700.0 * (10.0 ** (torch.linspace(0.0, top, COEFFICIENTS + 2, dtype=torch.float64) / 2595.0) - 1.0)
    # Filter i rises from corner i, peaks at i + 1 and ends at i + 2.
    left, peak, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    bins = torch.arange(FFT // 2 + 1, dtype=torch.float64)[None] * (RATE_HZ / FFT)
    return torch.minimum((bins - left) / (peak - left), (right - bins) / (right - peak)).clamp_min(0.0)


def cosine_basis() -> Tensor:
    """Return the orthonormal DCT-II of the filters' outputs, coefficients × filters, float64."""
    rows = torch.arange(COEFFICIENTS, dtype=torch.float64)
    basis = math.sqrt(2.0 / COEFFICIENTS) * torch.cos(math.pi / COEFFICIENTS * (rows[None] + 0.5) * rows[:, None])
    basis[0] *= math.sqrt(0.5)
    return basis
