"""Mel filter banks without empty filters.

A triangle narrower than the distance of two FFT bins may contain no bin: its output is always the floor, and the coefficients
carry a constant instead of speech. At 16 kHz this holds for 8 of 128 filters (HTK) with an FFT of 320, and for one with 512. Such
a bank is refused with the filters' numbers and a sufficient FFT size.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

Formula = Literal["htk", "slaney"]
Norm = Literal["slaney"]

EMPTY = 1e-8
"""A filter whose largest weight (at most 1, before normalisation) is below this contains a bin only by rounding."""
_SLANEY_HZ, _SLANEY_MEL, _SLANEY_STEP = 1000.0, 15.0, math.log(6.4) / 27.0


def mel_of(hertz: float, formula: Formula) -> float:
    """Return a frequency in mel: HTK's 2595·log10(1 + f/700), or Slaney's, linear to 1 kHz and logarithmic above."""
    if formula == "htk":
        return 2595.0 * math.log10(1.0 + hertz / 700.0)
    if hertz < _SLANEY_HZ:
        return hertz * 3.0 / 200.0
    return _SLANEY_MEL + math.log(hertz / _SLANEY_HZ) / _SLANEY_STEP


def hertz_of(mels: Tensor, formula: Formula) -> Tensor:
    """Return mels in Hz, the inverse of :func:`mel_of`."""
    if formula == "htk":
        return 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    above = _SLANEY_HZ * torch.exp(_SLANEY_STEP * (mels - _SLANEY_MEL).clamp_min(0.0))
    return torch.where(mels < _SLANEY_MEL, mels * 200.0 / 3.0, above)


def mel_edges(filters: int, lowest: float, highest: float, formula: Formula) -> Tensor:
    """Return the corners of the triangles, filters + 2, in Hz, float64: filter i rises from i, peaks at i + 1, ends at i + 2."""
    mels = torch.linspace(mel_of(lowest, formula), mel_of(highest, formula), filters + 2, dtype=torch.float64)
    return hertz_of(mels, formula)


def mel_filters(
    filters: int, *, fft: int, rate: int, lowest: float, highest: float, formula: Formula = "htk", norm: Norm | None = None
) -> Tensor:
    """Return triangular weights over the bins of an FFT, filters × (fft // 2 + 1), float64.

    Args:
        fft, rate: FFT size in samples, sampling rate in Hz; bin k is the frequency k · rate / fft.
        lowest, highest: Hz, start of the first triangle and end of the last.
        norm: None: triangles of height 1; slaney: of area 1 (height 2 / width in Hz).

    Raises:
        ValueError: some filters would be empty; the message lists them and a sufficient power of two.
    """
    edges = mel_edges(filters, lowest, highest, formula)
    empty = empty_filters(edges, fft, rate)
    if empty:
        enough = fft_without_empty_filters(edges, fft, rate)
        raise ValueError(
            f"{len(empty)} of {filters} mel filters would be empty with an FFT of {fft}: {_ranges(empty)}; "
            f"an FFT of {enough} fills all"
        )
    weights = _weights(torch.arange(fft // 2 + 1, dtype=torch.float64)[None] * (rate / fft), edges)
    if norm == "slaney":
        weights *= (2.0 / (edges[2:] - edges[:-2]))[:, None]
    return weights


def empty_filters(edges: Tensor, fft: int, rate: int) -> list[int]:
    """Return the numbers of the filters without a bin. A triangle is highest at one of the two bins around its peak."""
    below = (edges[1:-1] * (fft / rate)).floor()
    bins = torch.stack([below, below + 1.0], dim=1) * (rate / fft)
    tallest = _weights(bins, edges).amax(dim=1)
    return [int(number) for number in (tallest < EMPTY).nonzero()]


def fft_without_empty_filters(edges: Tensor, fft: int, rate: int) -> int:
    """Return the smallest power of two above ``fft`` at which no filter is empty."""
    size = 1 << fft.bit_length()
    while empty_filters(edges, size, rate):
        size *= 2
    return size


def _weights(bins: Tensor, edges: Tensor) -> Tensor:
    """Return the triangles' values at ``bins`` (filters or 1 × positions, Hz)."""
    left, peak, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    return torch.minimum((bins - left) / (peak - left), (right - bins) / (right - peak)).clamp_min(0.0)


def _ranges(numbers: list[int]) -> str:
    """Return ``[0, 1, 2, 5]`` as ``0-2, 5``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
