"""Queries from a file or standard input, recognised as speech or picture by their content."""

from __future__ import annotations

import io
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from PIL import Image, UnidentifiedImageError

from components.core.errors import HearsightError
from components.retrieval.query_audio import read_spoken_query

if TYPE_CHECKING:
    from components.speech.audio.files import Samples

Kind = Literal["image", "speech"]
STDIN = "-"
LARGEST_BYTES = 1 << 29
LEAST_SIDE = 8
"""Minimum side of a picture in px; nothing can be recognised in smaller ones."""
MOST_PIXELS = 100_000_000
UNSUPPORTED = {b"ID3": "an MP3", b"\xff\xfb": "an MP3", b"\xff\xf3": "an MP3", b"%PDF": "a PDF", b"PK\x03\x04": "a ZIP"}
"""First bytes of common files that are not supported, and their names."""


class Query(NamedTuple):
    """A search query."""

    kind: Kind
    data: bytes
    """The file's bytes."""
    samples: Samples | None
    """Of speech: float32 mono at 16 kHz; None for a picture."""
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
            raise HearsightError("is a folder", where=source, hint="name a sound or a picture in it")
        if path.exists() and not path.is_file():
            # A device has no end, and an idle pipe would block.
            raise HearsightError("is a device or a pipe", where=source, hint="name a file, or pipe it in: `hearsight search -`")
        with path.open("rb") as handle:
            return parse_query(handle.read(LARGEST_BYTES + 1), source)
    except (OSError, ValueError) as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else f"cannot be read ({_line(error)})"
        raise HearsightError(reason, where=source, hint="name a sound or a picture, or - for standard input") from None


def parse_query(data: bytes, where: str) -> Query:
    """Return the query in these bytes.

    Raises:
        HearsightError: they are neither sound nor picture, or unusable: silence, noise, a tiny picture.
    """
    if not data:
        raise HearsightError("is empty", where=where, hint="give a sound or a picture")
    if len(data) > LARGEST_BYTES:
        raise HearsightError(f"has more than {LARGEST_BYTES >> 20} MiB", where=where, hint="shorten it")
    if data[:4] in (b"RIFF", b"RIFX", b"RF64", b"fLaC", b"OggS") and data[8:12] != b"WEBP":
        samples, notes = read_spoken_query(data, where)
        return Query("speech", data, samples, notes)
    _check_picture(data, where)
    return Query("image", data, None)


def _check_picture(data: bytes, where: str) -> None:
    """Raise unless the picture can be decoded completely and has a usable size."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as image:
                width, height = image.size
                if min(width, height) < LEAST_SIDE:
                    what = f"is a picture of {width} × {height} px, smaller than {LEAST_SIDE} px a side"
                    raise HearsightError(what, where=where, hint="give a larger one")
                if width * height > MOST_PIXELS:
                    raise HearsightError(f"is a picture of {width} × {height} px", where=where, hint="make it smaller")
                image.convert("RGBA")
    except UnidentifiedImageError:
        description = next((f", but {name} file" for start, name in UNSUPPORTED.items() if data.startswith(start)), "")
        what = f"is neither a sound (WAV, FLAC, Ogg) nor a picture that can be read{description}"
        raise HearsightError(what, where=where, hint="convert it, or give another file") from None
    except HearsightError:
        raise
    # Pillow's readers raise any exception for damaged files, including struct.error and IndexError.
    except Exception as error:
        raise HearsightError(f"is a damaged picture ({_line(error)})", where=where, hint="give another file") from error


def _line(error: Exception) -> str:
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(message.split()) or type(error).__name__
