"""Mel filter banks: equal to librosa's, and never with an empty filter."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from components.models.mel import hertz_of, mel_filters, mel_of

BANKS = st.fixed_dictionaries(
    {
        "filters": st.integers(1, 160),
        "fft": st.integers(16, 4096),
        "rate": st.sampled_from([8_000, 16_000, 22_050, 48_000]),
        "lowest": st.floats(0, 2_000),
        "highest": st.floats(2_001, 4_000),
        "formula": st.sampled_from(["htk", "slaney"]),
        "norm": st.sampled_from([None, "slaney"]),
    }
)


def named(message: str) -> set[int]:
    """The filters that a refusal names."""
    ranges = re.findall(r"(\d+)(?:-(\d+))?(?:, |;)", message.split(": ")[1])
    return {number for first, last in ranges for number in range(int(first), int(last or first) + 1)}


@given(BANKS)
def test_a_filter_bank_with_an_empty_filter_is_refused_with_a_sufficient_fft_size(bank: dict[str, Any]) -> None:
    try:
        ours = mel_filters(**bank)
    except ValueError as refusal:
        enough = int(str(refusal).split("an FFT of ")[-1].split()[0])
        assert (mel_filters(**{**bank, "fft": enough}).amax(dim=1) > 0).all()
        if enough // 2 > bank["fft"]:
            with pytest.raises(ValueError):
                mel_filters(**{**bank, "fft": enough // 2})
        return
    assert (ours.amax(dim=1) > 0).all()


@pytest.mark.slow  # librosa compiles for 20 s when it is first called; test_mfcc.py holds banks to a table of its results
@given(BANKS)
def test_a_filter_bank_equals_librosas_and_empty_filters_are_named(bank: dict[str, Any]) -> None:
    import librosa

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, plain = (
            librosa.filters.mel(
                sr=bank["rate"],
                n_fft=bank["fft"],
                n_mels=bank["filters"],
                fmin=bank["lowest"],
                fmax=bank["highest"],
                htk=bank["formula"] == "htk",
                norm=norm,
                dtype=np.float64,
            )
            for norm in (bank["norm"], None)
        )
    # A weight of 1e-8 and less is a corner that lies on a bin but for rounding.
    empty = set(np.flatnonzero(plain.max(axis=1) < 1e-8).tolist())
    try:
        ours = mel_filters(**bank)
    except ValueError as refusal:
        assert named(str(refusal)) == empty
        return
    assert not empty
    np.testing.assert_allclose(ours.numpy(), theirs, atol=1e-9)


@pytest.mark.parametrize(("fft", "empty"), [(320, 8), (512, 1)])
def test_at_the_ffts_nearest_to_the_window_some_of_128_filters_would_be_empty(fft: int, empty: int) -> None:
    with pytest.raises(ValueError, match=rf"^{empty} of 128 mel filters .* an FFT of 1024 fills all$"):
        mel_filters(128, fft=fft, rate=16_000, lowest=0.0, highest=8_000.0)


@given(st.floats(0, 24_000), st.sampled_from(["htk", "slaney"]))
def test_mel_and_hertz_are_inverse(hertz: float, formula: Any) -> None:
    back = float(hertz_of(torch.tensor(mel_of(hertz, formula), dtype=torch.float64), formula))
    assert back == pytest.approx(hertz, rel=1e-9, abs=1e-9)
