"""A small world of pictures and of speech about them, made by rules: what ``benchmarks.learnability`` learns from.

A picture shows a thing of some shape, colour and pattern on some ground; an utterance names them, each by a word of two
syllables of a language drawn from the seed. What is not named differs from pair to pair: the thing's place, size and turn, the
light, a second, smaller thing, the speaker's pitch, throat and pace, the order of words, fillers, pauses, noise. Pattern and
ground are left unsaid at times, as people leave things unsaid, so not even a perfect listener finds every picture.

Two kinds of the same world differ as synthetic speech about the web's pictures differs from people who speak of photographs
(CSC, section 4.3): other voices, another pace, echo and noise; paler colours, outlines, uneven light, blur. Every
combination of what can be named is used for one split alone: test pairs show combinations that no training pair of either kind
shows.
"""

from __future__ import annotations

import colorsys
import itertools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.core.seeded_rng import seeded_rng

RATE_HZ = 16_000
SIDE = 32
"""px."""
FINE = 2
"""Points a px along each side that a picture is computed at."""
NAMES: dict[str, tuple[str, ...]] = {
    "pattern": ("plain", "striped", "dotted", "hollow"),
    "colour": ("red", "orange", "yellow", "green", "cyan", "blue", "purple", "white"),
    "shape": ("disc", "square", "triangle", "star", "angle", "bar", "crescent", "cross"),
    "ground": ("sky", "grass", "sand", "brick", "night", "snow", "water", "wood"),
}
"""What can be named, in the order in which it is mostly said."""
UNSAID = {"pattern": 0.15, "ground": 0.15}
"""Share of utterances that leave it out."""
SPLITS = {"train": 960, "few": 384, "validation": 256, "test": 256}
"""Pairs of each split; ``few`` are the training pairs of the kind that is learned from few."""
HUES = {"red": 0.0, "orange": 0.075, "yellow": 0.155, "green": 0.33, "cyan": 0.48, "blue": 0.63, "purple": 0.8}
GROUNDS = {
    "sky": ((0.45, 0.65, 0.95), (0.8, 0.9, 1.0), "fall"),
    "grass": ((0.2, 0.5, 0.15), (0.35, 0.65, 0.25), "grain"),
    "sand": ((0.85, 0.75, 0.5), (0.75, 0.65, 0.4), "grain"),
    "brick": ((0.6, 0.3, 0.2), (0.8, 0.75, 0.7), "courses"),
    "night": ((0.05, 0.05, 0.15), (0.15, 0.1, 0.3), "fall"),
    "snow": ((0.9, 0.92, 0.95), (0.8, 0.85, 0.92), "grain"),
    "water": ((0.1, 0.35, 0.55), (0.25, 0.55, 0.7), "waves"),
    "wood": ((0.45, 0.3, 0.15), (0.6, 0.42, 0.25), "boards"),
}
"""Two colours and how they share the ground."""
VOWELS = (
    (750.0, 1250.0, 2550.0),
    (480.0, 1900.0, 2600.0),
    (300.0, 2350.0, 3000.0),
    (480.0, 900.0, 2500.0),
    (320.0, 720.0, 2300.0),
)
"""Hz: the first three formants, of a throat of length 1."""
CONSONANTS = tuple(itertools.product((1200.0, 2400.0, 3600.0, 5200.0), (0.025, 0.075)))
"""Hz where a consonant's noise is loudest, and its length in s."""


@dataclass(frozen=True)
class Kind:
    """How pictures look and utterances sound, apart from what they are about: lowest and highest of what is drawn uniformly."""

    name: str
    pitch: tuple[float, float]
    """Hz."""
    throat: tuple[float, float]
    """Factor of the formants."""
    pace: tuple[float, float]
    """Factor of all lengths' inverse."""
    noise: tuple[float, float]
    """dB of speech over noise."""
    echo: float
    """s in which an echo falls by 60 dB; 0 for none."""
    pale: float
    """Share of colour that is left."""
    uneven: float
    """How much the light differs from side to side."""
    grain: float
    """Deviation of a pixel's noise, of 255."""
    turn: float
    """Radians either way."""
    outlined: bool
    """Whether things have a dark outline, and all is blurred by a pixel."""


SYNTHETIC = Kind("synthetic", (110.0, 220.0), (0.95, 1.1), (0.9, 1.1), (20.0, 35.0), 0.0, 1.0, 0.1, 6.0, 0.3, False)
HUMAN = Kind("human", (85.0, 300.0), (0.85, 1.25), (0.75, 1.3), (8.0, 25.0), 0.25, 0.7, 0.4, 12.0, 0.6, True)


class Pair(NamedTuple):
    """An utterance and its picture."""

    key: str
    shown: dict[str, str]
    """What the picture shows, by what it is a value of."""
    said: tuple[str, ...]
    """What the utterance names, in its order; fillers are left out here."""
    samples: NDArray[np.float32]
    """16 kHz, -1..1."""
    picture: NDArray[np.uint8]
    """3 × SIDE × SIDE."""


class Language:
    """A word of two syllables for each name, and three fillers of one; no two are alike."""

    def __init__(self, seed: int) -> None:
        syllables = list(itertools.product(range(len(CONSONANTS)), range(len(VOWELS))))
        names = [name for values in NAMES.values() for name in values]
        source = seeded_rng(seed, "language")
        words = source.sample(list(itertools.product(syllables, syllables)), len(names))
        self.words: dict[str, tuple[tuple[int, int], ...]] = dict(zip(names, words, strict=True))
        self.fillers = [(syllable,) for syllable in source.sample(syllables, 3)]


def combinations(seed: int) -> dict[str, list[dict[str, str]]]:
    """What the pairs of each split show; no combination stands twice."""
    every = [dict(zip(NAMES, values, strict=True)) for values in itertools.product(*NAMES.values())]
    seeded_rng(seed, "combinations").shuffle(every)
    ends = list(itertools.accumulate(SPLITS.values()))
    return {split: every[end - count : end] for (split, count), end in zip(SPLITS.items(), ends, strict=True)}


def pairs_of(seed: int, split: str, kind: Kind, limit: int | None = None) -> list[Pair]:
    """The pairs of a split as one kind of the world has them; a pair is a function of seed, split, kind and its number."""
    language = Language(seed)
    found = []
    for number, shown in enumerate(combinations(seed)[split][:limit]):
        key = f"{split}.{kind.name}.{number:04d}"
        said, samples = speak(language, shown, kind, source_of(seed, key, "speech"))
        found.append(Pair(key, shown, said, samples, render(shown, kind, source_of(seed, key, "picture"))))
    return found


def source_of(*key: str | int) -> np.random.Generator:
    """Numpy's draws, keyed."""
    return np.random.default_rng(seeded_rng(*key).getrandbits(64))


def speak(
    language: Language, shown: dict[str, str], kind: Kind, source: np.random.Generator
) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """An utterance about a picture: what it names, and its samples."""
    left_out = {what for what, share in UNSAID.items() if source.random() < share}
    order = list(NAMES) if source.random() < 0.7 else ["ground", "pattern", "colour", "shape"]
    said = tuple(shown[what] for what in order if what not in left_out)
    words: list[tuple[tuple[int, int], ...]] = [language.words[name] for name in said]
    for _ in range(source.integers(0, 3)):
        words.insert(int(source.integers(0, len(words) + 1)), language.fillers[int(source.integers(0, len(language.fillers)))])
    return said, utter(words, kind, source)


def utter(words: list[tuple[tuple[int, int], ...]], kind: Kind, source: np.random.Generator) -> NDArray[np.float32]:
    """Words of (consonant, vowel) syllables by a speaker who is drawn: a buzz through formants, and noise for consonants."""
    pitch, throat, pace = source.uniform(*kind.pitch), source.uniform(*kind.throat), source.uniform(*kind.pace)
    tilt = source.uniform(0.8, 1.6)
    parts = [_silence(source, 0.02, 0.2)]
    count = sum(len(word) for word in words)
    spoken = 0
    for word in words:
        for consonant, vowel in word:
            centre, length = CONSONANTS[consonant]
            length = length * source.uniform(0.8, 1.2) / pace
            parts.append(_noise(round(length * RATE_HZ), centre * throat * source.uniform(0.95, 1.05), source))
            # The voice falls by a fifth from the first syllable to the last.
            low = pitch * (1.1 - 0.2 * spoken / max(1, count - 1)) * source.uniform(0.97, 1.03)
            formants = [formant * throat * source.uniform(0.96, 1.04) for formant in VOWELS[vowel]]
            parts.append(_buzz(round(source.uniform(0.07, 0.12) / pace * RATE_HZ), low, formants, tilt))
            spoken += 1
        parts.append(_silence(source, 0.01, 0.08))
    parts.append(_silence(source, 0.02, 0.2))
    clean = np.concatenate(parts)
    if kind.echo:
        tail = np.arange(round(kind.echo * RATE_HZ)) / RATE_HZ
        room = source.standard_normal(len(tail)) * np.exp(-6.9 * tail / kind.echo) * 0.06
        room[0] = 1.0
        size = 1 << (len(clean) + len(room)).bit_length()
        clean = np.fft.irfft(np.fft.rfft(clean, size) * np.fft.rfft(room, size), size)[: len(clean)]
    level = float(np.sqrt(np.square(clean).mean()))
    hiss = source.standard_normal(len(clean)) * level * 10.0 ** (-source.uniform(*kind.noise) / 20.0)
    gain = 0.05 / level * 10.0 ** (source.uniform(-4.0, 4.0) / 20.0)
    return np.clip((clean + hiss) * gain, -1.0, 1.0).astype(np.float32)


def _silence(source: np.random.Generator, least: float, most: float) -> NDArray[np.float64]:
    return np.zeros(round(source.uniform(least, most) * RATE_HZ))


def _noise(length: int, centre: float, source: np.random.Generator) -> NDArray[np.float64]:
    spectrum = np.fft.rfft(source.standard_normal(length))
    hertz = np.fft.rfftfreq(length, 1.0 / RATE_HZ)
    shaped = np.fft.irfft(spectrum * np.exp(-0.5 * ((hertz - centre) / (0.2 * centre)) ** 2), length)
    return _faded(shaped * (0.5 / max(1e-9, float(np.sqrt(np.square(shaped).mean())))))


def _buzz(length: int, pitch: float, formants: list[float], tilt: float) -> NDArray[np.float64]:
    periods = np.arange(length) * (pitch / RATE_HZ)
    pulses = np.diff(np.floor(periods), prepend=-1.0)
    hertz = np.fft.rfftfreq(length, 1.0 / RATE_HZ)
    peaks = np.zeros_like(hertz)
    for rank, (centre, width) in enumerate(zip(formants, (80.0, 110.0, 160.0), strict=True)):
        peaks += 1.0 / (1.0 + ((hertz - centre) / width) ** 2) / (1 + rank)
    shaped = np.fft.irfft(np.fft.rfft(pulses) * peaks * (1.0 + hertz / 500.0) ** -tilt, length)
    return _faded(shaped / max(1e-9, float(np.sqrt(np.square(shaped).mean()))))


def _faded(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    edge = min(len(samples) // 4, RATE_HZ // 100)
    ramp = np.sin(np.linspace(0.0, math.pi / 2, edge)) ** 2
    samples[:edge] *= ramp
    samples[len(samples) - edge :] *= ramp[::-1]
    return samples


def render(shown: dict[str, str], kind: Kind, source: np.random.Generator) -> NDArray[np.uint8]:
    """A picture, 3 × SIDE × SIDE. The same draws with one name changed change what that name is about, and nothing else."""
    points = (np.arange(SIDE * FINE) + 0.5) / FINE
    x, y = np.meshgrid(points, points)
    image = _ground(shown["ground"], x, y, source)
    others = [str(source.choice(NAMES[what])) for what in ("colour", "shape")]
    radius = source.uniform(7.0, 10.0)
    middle = source.uniform(radius, SIDE - radius, 2)
    # The smaller thing stands in a corner that the named one leaves free.
    corner = np.where(middle < SIDE / 2, SIDE - 4.0, 4.0) + source.uniform(-1.0, 1.0, 2)
    for name, shape, pattern, place, size in (
        (others[0], others[1], "plain", corner, source.uniform(2.0, 3.0)),
        (shown["colour"], shown["shape"], shown["pattern"], middle, radius),
    ):
        colour = _colour(name, kind, source)
        inside, rim = _thing(shape, pattern, (x - place[0]) / size, (y - place[1]) / size, source.uniform(-kind.turn, kind.turn))
        image[inside] = np.where(_dark(pattern, x, y, source)[inside][:, None], 0.4 * colour, colour)
        if kind.outlined:
            image[rim] *= 0.3
    light = source.uniform(0.8, 1.1) + kind.uneven * source.uniform(-1.0, 1.0) * (x / SIDE - 0.5)
    image *= light[:, :, None]
    if kind.pale < 1.0:
        image = image.mean(2, keepdims=True) * (1.0 - kind.pale) + image * kind.pale
    image = image.reshape(SIDE, FINE, SIDE, FINE, 3).mean((1, 3))
    if kind.outlined:
        image = (image + np.roll(image, 1, 0) + np.roll(image, 1, 1)) / 3.0
    noisy = image * 255.0 + source.standard_normal(image.shape) * kind.grain
    return np.clip(np.rint(noisy), 0, 255).astype(np.uint8).transpose(2, 0, 1)


def _colour(name: str, kind: Kind, source: np.random.Generator) -> NDArray[np.float64]:
    turned, full, bright = source.uniform(-0.02, 0.02), source.uniform(0.75, 1.0), source.uniform(0.75, 1.0)
    if name == "white":
        return np.full(3, bright)
    return np.array(colorsys.hsv_to_rgb((HUES[name] + turned) % 1.0, full, bright))


def _ground(name: str, x: NDArray[Any], y: NDArray[Any], source: np.random.Generator) -> NDArray[np.float64]:
    first, second, texture = GROUNDS[name]
    across, phase, grain = source.uniform(0.8, 1.2), source.uniform(0.0, 8.0), source.random(x.shape)
    share = {
        "fall": np.clip(y / SIDE * across, 0.0, 1.0),
        "grain": grain,
        "courses": ((((y + phase) % 5.0) < 1.0) | (((x + phase + 4.0 * (((y + phase) // 5.0) % 2)) % 8.0) < 1.0)).astype(float),
        "waves": 0.5 + 0.5 * np.sin((y + 0.7 * np.sin((x + phase) * 0.6)) * 1.3 * across),
        "boards": (((x + phase) % (6.0 * across)) < 1.2).astype(float) * 0.7 + 0.3 * grain,
    }[texture]
    return np.array(first) * (1.0 - share[:, :, None]) + np.array(second) * share[:, :, None]


def _thing(
    shape: str, pattern: str, x: NDArray[Any], y: NDArray[Any], turn: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Where a thing is, and where its rim: of coordinates in which it has radius 1."""
    u, v = x * math.cos(turn) + y * math.sin(turn), y * math.cos(turn) - x * math.sin(turn)
    depth = _depth(shape, u, v)
    inside = (depth > 0.0) & (depth < (0.3 if pattern == "hollow" else math.inf))
    return inside, inside & (depth < 0.12)


def _depth(shape: str, u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.float64]:
    """How far inside a shape of radius 1 points lie, about; negative outside."""
    away = np.hypot(u, v)
    if shape in ("triangle", "star"):
        corners, waist = (3, 0.5) if shape == "triangle" else (5, 0.42)
        # Between a corner, at radius 1, and the middle of a side, at ``waist``, the rim is straight.
        half = math.pi / corners
        angle = np.abs((np.arctan2(u, -v) + half) % (2 * half) - half)
        rim = waist * math.sin(half) / (np.sin(angle) * (1.0 - waist * math.cos(half)) + waist * math.sin(half) * np.cos(angle))
        return rim - away
    found = {
        "disc": 0.9 - away,
        "square": 0.75 - np.maximum(np.abs(u), np.abs(v)),
        "angle": np.minimum(np.minimum(0.8 - np.abs(u), 0.8 - np.abs(v)), np.maximum(-0.25 - u, v - 0.25)),
        "bar": np.minimum(1.0 - np.abs(u), 0.32 - np.abs(v)),
        "crescent": np.minimum(0.95 - away, np.hypot(u - 0.45, v) - 0.75),
        "cross": np.maximum(np.minimum(0.95 - np.abs(u), 0.28 - np.abs(v)), np.minimum(0.95 - np.abs(v), 0.28 - np.abs(u))),
    }[shape]
    return np.asarray(found)


def _dark(pattern: str, x: NDArray[Any], y: NDArray[Any], source: np.random.Generator) -> NDArray[np.bool_]:
    """Where a pattern's darker tone lies."""
    phase = source.uniform(0.0, 4.0)
    if pattern == "striped":
        return np.asarray(((x + y + phase) % 4.5) < 2.0)
    if pattern == "dotted":
        return np.asarray((((x + phase) % 4.0) < 1.8) & (((y + phase) % 4.0) < 1.8))
    return np.zeros(x.shape, dtype=bool)
