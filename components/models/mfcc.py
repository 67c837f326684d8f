"""128 mel-frequency cepstral coefficients in plain torch (seed 003, section 4.1: 16 kHz, 20 ms windows, 10 ms hop).

The paper names no FFT size, mel formula, range or normalisation. Chosen here: a Hamming window of 320 samples centred
in an FFT of 1024 (at 512 some of 128 mel filters would be empty), power spectrum, 0–8000 Hz, HTK mel scale with
unnormalised triangles, 10·log10 with floor 1e-10 and no ceiling, orthonormal DCT-II, signal padded by zeros so that
frame t is centred on sample 160·t. librosa 0.11 with ``htk=True, norm=None, top_db=None`` gives the same.
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor

RATE_HZ, WINDOW, HOP, FFT, COEFFICIENTS = 16_000, 320, 160, 1024, 128
FLOOR = 1e-10


@lru_cache(maxsize=4)
def mel_filters(filters: int = COEFFICIENTS) -> Tensor:
    """The triangles, filters × (FFT/2 + 1), double precision."""
    top = 2595.0 * math.log10(1.0 + RATE_HZ / 2 / 700.0)
    mels = torch.linspace(0.0, top, filters + 2, dtype=torch.float64)
    edges = 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    bins = torch.linspace(0.0, RATE_HZ / 2, FFT // 2 + 1, dtype=torch.float64)
    rising = (bins[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins[None]) / (edges[2:] - edges[1:-1])[:, None]
    return torch.minimum(rising, falling).clamp_min(0.0)


@lru_cache(maxsize=4)
def cosine_basis(size: int = COEFFICIENTS) -> Tensor:
    """The orthonormal DCT-II, coefficients × size, double precision."""
    positions = torch.arange(size, dtype=torch.float64)
    basis = torch.cos(math.pi / size * (positions[None] + 0.5) * positions[:, None]) * math.sqrt(2.0 / size)
    basis[0] /= math.sqrt(2.0)
    return basis


def mfcc(samples: Tensor) -> Tensor:
    """The coefficients of one clip.

    Args:
        samples: n, float, 16 kHz, -1..1.

    Returns:
        128 × (1 + n // 160), float32.
    """
    window = torch.hamming_window(WINDOW, periodic=True, dtype=torch.float32)
    spectrum = torch.stft(
        samples.float(),
        FFT,
        hop_length=HOP,
        win_length=WINDOW,
        window=window,
        center=True,
        pad_mode="constant",
        return_complex=True,
    )
    power = spectrum.real.square() + spectrum.imag.square()
    decibel = 10.0 * torch.log10((mel_filters().float() @ power).clamp_min(FLOOR))
    return cosine_basis().float() @ decibel
