"""Any sound file gives the sound in it, or one line that says why not; no header makes it crash, hang or fill the memory."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from components.core.errors import HearsightError
from components.speech.audio.files import CEILING, LONGEST_SECONDS, RATE_HZ, from_flac, read_sound, to_flac
from tests.speech.audio.speech import vowel


def packed(samples: np.ndarray, rate: int = RATE_HZ, **how: str) -> bytes:
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, **how)
    return buffer.getvalue()


def wav(samples: np.ndarray, rate: int = RATE_HZ, subtype: str = "PCM_16") -> bytes:
    return packed(samples, rate, format="WAV", subtype=subtype)


def with_field(data: bytes, at: int, form: str, value: int) -> bytes:
    changed = bytearray(data)
    struct.pack_into(form, changed, at, value)
    return bytes(changed)


CHANNELS, RATE, SPEED, ALIGN, BITS, SIZE = 22, 24, 28, 32, 34, 40
"""Where the fields of a plain WAV header stand."""


@pytest.mark.parametrize(
    ("format", "subtype", "error"),
    [
        ("WAV", "PCM_U8", 2e-2), ("WAV", "PCM_16", 1e-4), ("WAV", "PCM_24", 1e-5), ("WAV", "PCM_32", 1e-5),
        ("WAV", "FLOAT", 1e-5), ("WAV", "DOUBLE", 1e-5), ("WAV", "ULAW", 2e-2),
        ("WAVEX", "PCM_24", 1e-5), ("RF64", "PCM_16", 1e-4),
        ("FLAC", "PCM_16", 1e-4), ("FLAC", "PCM_24", 1e-5), ("OGG", "VORBIS", 5e-2), ("OGG", "OPUS", 8e-2),
    ],
)  # fmt: skip
def test_every_format_gives_the_same_sound(format: str, subtype: str, error: float) -> None:
    own = vowel(0.5)
    result = read_sound(packed(own, format=format, subtype=subtype))
    assert (result.rate, result.channels, result.warnings) == (RATE_HZ, 1, ())
    assert result.samples.dtype == np.float32 and len(result.samples) == pytest.approx(
        len(own), abs=400 if format == "OGG" else 0
    )
    length = min(len(own), len(result.samples)) - 800
    assert np.abs(result.samples[400:length] - own[400:length]).max() < error


def test_big_endian_files_are_read() -> None:
    own = vowel(0.2)
    for subtype in ("PCM_16", "PCM_24", "FLOAT"):
        data = packed(own, format="WAV", subtype=subtype, endian="BIG")
        assert data[:4] == b"RIFX"
        np.testing.assert_allclose(read_sound(data).samples, own, atol=1e-4)


@pytest.mark.parametrize("rate", [8000, 11025, 22050, 44100, 48000, 96000, 192000])
def test_every_rate_keeps_length_and_pitch(rate: int) -> None:
    time = np.arange(rate) / rate
    result = read_sound(wav((0.3 * np.sin(2 * np.pi * 440 * time)).astype(np.float32), rate))
    assert result.rate == rate and len(result.samples) == pytest.approx(RATE_HZ, abs=2)
    assert np.abs(np.fft.rfft(result.samples[:RATE_HZ])).argmax() == pytest.approx(440, abs=1)
    assert np.abs(result.samples[2000:-2000]).max() == pytest.approx(0.3, abs=0.01)


def test_channels_are_mixed_to_their_mean() -> None:
    own = vowel(0.2)
    result = read_sound(wav(np.stack([own, 0.5 * own, np.zeros_like(own)], axis=1)))
    assert result.channels == 3
    np.testing.assert_allclose(result.samples, own / 2, atol=1e-4)


def test_a_path_is_read_and_an_unreadable_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(wav(vowel(0.2)))
    assert len(read_sound(tmp_path / "a.wav").samples) == 3200
    for path in (tmp_path / "missing.wav", tmp_path):
        with pytest.raises(HearsightError, match=str(path)):
            read_sound(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: with_field(data, SIZE, "<I", 0), lambda data: with_field(data, SIZE, "<I", 0xFFFFFFFF),
        lambda data: with_field(data, SIZE, "<I", 10**9), lambda data: with_field(data, SIZE, "<I", 1000),
        lambda data: with_field(data, 16, "<I", 999_999), lambda data: with_field(data, RATE, "<I", 0),
        lambda data: with_field(data, CHANNELS, "<H", 0), lambda data: with_field(data, CHANNELS, "<H", 2),
        lambda data: with_field(data, CHANNELS, "<H", 60_000), lambda data: with_field(data, ALIGN, "<H", 7),
    ],
    ids=["no size", "streamed", "too long", "too short", "long format", "no rate", "no channels", "two channels", "many channels",
         "alignment"],
)  # fmt: skip
def test_data_behind_a_wrong_header_is_read(change: object) -> None:
    own = vowel(0.5)
    result = read_sound(change(wav(own)))  # type: ignore[operator]
    np.testing.assert_allclose(result.samples, own, atol=1e-4)
    assert (result.rate, result.channels) == (RATE_HZ, 1)


def test_warnings_name_the_fault() -> None:
    data = wav(vowel(0.5))
    assert read_sound(data).warnings == ()
    assert read_sound(with_field(data, SIZE, "<I", 10**9)).warnings == ("says 1000000000 bytes of samples and holds 16000",)
    assert read_sound(with_field(data, RATE, "<I", 0)).warnings == ("says 0 Hz and 32000 bytes a second: taken for 16000 Hz",)


@pytest.mark.parametrize("format", ["WAV", "FLAC", "OGG"])
def test_the_beginning_of_a_truncated_file_is_read(format: str) -> None:
    own = vowel(10.0)
    data = packed(own, format=format)
    result = read_sound(data[: len(data) // 2])
    assert 0.2 * len(own) < len(result.samples) < 0.9 * len(own)
    if format != "OGG":
        assert result.warnings
        np.testing.assert_allclose(result.samples[:4000], own[:4000], atol=1e-4)


def test_chunks_after_the_samples_are_ignored() -> None:
    data = wav(vowel(0.2))
    for tail in (b"LIST" + struct.pack("<I", 4) + b"INFO", b"TAG" + bytes(125), bytes(64), b"x"):
        result = read_sound(data + tail)
        assert len(result.samples) == 3200 and result.warnings == ()


def test_samples_that_are_nan_are_silence() -> None:
    own = vowel(0.2)
    own[100:110] = np.nan
    own[200] = np.inf
    result = read_sound(wav(own, subtype="FLOAT"))
    assert np.isfinite(result.samples).all() and (result.samples[100:110] == 0).all()
    assert result.warnings == ("11 samples are NaN or infinite: replaced by zeros",)
    with pytest.raises(HearsightError, match="has no finite sample"):
        read_sound(wav(np.full(100, np.nan, np.float32), subtype="FLOAT"))


def test_floats_above_full_scale_are_attenuated_as_a_whole() -> None:
    own = vowel(0.2)
    result = read_sound(wav(own * 32768, subtype="FLOAT"))
    loudest = float(np.abs(own).max())
    np.testing.assert_allclose(result.samples, CEILING * own / loudest, atol=1e-5)
    assert "turned down" in result.warnings[0]
    assert result.gain == pytest.approx(20 * np.log10(CEILING / (loudest * 32768)), abs=1e-3)
    assert result.over == np.count_nonzero(np.abs(own) * 32768 >= 32767 / 32768)
    quiet = read_sound(wav(own, subtype="FLOAT"))
    assert (quiet.gain, quiet.over) == (0.0, 0)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"), (b"<html>no such file</html>", "neither a WAV"), (b"RIFF", "without a format chunk"),
        (wav(vowel(0.1))[:30], "ends within its format"), (wav(vowel(0.1))[:40], "ends before its samples"),
        (wav(vowel(0.1))[:44], "no samples"), (wav(np.zeros(0, np.float32)), "no samples"),
        (with_field(with_field(wav(vowel(0.1)), RATE, "<I", 0), SPEED, "<I", 0), "says 0 Hz"),
        (with_field(wav(vowel(0.1)), BITS, "<H", 77), "says 77 bits"), (b"fLaC" + bytes(50), "cannot be decoded"),
        (wav(np.zeros(int(8000 * LONGEST_SECONDS) + 8000, np.float32), 8000, "PCM_U8"), "longer than"),
    ],
)  # fmt: skip
def test_an_unreadable_input_gives_a_one_line_error(data: bytes, why: str) -> None:
    with pytest.raises(HearsightError, match=why) as caught:
        read_sound(data, "clip 7")
    assert str(caught.value).startswith("clip 7: ") and "\n" not in str(caught.value)


def test_packed_values_are_unpacked_unchanged() -> None:
    own = vowel(0.3)
    np.testing.assert_allclose(from_flac(to_flac(own)), own, atol=1 / 32768)
    assert np.array_equal(read_sound(to_flac(own)).samples, from_flac(to_flac(own)))
