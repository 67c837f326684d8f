"""Measures of a voice over texts: time, memory and level in its host, and the errors of a recogniser."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

from components.metrics.word_errors import count_errors, spoken_words
from components.speech.audio.measures import Measures, measure
from components.speech.recognition.recognizer import Recogniser, Whisper
from components.speech.text_normalization import NormalisedText, normalise_for_speech
from components.speech.voices.hosts import supervisor
from components.speech.voices.speaking import speak
from components.speech.voices.voice import Voice
from components.stages.synthesize import Params
from components.stages.synthesize.paid_speech import LEVEL_DB
from components.stages.synthesize.prosody import DEVIATIONS

GAIN = DEVIATIONS * Params().gain_sd
"""dB: the largest gain that is drawn by default."""


@dataclass(frozen=True)
class HostedSpeech:
    """Texts spoken by ``speak`` through a host whose engine was loaded before."""

    measures: list[Measures]
    """Of each text."""
    seconds: float
    """CPU time of this process and the host for each text."""
    memory_mib: float
    """Resident memory of the host."""

    @property
    def level(self) -> float:
        """Mean level in dBFS, with the voice's present ``level``."""
        return sum(each.level for each in self.measures) / len(self.measures)


def speak_in_host(voice: Voice, texts: Sequence[str]) -> HostedSpeech:
    """Speak and measure the texts."""
    speak(texts[0], voice.name)
    host = supervisor(voice.engine).host
    assert host is not None
    start, host_start = time.process_time(), _processor_seconds(host.pid)
    clips = [speak(text, voice.name) for text in texts]
    seconds = time.process_time() - start + _processor_seconds(host.pid) - host_start
    memory = psutil.Process(host.pid).memory_info().rss / 2**20
    return HostedSpeech([measure(clip) for clip in clips], seconds / len(texts), memory)


def _processor_seconds(pid: int) -> float:
    """Return the CPU time of a process and its ended children (of which macOS tells nothing)."""
    return float(sum(psutil.Process(pid).cpu_times()[:4]))


def level_wanted(voice: Voice, measured: float) -> float:
    """Return the ``level`` to write in the voice's entry, given the mean level measured with the present one."""
    return round(voice.level + LEVEL_DB - measured, 1)


@dataclass(frozen=True)
class Recognition:
    """What a recogniser wrote down, and its errors in words and characters."""

    heard: list[tuple[str, str]]
    """Each text as said, and as heard."""
    seconds: float
    """CPU time of the engine's host for each text."""
    words: int
    wrong_words: int
    characters: int
    wrong_characters: int

    @property
    def word_error_rate(self) -> float:
        """Wrong words over spoken words."""
        return self.wrong_words / self.words

    @property
    def character_error_rate(self) -> float:
        """Wrong characters over spoken characters."""
        return self.wrong_characters / self.characters


def recognise(voice: Voice, texts: Sequence[str], recogniser: Recogniser) -> Recognition:
    """Speak the normalised texts as the voice does, transcribe them, and count the errors; figures become words on both sides."""
    whisper = Whisper(recogniser, voice.language)
    heard: list[tuple[str, str]] = []
    words = wrong_words = characters = wrong_characters = 0
    speak(texts[0], voice.name)
    host = supervisor(voice.engine).host
    assert host is not None
    start = _processor_seconds(host.pid)
    for text in texts:
        said = in_words(text, voice.language)
        heard.append((said, whisper.compute(speak(said, voice.name))))
        reference, transcript = (spoken_words(in_words(each, voice.language), voice.language) for each in heard[-1])
        words, wrong_words = words + len(reference), wrong_words + count_errors(reference, transcript)
        characters += len(" ".join(reference))
        wrong_characters += count_errors(" ".join(reference), " ".join(transcript))
    seconds = (_processor_seconds(host.pid) - start) / len(texts)
    return Recognition(heard, seconds, words, wrong_words, characters, wrong_characters)


def in_words(text: str, language: str) -> str:
    """Return the text as it is spoken, or as it is where it cannot be."""
    said = normalise_for_speech(text, language, max_characters=10_000)
    return said.text if isinstance(said, NormalisedText) else text
