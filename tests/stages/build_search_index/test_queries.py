"""Query files: readable audio and images are accepted, anything else is refused in one line."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PIL import Image

from components.core.errors import HearsightError
from components.search.queries import STEADY_DB, parse_query, read_query, steadiness
from components.speech.audio.files import to_flac
from components.speech.voices.speaking import speak
from tests.support.search_index.world import clip

RATE = 16_000


def refused(data: bytes) -> str:
    with pytest.raises(HearsightError) as caught:
        parse_query(data, "the query")
    assert str(caught.value).startswith("the query: ") and "\n" not in str(caught.value)
    return str(caught.value)


def noise(exponent: float, seconds: float, seed: int = 0) -> Any:
    """Noise whose power falls with frequency to this power: 0 is white, 1 pink, 2 brown."""
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(int(RATE * seconds)))
    spectrum /= np.maximum(np.arange(len(spectrum)), 1) ** (exponent / 2)
    spectrum[0] = 0
    samples = np.fft.irfft(spectrum)
    return (0.1 * samples / samples.std()).astype(np.float32)


def image(size: tuple[int, int], mode: str = "RGB", kind: str = "PNG") -> bytes:
    target = io.BytesIO()
    Image.effect_noise(size, 80).convert(mode).save(target, kind)
    return target.getvalue()


@pytest.mark.parametrize(("exponent", "seconds"), [(0.0, 0.2), (0.0, 3.0), (1.0, 0.2), (1.0, 3.0), (2.0, 0.5), (-1.0, 1.0)])
def test_noise_alone_is_refused_as_a_steady_sound(exponent: float, seconds: float) -> None:
    assert "steady sound" in refused(to_flac(noise(exponent, seconds)))


@pytest.mark.parametrize("hertz", [50, 60, 100, 440])
def test_hum_and_tones_are_refused(hertz: int) -> None:
    result = refused(to_flac((0.3 * np.sin(2 * np.pi * hertz * np.arange(RATE) / RATE)).astype(np.float32)))
    assert "steady sound" in result or "nothing audible" in result


def test_silence_and_clips_shorter_than_a_word_are_refused() -> None:
    assert "nothing audible" in refused(to_flac(np.zeros(RATE, np.float32)))
    assert "less than the 0.1 s" in refused(to_flac(clip(3, 0.05)))


@pytest.mark.parametrize("voice", ["hibari-heart", "nanotts-en-us", "flite-kal16"])
def test_speech_is_not_steady_alone_and_in_noise(voice: str) -> None:
    spoken = speak("a small brown dog runs over the grass", voice)
    assert steadiness(spoken) > 2 * STEADY_DB
    # 20 dB below the speech.
    noisy = spoken + noise(1.0, len(spoken) / RATE + 0.01)[: len(spoken)] * spoken.std()
    assert parse_query(to_flac(noisy), "").kind == "speech"


@pytest.mark.parametrize(
    ("rate", "channels", "kind", "subtype"),
    [
        (8000, 1, "WAV", "PCM_16"),
        (44_100, 2, "WAV", "FLOAT"),
        (48_000, 6, "FLAC", "PCM_24"),
        (22_050, 2, "OGG", "VORBIS"),
        (16_000, 1, "WAV", "ULAW"),
    ],
)
def test_any_rate_and_number_of_channels_becomes_mono_at_16_khz(rate: int, channels: int, kind: str, subtype: str) -> None:
    time = np.arange(int(rate * 0.8)) / rate
    mono = 0.4 * np.sin(2 * np.pi * 3 * time) ** 2 * np.sin(2 * np.pi * 300 * time)
    target = io.BytesIO()
    soundfile.write(target, np.repeat(mono[:, None], channels, axis=1), rate, format=kind, subtype=subtype)
    query = parse_query(target.getvalue(), "")
    assert query.kind == "speech" and query.samples is not None and abs(len(query.samples) - 0.8 * RATE) < 20


@pytest.mark.parametrize(
    ("size", "fits"), [((1, 1), False), ((7, 300), False), ((300, 7), False), ((8, 8), True), ((30, 900), True)]
)
def test_images_below_8_px_are_refused_and_larger_ones_of_any_shape_accepted(size: tuple[int, int], fits: bool) -> None:
    if fits:
        assert parse_query(image(size), "").kind == "image"
    else:
        assert f"{size[0]} × {size[1]} px" in refused(image(size))


@pytest.mark.parametrize(("mode", "kind"), [("RGBA", "PNG"), ("P", "GIF"), ("CMYK", "JPEG"), ("RGB", "WEBP"), ("I;16", "PNG")])
def test_image_formats_are_distinguished_from_audio(mode: str, kind: str) -> None:
    assert parse_query(image((20, 20), mode, kind), "").kind == "image"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "is empty"),
        (b"just some words\n", "neither a sound"),
        (b"ID3\x04 an mp3", "but an MP3"),
        (b"%PDF-1.7", "but a PDF"),
        (b"RIFF\x10\x00\x00\x00AVI LIST", ""),
        (b"fLaC", "cannot be decoded"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "neither a sound"),
        (image((40, 40))[:200], "a damaged image"),
    ],
)
def test_a_file_that_is_neither_sound_nor_image_is_refused_with_one_line(data: bytes, expected: str) -> None:
    assert expected in refused(data)


def test_folders_missing_files_and_unreadable_names_are_refused(tmp_path: Path) -> None:
    for source, result in (
        (tmp_path, "is a folder"),
        (tmp_path / "none.wav", "no such file"),
        ("a\0b", "cannot be read"),
        ("x" * 5000, "cannot be read"),
    ):
        with pytest.raises(HearsightError, match=result) as caught:
            read_query(str(source))
        assert "\n" not in str(caught.value)
