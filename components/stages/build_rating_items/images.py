"""Images as raters see them: whole or the models' centre crop, upright, small, as JPEG without metadata."""

from __future__ import annotations

import io
import json
from pathlib import Path

from PIL.Image import Resampling

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.execution.stage import Task
from components.vision.crops import crop_window, evaluation_window
from components.vision.training_images import open_image

SIDE = 640
"""px, of the longer side at most: an image fills half of a common screen beside its caption."""
QUALITY = 85
UNREADABLE_FILE = "unreadable.json"


def image_name(sha256: str, crop: str) -> str:
    """Return the name of an image's file."""
    return f"{sha256}.{crop}.jpg"


def image_job(spec: list[tuple[str, str, list[str]]], task: Task, folder: Path) -> None:
    """Write the crops of images as JPEG, one image at a time, and the list of unreadable ones to ``unreadable.json``.

    Args:
        spec: sha256, place in the output of ``media``, and crops of each image.

    Raises:
        HearsightError: a file is not the one that the record names.
    """
    unreadable = []
    for sha256, media, crops in spec:
        data = task.inputs["media"].read_media(media)
        if sha256_bytes(data) != sha256:
            raise HearsightError("is not the image of its record", where=media, hint="run the crawl again")
        try:
            for crop in crops:
                (folder / image_name(sha256, crop)).write_bytes(shown_image(data, crop))
        except HearsightError:
            unreadable.append(sha256)
    (folder / UNREADABLE_FILE).write_text(json.dumps(unreadable), encoding="utf-8")


def read_unreadable(folder: Path) -> list[str]:
    """Return the sha256 of a job's unreadable images."""
    content: list[str] = json.loads((folder / UNREADABLE_FILE).read_text(encoding="utf-8"))
    return content


def shown_image(data: bytes, crop: str) -> bytes:
    """Return an image as a JPEG: whole, or the central square that models see; at most SIDE px, upright, on white.

    Raises:
        HearsightError: the bytes cannot be decoded.
    """
    image = open_image(data, SIDE)
    if crop == "centre":
        window = evaluation_window(*image.size, "centre")
        image = crop_window(image, window, min(SIDE, int(window.side)))
    else:
        image.thumbnail((SIDE, SIDE), Resampling.BICUBIC)
    target = io.BytesIO()
    image.save(target, "JPEG", quality=QUALITY)
    return target.getvalue()
