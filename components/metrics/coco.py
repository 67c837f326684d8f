"""Captions in COCO's two file formats: references as annotations, candidates as results.

References: ``{"images": [{"id": 1}, ...], "annotations": [{"image_id": 1, "caption": "..."}, ...]}``, any number an image.
Candidates:
``[{"image_id": 1, "caption": "..."}, ...]``, one an image. Other keys are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.core.text_encoding import decode_text

ImageId = int | str
_LISTED = 5


@dataclass(frozen=True)
class Captions:
    """The items to score, in the references' order."""

    image_ids: list[ImageId]
    candidates: list[str]
    references: list[list[str]]


def read_json(data: bytes) -> Any:
    """Return the value in a JSON file.

    Raises:
        ValueError: the file is empty, not UTF-8, not JSON, truncated, or contains NaN or infinity.
    """
    try:
        text = decode_text(data)
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 (byte {error.start})") from None
    if not text.strip():
        raise ValueError("is empty")
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        cut = " (truncated?)" if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated") else ""
        raise ValueError(f"is not JSON: {error.msg}, line {error.lineno} column {error.colno}{cut}") from None
    except RecursionError:
        raise ValueError("is not JSON of captions: nested too deeply") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"has {name} where a number is needed")


def read_references(data: bytes) -> dict[ImageId, list[str]]:
    """Return each image's captions, in the file's order; an image listed without captions has an empty list.

    Raises:
        ValueError: the file does not have this format.
    """
    content = read_json(data)
    if not isinstance(content, dict) or not isinstance(content.get("annotations"), list):
        raise ValueError('is not in COCO\'s annotation format: {"images": [{"id"}], "annotations": [{"image_id", "caption"}]}')
    images = content.get("images", [])
    if not isinstance(images, list):
        raise ValueError('has no list under "images"')
    captions: dict[ImageId, list[str]] = {_image_id(image, "id", "images", index): [] for index, image in enumerate(images)}
    for index, row in enumerate(content["annotations"]):
        image_id = _image_id(row, "image_id", "annotations", index)
        if images and image_id not in captions:
            raise ValueError(f'has a caption of image {image_id!r}, which is not under "images" (annotations, entry {index})')
        captions.setdefault(image_id, []).append(_caption(row, image_id))
    if not captions:
        raise ValueError("has no captions")
    return captions


def read_candidates(data: bytes) -> dict[ImageId, str]:
    """Return each image's caption.

    Raises:
        ValueError: the file does not have this format, or an image has several captions.
    """
    content = read_json(data)
    if not isinstance(content, list):
        raise ValueError('is not in COCO\'s result format: [{"image_id", "caption"}]')
    captions: dict[ImageId, str] = {}
    duplicates: dict[ImageId, None] = {}
    for index, row in enumerate(content):
        image_id = _image_id(row, "image_id", "results", index)
        if image_id in captions:
            duplicates[image_id] = None
        captions[image_id] = _caption(row, image_id)
    if duplicates:
        raise ValueError(f"has several captions for {_listed(duplicates)}, where one an image is scored")
    if not captions:
        raise ValueError("has no captions")
    return captions


def match_captions(
    references: Mapping[ImageId, list[str]], candidates: Mapping[ImageId, str], *, subset: bool = False
) -> Captions:
    """Return candidates with their references.

    Args:
        references: by image.
        candidates: by image.
        subset: score only the images that have a candidate.

    Raises:
        ValueError: an image has no reference, a candidate's image is unknown, or (without ``subset``) an image has no candidate.
    """
    unknown = [image_id for image_id in candidates if image_id not in references]
    if unknown:
        raise ValueError(f"candidates for {_listed(unknown)}, not among the references{_type_mismatch(unknown, references)}")
    chosen = [image_id for image_id in references if image_id in candidates or not subset]
    without_reference = [image_id for image_id in chosen if not any(text.strip() for text in references[image_id])]
    if without_reference:
        raise ValueError(f"no reference for {_listed(without_reference)}")
    missing = [image_id for image_id in chosen if image_id not in candidates]
    if missing:
        raise ValueError(f"no candidate for {_listed(missing)} of {len(references)}")
    return Captions(chosen, [candidates[image_id] for image_id in chosen], [references[image_id] for image_id in chosen])


def _image_id(row: Any, key: str, where: str, index: int) -> ImageId:
    if not isinstance(row, dict) or key not in row:
        raise ValueError(f'has no "{key}" in entry {index} of its {where}')
    value = row[key]
    # bool is a subclass of int, and 1.0 equals 1.
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f'has "{key}" {_short(value)} in entry {index} of its {where}, where a whole number or text is needed')
    return value


def _caption(row: Mapping[str, Any], image_id: ImageId) -> str:
    value = row.get("caption")
    if not isinstance(value, str):
        raise ValueError(f"has {_short(value)} as caption of image {_short(image_id)}, where text is needed")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise ValueError(f"has a lone surrogate in the caption of image {_short(image_id)}")
    return value


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _listed(image_ids: Collection[ImageId]) -> str:
    """Return their number, and the first of them."""
    first = ", ".join(_short(image_id) for image_id in list(image_ids)[:_LISTED])
    more = ", ..." if len(image_ids) > _LISTED else ""
    return f"{len(image_ids)} image{'s' * (len(image_ids) != 1)} ({first}{more})"


def _type_mismatch(unknown: Sequence[ImageId], references: Iterable[ImageId]) -> str:
    """Return a hint if ids are numbers in one file and text in the other, the most frequent mistake."""
    known = {str(image_id) for image_id in references}
    return " (numbers in one file, text in the other)" if str(unknown[0]) in known else ""
