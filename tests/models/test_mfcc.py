"""The MFCCs against numpy and scipy, and SpecAugment's masks."""

from __future__ import annotations

import numpy as np
import scipy.fft
import scipy.signal
import torch

from components.models.augment import spec_augment
from components.models.mfcc import COEFFICIENTS, FFT, HOP, RATE_HZ, WINDOW, mfcc


def oracle(samples: np.ndarray) -> np.ndarray:
    """The definition of librosa.feature.mfcc(htk=True, norm=None, top_db=None, window='hamming'), written out."""
    window = np.zeros(FFT)
    window[(FFT - WINDOW) // 2 : (FFT + WINDOW) // 2] = scipy.signal.get_window("hamming", WINDOW, fftbins=True)
    padded = np.pad(samples.astype(np.float64), FFT // 2)
    frames = [padded[start : start + FFT] * window for start in range(0, len(padded) - FFT + 1, HOP)]
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2

    def hertz(mel: np.ndarray) -> np.ndarray:
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)

    edges = hertz(np.linspace(0, 2595.0 * np.log10(1 + RATE_HZ / 2 / 700.0), COEFFICIENTS + 2))
    bins = np.fft.rfftfreq(FFT, 1 / RATE_HZ)
    filters = np.array([np.interp(bins, edges[i : i + 3], [0.0, 1.0, 0.0], left=0, right=0) for i in range(COEFFICIENTS)])
    decibel = 10 * np.log10(np.maximum(power @ filters.T, 1e-10))
    return scipy.fft.dct(decibel, type=2, norm="ortho", axis=1).T


def test_mfccs_equal_their_definition() -> None:
    rng = np.random.default_rng(0)
    time = np.arange(12_345) / RATE_HZ
    samples = (0.3 * np.sin(2 * np.pi * 440 * time) + 0.05 * rng.standard_normal(len(time))).astype(np.float32)
    found = mfcc(torch.from_numpy(samples)).numpy()
    assert found.shape == (128, 1 + len(samples) // HOP)
    np.testing.assert_allclose(found, oracle(samples), atol=2e-2, rtol=1e-4)
    assert np.abs(found - oracle(samples)).mean() < 1e-3


def test_silence_has_finite_coefficients() -> None:
    assert torch.isfinite(mfcc(torch.zeros(1600))).all()


def test_masks_stay_within_f_and_t_and_within_the_speech() -> None:
    generator = torch.Generator().manual_seed(3)
    lengths = torch.tensor([200, 30, 1] * 40)
    masked = spec_augment(torch.ones(120, 128, 200), lengths, generator=generator)
    rows, columns = (masked == 0).all(2), (masked == 0).all(1)
    assert rows.sum(1).max() <= 20 and rows.sum(1).float().mean() > 5
    assert columns[lengths == 200].sum(1).max() <= 40 and columns[lengths == 200].sum(1).float().mean() > 10
    assert not columns[lengths == 30][:, 30:].any()


def test_each_mask_is_one_stretch() -> None:
    masked = spec_augment(torch.ones(50, 128, 100), torch.full((50,), 100), generator=torch.Generator().manual_seed(1))
    for clip in masked:
        for hidden in ((clip == 0).all(1), (clip == 0).all(0)):
            edges = hidden.int().diff().abs().sum()
            assert edges <= 2
