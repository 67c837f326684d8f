"""Queries from a file or standard input, recognised as speech or image by their content.

There is no speech detector. Three tests reject a file: nothing audible, too short for a word, and a steady sound. The level of
speech changes from one 10 ms frame to the next; that of noise and hum does not. Measured as the standard deviation of the frames'
level in dB, after a first difference that removes slow changes:

| sound | deviation |
|---|---|
| 1,504 clips of people, 2,130 of ten synthetic voices | 5.81 and more; 3.37 and more |
| white, pink, brown and blue noise of .2 to 10 s; hum and tones of 50 to 440 Hz | .88 and less; .48 and less |
| people in white noise 20, 10 and 5 dB below them | below 1 in none, 7 % and 42 % of 301 clips |
| people in pink noise 20, 10 and 5 dB below them | below 1 in none, .3 % and 1.3 % |

So pure noise is refused, and speech that noise almost masks. Music, a barking dog, intermittent noise and any other changing
sound are accepted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from components.core.errors import HearsightError
from components.speech.audio.files import RATE_HZ, Samples, read_sound
from components.speech.audio.measures import FRAME, is_silent
from components.vision.image_files import one_line, require_image

Kind = Literal["image", "speech"]
STDIN = "-"
LARGEST_BYTES = 1 << 29
UNSUPPORTED = {b"ID3": "an MP3", b"\xff\xfb": "an MP3", b"\xff\xf3": "an MP3", b"%PDF": "a PDF", b"PK\x03\x04": "a ZIP"}
"""First bytes of common files that are not supported, and their names."""


class Query(NamedTuple):
    """A search query."""

    kind: Kind
    data: bytes
    samples: Samples | None
    """Of speech: float32 mono at 16 kHz; None for an image."""
    notes: tuple[str, ...] = ()
    """Notes about the file for the user."""


def read_query(source: str) -> Query:
    """Return the query at a path, or from standard input for ``-``.

    Raises:
        HearsightError: the file cannot be read, or as :func:`parse_query`.
    """
    if source == STDIN:
        if sys.stdin.isatty():
            raise HearsightError("nothing is piped in", where="standard input", hint="write `hearsight search - < FILE`")
        return parse_query(sys.stdin.buffer.read(LARGEST_BYTES + 1), "standard input")
    path = Path(source)
    try:
        if path.is_dir():
            raise HearsightError("is a folder", where=source, hint="name a sound or an image in it")
        if path.exists() and not path.is_file():
            # A device has no end, and an idle pipe would block.
            raise HearsightError("is a device or a pipe", where=source, hint="name a file, or pipe it in: `hearsight search -`")
        with path.open("rb") as handle:
            return parse_query(handle.read(LARGEST_BYTES + 1), source)
    except (OSError, ValueError) as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else f"cannot be read ({one_line(error)})"
        raise HearsightError(reason, where=source, hint="name a sound or an image, or - for standard input") from None


def parse_query(data: bytes, where: str) -> Query:
    """Return the query in these bytes.

    Raises:
        HearsightError: they are neither sound nor image, or unusable: silence, noise, a tiny image.
    """
    if not data:
        raise HearsightError("is empty", where=where, hint="give a sound or an image")
    if len(data) > LARGEST_BYTES:
        raise HearsightError(f"has more than {LARGEST_BYTES >> 20} MiB", where=where, hint="shorten it")
    if data[:4] in (b"RIFF", b"RIFX", b"RF64", b"fLaC", b"OggS") and data[8:12] != b"WEBP":
        samples, notes = read_spoken_query(data, where)
        return Query("speech", data, samples, notes)
    description = next((f", but {name} file" for start, name in UNSUPPORTED.items() if data.startswith(start)), "")
    refusal = f"is neither a sound (WAV, FLAC, Ogg) nor an image that can be read{description}"
    require_image(data, where, refusal, "convert it, or give another file")
    return Query("image", data, None)


LEAST_SECONDS = 0.1
"""The shortest measured clip, one word, has .147 s."""
STEADY_DB = 1.0
"""Sounds with a smaller deviation of the frames' level contain no speech."""
HINT = "give a clip with speech"


def read_spoken_query(data: bytes, where: str) -> tuple[Samples, tuple[str, ...]]:
    """Return the samples of a spoken query, float32 mono at 16 kHz, and notes about the file.

    Raises:
        HearsightError: the file cannot be read, or has no audible speech.
    """
    sound = read_sound(data, where)
    samples = sound.samples
    if len(samples) < LEAST_SECONDS * RATE_HZ:
        what = f"has {len(samples) / RATE_HZ:.3f} s, less than the {LEAST_SECONDS:g} s of a word"
        raise HearsightError(what, where=where, hint="give a longer clip")
    if is_silent(samples):
        raise HearsightError("contains nothing audible", where=where, hint=HINT)
    if (deviation := steadiness(samples)) < STEADY_DB:
        what = f"is a steady sound (noise, hum): its level deviates by {deviation:.1f} dB, that of speech by over {STEADY_DB:g}"
        raise HearsightError(what, where=where, hint=HINT)
    return samples, sound.warnings


def steadiness(samples: Samples) -> float:
    """Return the standard deviation, in dB, of the level of whole 10 ms frames of the first difference; 0 without a frame."""
    change = np.diff(samples.astype(np.float64), prepend=samples[:1].astype(np.float64))
    frames = len(change) // FRAME
    if not frames:
        return 0.0
    power = np.square(change[: frames * FRAME]).reshape(frames, FRAME).mean(axis=1)
    return float((10.0 * np.log10(np.maximum(power, 1e-12))).std())
