"""A Flickr Audio Caption Corpus and some stamps in miniature, in their published forms and with the defects of real ones.

The speech is made of tones: each recording its own, by its name.
"""

from __future__ import annotations

import hashlib
import io
import struct
from pathlib import Path

import numpy as np
import soundfile

from tests.support.crawl.fixture_web import drawn_image

RATE = 16_000
SCENE = ("red", "kite", "on the blue sea")
IMAGES = 32
SIDES = {"train": range(20), "dev": range(20, 25), "test": range(25, 31)}
"""Which images each list names; the last is in none."""


def tone(name: str, seconds: float = 1.2, rate: int = RATE, channels: int = 1) -> np.ndarray:
    """Syllables of harmonic tones between two short silences, as (frames, channels)."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    random = np.random.default_rng(seed)
    time = np.arange(int(seconds * rate)) / rate
    pitch = random.uniform(90, 250)
    sound = sum(random.uniform(0.2, 1) / n * np.sin(2 * np.pi * pitch * n * time) for n in range(1, 8))
    sound *= 0.5 + 0.5 * np.sin(2 * np.pi * random.uniform(3, 6) * time)
    sound[: int(0.1 * rate)] = sound[-int(0.1 * rate) :] = 0
    return np.repeat((0.4 * sound / np.abs(sound).max())[:, None], channels, axis=1)


def packed(samples: np.ndarray, rate: int = RATE, kind: str = "WAV") -> bytes:
    """A sound file."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, format=kind, subtype="VORBIS" if kind == "OGG" else "PCM_16")
    return buffer.getvalue()


def name_of(number: int) -> str:
    """An image's name, as Flickr8k spells them."""
    return f"{1000268201 + number}_{hashlib.sha256(str(number).encode()).hexdigest()[:10]}.jpg"


def caption_of(number: int, which: int) -> str:
    """A caption of its own for every recording."""
    return f"A {['red', 'blue', 'green', 'white', 'black'][which]} thing number {number} stands on the grass ."


def wav_of(number: int, which: int) -> str:
    """A recording's name, as the corpus spells them."""
    return f"{Path(name_of(number)).stem}_{which}.wav"


def facc(root: Path) -> Path:
    """``root/facc``: 32 images of 5 captions each, one of 4, with the defects that :data:`DEFECTS` lists."""
    home = root / "facc"
    for name in ("Flicker8k_Dataset", "Flickr8k_text", "flickr_audio/wavs"):
        (home / name).mkdir(parents=True)
    tokens, lines, speakers = [], [], []
    for number in range(IMAGES):
        (home / "Flicker8k_Dataset" / name_of(number)).write_bytes(drawn_image(SCENE, seed=number))
        for which in range(4 if number == 7 else 5):
            tokens.append(f"{name_of(number)}#{which}\t{caption_of(number, which)}")
            lines.append(f"{wav_of(number, which)} {name_of(number)} #{which}")
            speakers.append(f"{wav_of(number, which)} {number % 9 + 1}")
            (home / "flickr_audio/wavs" / wav_of(number, which)).write_bytes(packed(tone(wav_of(number, which))))
    tokens.append("2258277193_586949ec62.jpg.1#0\tpeople waiting for the subway")
    wavs = home / "flickr_audio/wavs"
    (wavs / wav_of(0, 0)).unlink()
    whole = (wavs / wav_of(0, 1)).read_bytes()
    (wavs / wav_of(0, 1)).write_bytes(whole[:4] + struct.pack("<I", 0xFFFFFFFF) + whole[8:40] + b"\xff" * 4 + whole[44:])
    (wavs / wav_of(0, 2)).write_bytes(b"")
    (wavs / wav_of(0, 3)).write_bytes(packed(np.zeros((RATE, 1))))
    (wavs / wav_of(0, 4)).write_bytes(packed(tone("stereo", rate=44_100, channels=2), 44_100))
    (wavs / wav_of(1, 0)).write_bytes(packed(tone("short", seconds=0.25)))
    (wavs / wav_of(1, 1)).write_bytes(packed(tone("long", seconds=61)))
    (wavs / wav_of(1, 2)).write_bytes(b"no sound at all" * 9)
    (wavs / wav_of(1, 3)).write_bytes(packed(np.clip(4 * tone("loud"), -1, 1)))
    # The same audio in training and test, in a file of other bytes.
    (wavs / wav_of(2, 0)).write_bytes((wavs / wav_of(25, 0)).read_bytes() + b"LIST\4\0\0\0INFO")
    # A recording said to be of two captions: the first line counts.
    lines[lines.index(f"{wav_of(3, 1)} {name_of(3)} #1")] = f"{wav_of(3, 0)} {name_of(3)} #1"
    lines.append("a line of four fields")
    del speakers[0]
    speakers.remove(f"{wav_of(4, 0)} 5")
    (home / "Flickr8k_text/Flickr8k.token.txt").write_text("\n".join(tokens) + "\n")
    (home / "flickr_audio/wav2capt.txt").write_text("\n".join(lines) + "\n")
    (home / "flickr_audio/wav2spk.txt").write_text("\n".join(speakers) + "\n")
    for side, numbers in SIDES.items():
        names = [name_of(number) for number in numbers] + (["9999999999_nobodyhas.jpg"] if side == "dev" else [])
        (home / f"Flickr8k_text/Flickr_8k.{side}Images.txt").write_text("\n".join(names) + "\n")
    return home


DEFECTS = {
    (0, 0): "no_recording",
    (0, 2): "unreadable",
    (0, 3): "silent",
    (1, 0): "too_short",
    (1, 1): "too_long",
    (1, 2): "unreadable",
    (2, 0): "recording_on_other_side",
    (3, 1): "no_recording",
}
"""Caption → the rule it is dropped by, with seconds from .3 to 60."""

STAMPS = {
    "fruit/apple_red": {"en": "A red apple.", "fr": "Une pomme rouge.", "es": "Una manzana roja.", "pt_BR": "Uma maçã."},
    "fruit/apple_green": {"en": "A green apple.", "fr": "Une pomme verte.", "es": "Una manzana verde."},
    "fruit/cartoon/apple": {"en": "A red apple.", "fr": "une pomme  rouge !", "es": "Una manzana."},
    "animals/yak": {"en": "A yak.", "fr": "Un yak.", "es": "Un yak."},
    "animals/dog": {"en": "A dog.", "fr": "Un chien.", "es": "Un perro."},
    "animals/cat": {"en": "A cat.", "fr": "Un chat.", "es": "Un gato."},
}
"""Stamp → its captions; equal captions share a recording."""


def stamps(folder: Path) -> Path:
    """A folder of stamps: images, captions, recordings in French and Spanish; one drawn as SVG, one without speech."""
    for number, (name, captions) in enumerate(STAMPS.items()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        lines = [captions["en"], *(f"{code}.utf8={text}" for code, text in captions.items() if code != "en")]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        if name != "animals/cat":
            (folder / f"{name}.png").write_bytes(drawn_image(SCENE, seed=number, kind="PNG"))
        for code in ("fr", "es"):
            if name != "animals/dog":
                result = "".join(char for char in captions[code].lower() if char.isalpha())
                (folder / f"{name}_desc_{code}.ogg").write_bytes(packed(tone(f"{code} {result}", rate=44_100), 44_100, "OGG"))
    return folder
