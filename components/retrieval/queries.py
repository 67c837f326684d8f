"""A query as it comes, a file or a stream of bytes, as what a model can embed: speech or a picture, told by its content."""

from __future__ import annotations

import io
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from components.core.errors import HearsightError
from components.retrieval.query_audio import read_spoken_query

if TYPE_CHECKING:
    from components.speech.audio.files import Samples

Kind = Literal["image", "speech"]
STDIN = "-"
LARGEST_BYTES = 1 << 29
LEAST_SIDE = 8
"""px: a picture with a shorter side is a blot of colour, and nothing in it can be recognised."""
MOST_PIXELS = 100_000_000
OTHERS = {b"ID3": "an MP3", b"\xff\xfb": "an MP3", b"\xff\xf3": "an MP3", b"%PDF": "a PDF", b"PK\x03\x04": "a ZIP"}
"""How files begin that people give, and that are not read."""


class Query(NamedTuple):
    """What is looked for."""

    kind: Kind
    data: bytes
    """The file."""
    samples: Samples | None
    """Of speech: float32 mono at 16 kHz."""
    notes: tuple[str, ...] = ()
    """What is to be told of the file."""


def read_query(source: str) -> Query:
    """The query of a path, or of standard input for ``-``.

    Raises:
        HearsightError: there is no such file, or as :func:`parse_query`.
    """
    if source == STDIN:
        if sys.stdin.isatty():
            raise HearsightError("nothing is piped in", where="standard input", hint="write `hearsight search - < FILE`")
        return parse_query(sys.stdin.buffer.read(LARGEST_BYTES + 1), "standard input")
    path = Path(source)
    try:
        if path.is_dir():
            raise HearsightError("is a folder", where=source, hint="name a sound or a picture in it")
        if path.exists() and not path.is_file():
            # A device has no end, and a pipe that nobody writes to is waited for.
            raise HearsightError("is a device or a pipe", where=source, hint="name a file, or pipe it in: `hearsight search -`")
        with path.open("rb") as handle:
            return parse_query(handle.read(LARGEST_BYTES + 1), source)
    except (OSError, ValueError) as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else f"cannot be read ({_line(error)})"
        raise HearsightError(reason, where=source, hint="name a sound or a picture, or - for standard input") from None


def parse_query(data: bytes, where: str) -> Query:
    """The query that these bytes are.

    Raises:
        HearsightError: they are neither sound nor picture, or one that cannot be searched with: silence, noise, a blot.
    """
    if not data:
        raise HearsightError("is empty", where=where, hint="give a sound or a picture")
    if len(data) > LARGEST_BYTES:
        raise HearsightError(f"has more than {LARGEST_BYTES >> 20} MiB", where=where, hint="cut it")
    if data[:4] in (b"RIFF", b"RIFX", b"RF64", b"fLaC", b"OggS") and data[8:12] != b"WEBP":
        samples, notes = read_spoken_query(data, where)
        return Query("speech", data, samples, notes)
    _look(data, where)
    return Query("image", data, None)


def _look(data: bytes, where: str) -> None:
    """Hold a picture to what can be looked at, all of it decoded."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as opened:
                width, height = opened.size
                if min(width, height) < LEAST_SIDE:
                    what = f"is a picture of {width} × {height} px, and below {LEAST_SIDE} a side nothing can be recognised"
                    raise HearsightError(what, where=where, hint="give a larger one")
                if width * height > MOST_PIXELS:
                    raise HearsightError(f"is a picture of {width} × {height} px", where=where, hint="make it smaller")
                opened.convert("RGBA")
    except UnidentifiedImageError:
        called = next((f", but {name} file" for start, name in OTHERS.items() if data.startswith(start)), "")
        what = f"is neither a sound (WAV, FLAC, Ogg) nor a picture that can be read{called}"
        raise HearsightError(what, where=where, hint="convert it, or give another file") from None
    except HearsightError:
        raise
    # Pillow's readers raise what they like at damaged files, struct.error and IndexError among it.
    except Exception as error:
        raise HearsightError(f"is no whole picture ({_line(error)})", where=where, hint="give another file") from error


def _line(error: Exception) -> str:
    told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(told.split()) or type(error).__name__
