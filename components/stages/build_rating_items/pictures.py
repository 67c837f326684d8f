"""Pictures as raters see them: whole or the models' centre crop, upright, small, as JPEG without metadata."""

from __future__ import annotations

import io
import json
from pathlib import Path

from PIL.Image import Resampling

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.execution.stage import Task
from components.vision.crops import crop_window, evaluation_window
from components.vision.training_pictures import open_picture

SIDE = 640
"""px, of the longer side at most: a picture fills half of a common screen beside its caption."""
QUALITY = 85
UNREADABLE_FILE = "unreadable.json"


def picture_name(sha256: str, crop: str) -> str:
    """Return the name of a picture's file."""
    return f"{sha256}.{crop}.jpg"


def picture_job(spec: list[tuple[str, str, list[str]]], task: Task, folder: Path) -> None:
    """Write the crops of pictures as JPEG, one picture at a time, and the list of unreadable ones to ``unreadable.json``.

    Args:
        spec: sha256, place in the output of ``media``, and crops of each picture.

    Raises:
        HearsightError: a file is not the one that the record names.
    """
    unreadable = []
    for sha256, media, crops in spec:
        data = task.inputs["media"].read_media(media)
        if sha256_bytes(data) != sha256:
            raise HearsightError("is not the picture of its record", where=media, hint="run the crawl again")
        try:
            for crop in crops:
                (folder / picture_name(sha256, crop)).write_bytes(shown_picture(data, crop))
        except HearsightError:
            unreadable.append(sha256)
    (folder / UNREADABLE_FILE).write_text(json.dumps(unreadable), encoding="utf-8")


def read_unreadable(folder: Path) -> list[str]:
    """Return the sha256 of a job's unreadable pictures."""
    content: list[str] = json.loads((folder / UNREADABLE_FILE).read_text(encoding="utf-8"))
    return content


def shown_picture(data: bytes, crop: str) -> bytes:
    """Return a picture as a JPEG: whole, or the central square that models see; at most SIDE px, upright, on white.

    Raises:
        HearsightError: the bytes cannot be decoded.
    """
    picture = open_picture(data, SIDE)
    if crop == "centre":
        window = evaluation_window(*picture.size, "centre")
        picture = crop_window(picture, window, min(SIDE, int(window.side)))
    else:
        picture.thumbnail((SIDE, SIDE), Resampling.BICUBIC)
    target = io.BytesIO()
    picture.save(target, "JPEG", quality=QUALITY)
    return target.getvalue()
