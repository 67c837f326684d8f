"""The MFCCs against librosa at equal settings, a batch against its clips, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from components.models.mfcc import MFCC, MfccSettings
from tests.support.models.mfcc_librosa import CHOICES, DEFAULT, cases, clip, recorded, theirs

WITHIN = 1e-4
"""Greatest absolute error. One unit in the last place of a float32 near -1131, the first coefficient of silence, is 1.2e-4."""


def ours(samples: np.ndarray, chosen: MfccSettings) -> np.ndarray:
    features, frames = MFCC(chosen)(torch.from_numpy(samples)[None])
    assert features.dtype == torch.float32 and frames.tolist() == [features.shape[2]]
    return features[0].numpy()


def test_mfccs_are_those_that_librosa_gave() -> None:
    table = recorded()
    assert set(table) == set(cases())
    for name, (samples, chosen) in cases().items():
        np.testing.assert_allclose(ours(samples, chosen), table[name], rtol=0, atol=WITHIN, err_msg=name)


# librosa compiles for 20 s when it is first called, so `make test` holds ours to a table of its results.


@pytest.mark.slow
def test_librosa_gives_the_values_of_the_table() -> None:
    table = recorded()
    for name, (samples, chosen) in cases().items():
        np.testing.assert_allclose(theirs(samples, chosen), table[name], rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.builds(
        MfccSettings,
        window=st.integers(1, 600),
        hop=st.integers(1, 400),
        fft=st.sampled_from([600, 1024, 1250, 2048]),
        window_type=st.sampled_from(["hamming", "hann", "rectangular"]),
        filters=st.sampled_from([20, 40, 80]),
        coefficients=st.integers(1, 20),
        mel=st.sampled_from(["htk", "slaney"]),
        norm=st.sampled_from([None, "slaney"]),
    ),
    st.integers(2048, 3000),
)
def test_the_features_equal_librosas_at_any_settings(chosen: MfccSettings, length: int) -> None:
    samples = clip("speech", length)
    np.testing.assert_allclose(ours(samples, chosen), theirs(samples, chosen), rtol=0, atol=WITHIN)


def batch(clips: list[np.ndarray], garbage: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Clips behind one another's ends filled with ``garbage``."""
    lengths = torch.tensor([len(one) for one in clips])
    samples = torch.full((len(clips), max(map(len, clips))), garbage)
    for row, one in zip(samples, clips, strict=True):
        row[: len(one)] = torch.from_numpy(one)
    return samples, lengths


@pytest.mark.parametrize("chosen", [DEFAULT, CHOICES[9], CHOICES[11]])
@settings(max_examples=10)
@given(st.lists(st.integers(0, 6_000), min_size=1, max_size=6), st.sampled_from([0.0, 0.7, float("nan")]))
def test_a_clips_coefficients_do_not_depend_on_its_batch(chosen: MfccSettings, lengths: list[int], garbage: float) -> None:
    module = MFCC(chosen)
    clips = [clip(kind, length) for kind, length in zip(["speech", "noise", "silence"] * 2, lengths, strict=False)]
    features, frames = module(*batch(clips, garbage))
    assert torch.isfinite(features).all()
    for one, row, count in zip(clips, features, frames.tolist(), strict=True):
        alone = module(torch.from_numpy(one).float()[None])[0][0]
        assert count == alone.shape[1]
        torch.testing.assert_close(row[:, :count], alone, rtol=1e-6, atol=WITHIN)
        assert not row[:, count:].any()


def test_neither_autocast_nor_a_cast_of_the_module_changes_the_coefficients() -> None:
    samples = torch.from_numpy(clip("speech", 8_000)).float()[None]
    expected = MFCC()(samples)[0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(MFCC()(samples)[0], expected)
    for cast in (MFCC().half(), MFCC().bfloat16(), MFCC().to("cpu", torch.float16)):
        assert torch.equal(cast(samples)[0], expected)
    assert not MFCC().state_dict()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_gives_the_coefficients_of_the_cpu() -> None:
    samples, lengths = batch([clip("speech", 30_000), clip("noise", 20_000)], 0.0)
    there, frames = MFCC().cuda()(samples.cuda(), lengths.cuda())
    here, _ = MFCC()(samples, lengths)
    assert there.is_cuda and frames.is_cuda
    torch.testing.assert_close(there.cpu(), here, rtol=0, atol=WITHIN)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"fft": 256}, "shorter than the window"),
        ({"fft": 512}, r"of 128 mel filters would be empty with an FFT of 512: 0; an FFT of 1024 fills all"),
        ({"fft": 1023}, "even"),
        ({"hop": 0}, "must be positive"),
        ({"highest": 9_000.0}, "8000 Hz"),
        ({"lowest": 5_000.0, "highest": 5_000.5}, "1 Hz apart"),
        ({"coefficients": 129}, "within 1 and filters"),
        ({"floor": 0.0}, "floor"),
        ({"window_type": "kaiser"}, "hamming, hann, rectangular"),
    ],
)
def test_invalid_settings_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MFCC(MfccSettings(**wrong))


@pytest.mark.parametrize(
    ("samples", "lengths"),
    [
        (torch.zeros(5), None),
        (torch.zeros(2, 5, dtype=torch.int16), None),
        (torch.zeros(2, 5), torch.tensor([5])),
        (torch.zeros(2, 5), torch.tensor([5, 6])),
        (torch.zeros(2, 5), torch.tensor([-1, 5])),
    ],
)
def test_invalid_batches_are_refused(samples: torch.Tensor, lengths: torch.Tensor | None) -> None:
    with pytest.raises(ValueError, match="must be"):
        MFCC()(samples, lengths)


def test_an_empty_batch_gives_an_empty_result() -> None:
    features, frames = MFCC()(torch.zeros(0, 400), torch.zeros(0, dtype=torch.long))
    assert features.shape == (0, 128, 3) and frames.shape == (0,)
