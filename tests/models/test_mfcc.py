"""The MFCCs against librosa's, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from components.models.mfcc import COEFFICIENTS, FFT, RATE_HZ, frame_count, mel_filters, mfcc
from tests.support.models.mfcc_librosa import KINDS, cases, clip, recorded, theirs

WITHIN = 1e-4
"""Greatest absolute error. One unit in the last place of a float32 near -1131, the first coefficient of silence, is 1.2e-4."""


def ours(samples: np.ndarray) -> np.ndarray:
    features = mfcc(torch.from_numpy(samples))
    assert features.dtype == torch.float32 and features.shape == (COEFFICIENTS, frame_count(len(samples)))
    return features.numpy()


def test_mfccs_are_those_that_librosa_gave() -> None:
    table = recorded()
    assert set(table) == set(cases())
    for name, samples in cases().items():
        np.testing.assert_allclose(ours(samples), table[name], rtol=0, atol=WITHIN, err_msg=name)


# librosa compiles for 20 s when it is first called, so `make test` holds ours to a table of its results.


@pytest.mark.slow
def test_librosa_gives_the_values_of_the_table() -> None:
    table = recorded()
    for name, samples in cases().items():
        np.testing.assert_allclose(theirs(samples), table[name], rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.sampled_from(KINDS), st.integers(1, 30_000))
def test_the_features_of_any_clip_equal_librosas(kind: str, length: int) -> None:
    samples = clip(kind, length)
    np.testing.assert_allclose(ours(samples), theirs(samples), rtol=0, atol=WITHIN)


@pytest.mark.slow
def test_the_filters_equal_librosas() -> None:
    import librosa

    bank = librosa.filters.mel(sr=RATE_HZ, n_fft=FFT, n_mels=COEFFICIENTS, htk=True, norm=None, dtype=np.float64)
    np.testing.assert_allclose(mel_filters().numpy(), bank, atol=1e-9)


def test_every_filter_holds_a_bin() -> None:
    # A weight of 1e-8 and less is a corner that lies on a bin but for rounding.
    assert float(mel_filters().amax(dim=1).min()) > 1e-8


@pytest.mark.parametrize("samples", [torch.zeros(2, 5), torch.zeros(5, dtype=torch.int16), torch.tensor(0.0)])
def test_what_is_no_clip_is_refused(samples: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="must be a row of floats"):
        mfcc(samples)


def test_a_clip_without_samples_has_a_frame_of_silence() -> None:
    assert torch.equal(mfcc(torch.zeros(0)), mfcc(torch.zeros(1)))
