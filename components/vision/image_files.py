"""Image files of people and programs: checked before anything decodes them, and read from the rows of a table."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.web.images.opening import (
    OPENED,
    ReadImage,
    TooLargeImageError,
    UnknownImageError,
    UnreadableImageError,
    open_header,
    read_image,
)

LEAST_SIDE = 8
"""Minimum side of an image in px; nothing can be recognised in smaller ones."""
MOST_SIDE = 10_000
"""Maximum side of an image in px: encoders pad it to a square, whose pixels grow with the square of this."""
LARGEST_BYTES = 1 << 26


def require_image(data: bytes, where: str, refusal: str = "is not an image that can be read", hint: str = "") -> ReadImage:
    """Return the decoded image; raise unless it can be decoded completely and has a usable size.

    Args:
        refusal: the error for what is no image.
        hint: how to fix that.

    Raises:
        HearsightError: it is no image, damaged, too small or too large. Sizes are read before pixels are decoded.
    """
    try:
        width, height = open_header(data, max_side=MOST_SIDE).size
        if min(width, height) < LEAST_SIDE:
            what = f"is an image of {width} × {height} px, smaller than {LEAST_SIDE} px a side"
            raise HearsightError(what, where=where, hint="give a larger one")
        return read_image(data)
    except UnknownImageError:
        hint = hint or f"give one of {', '.join(OPENED)}"
        raise HearsightError(refusal, where=where, hint=hint) from None
    except TooLargeImageError as error:
        what = f"is an image of {error.width} × {error.height} px"
        raise HearsightError(what, where=where, hint="make it smaller") from None
    except UnreadableImageError as error:
        raise HearsightError(f"is a damaged image ({error})", where=where, hint="give another file") from error


def one_line(error: Exception) -> str:
    """Return an error's message as one line."""
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(message.split()) or type(error).__name__


def read_image_file(path: Path, where: str = "") -> bytes:
    """Return the bytes of a file, unchecked; raise HearsightError if it cannot be read or has more than ``LARGEST_BYTES``."""
    where = where or str(path)
    try:
        if path.exists() and not path.is_file():  # a pipe or a device may never answer
            raise HearsightError("is no regular file", where=where, hint="name an image")
        with path.open("rb") as handle:
            data = handle.read(LARGEST_BYTES + 1)
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else f"cannot be read ({one_line(error)})"
        raise HearsightError(reason, where=where, hint="name an image") from None
    if len(data) > LARGEST_BYTES:
        raise HearsightError(f"has more than {LARGEST_BYTES >> 20} MiB", where=where, hint="make it smaller")
    return data


def file_of_row(row: Mapping[str, Any], where: str) -> bytes | str:
    """Return the bytes in a row's ``content`` (bytes, or base64 as JSON has it), or its ``path``.

    Raises:
        HearsightError: the row does not have exactly one of them, or the content is neither bytes nor base64.
    """
    present = {name: row[name] for name in ("content", "path") if is_present(row.get(name))}
    if len(present) != 1:
        what = "has both content and path" if present else "has neither content nor path"
        raise HearsightError(what, where=where, hint="give a file's bytes (base64 in JSON) as content, or a path")
    if "path" in present:
        return str(present["path"])
    content = present["content"]
    if isinstance(content, str):
        try:
            content = base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError) as error:
            raise HearsightError(f"its content is not base64 ({error})", where=where, hint="encode the file's bytes") from None
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise HearsightError(f"its content has type {type(content).__name__}", where=where, hint="give bytes, or their base64")
    return bytes(content)


def is_present(value: Any) -> bool:
    """Return whether a table's cell has a value; missing ones are None or NaN."""
    if value is None or (isinstance(value, float) and value != value):
        return False
    return not (isinstance(value, (str, bytes)) and not value)
