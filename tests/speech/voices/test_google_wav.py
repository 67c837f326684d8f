"""WAV answers: what is sound comes through to the sample, and no header is believed against the bytes."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from components.speech.audio.files import to_flac
from components.speech.voices.google_speech import read_pcm
from tests.support.google.fake_speech import wav

SAMPLES = np.arange(-200, 200, dtype="<i2").tobytes()


@given(st.lists(st.integers(-32768, 32767), min_size=1, max_size=3000))
def test_every_sample_is_read_back_exactly(values: list[int]) -> None:
    samples = np.array(values, dtype="<i2")
    pcm = read_pcm(wav(samples.tobytes()), 16_000)
    flac = to_flac(np.frombuffer(pcm, "<i2"))
    back, rate = soundfile.read(io.BytesIO(flac), dtype="int16")
    assert pcm == samples.tobytes() and flac.startswith(b"fLaC") and rate == 16_000 and np.array_equal(back, samples)


def test_a_file_without_samples_has_no_bytes_of_samples() -> None:
    assert read_pcm(wav(b""), 16_000) == b""


@pytest.mark.parametrize("size", [0, 0x7FFFFFFF, 0xFFFFFFFF])
def test_a_stream_of_unknown_length_is_read_to_its_end(size: int) -> None:
    assert read_pcm(wav(SAMPLES, size=size), 16_000) == SAMPLES


def test_chunks_before_and_after_the_samples_are_skipped() -> None:
    whole = wav(SAMPLES)
    listed = struct.pack("<4sI", b"LIST", 5) + b"notes\0"
    assert read_pcm(whole[:36] + listed + whole[36:] + listed, 16_000) == SAMPLES


def test_the_extensible_form_of_the_same_samples_is_read() -> None:
    whole = wav(SAMPLES, tag=0xFFFE)
    more = struct.pack("<HHI", 22, 16, 4) + b"\x01\0\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"
    form = b"fmt " + struct.pack("<I", 40) + whole[20:36] + more
    assert read_pcm(whole[:12] + form + whole[36:], 16_000) == SAMPLES


LIES = {
    "longer than it is": wav(SAMPLES, size=len(SAMPLES) + 500),
    "shorter than it is": wav(SAMPLES, size=100),
    "cut short": wav(SAMPLES)[:-80],
    "another rate": wav(SAMPLES, rate=24_000),
    "stereo": wav(SAMPLES, channels=2),
    "eight bits": wav(SAMPLES, bits=8),
    "mu-law": wav(SAMPLES, tag=7),
    "rates that contradict each other": wav(SAMPLES)[:28] + struct.pack("<I", 48_000) + wav(SAMPLES)[32:],
    "half a sample": wav(SAMPLES[:-1]),
    "no samples": wav(SAMPLES)[:36],
    "samples first": wav(SAMPLES)[:12] + wav(SAMPLES)[36:],
    "header cut short": wav(SAMPLES)[:20],
    "format cut short": wav(b"")[:12] + struct.pack("<4sI", b"fmt ", 4) + b"\1\0\1\0" + wav(SAMPLES)[36:],
    "an MP3": b"ID3\x04\0\0\0\0\0\0" + SAMPLES,
    "nothing": b"",
}


@pytest.mark.parametrize("name", LIES)
def test_a_header_with_wrong_fields_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"audio that is not a WAV|a WAV file"):
        read_pcm(LIES[name], 16_000)
