"""Captions in COCO's two file formats: references as annotations, candidates as results.

References: ``{"images": [{"id": 1}, ...], "annotations": [{"image_id": 1, "caption": "..."}, ...]}``, any number
an image. Candidates: ``[{"image_id": 1, "caption": "..."}, ...]``, one an image. Other keys are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ImageId = int | str
_TOLD = 5


@dataclass(frozen=True)
class Captions:
    """The items to score, in the references' order."""

    image_ids: list[ImageId]
    candidates: list[str]
    references: list[list[str]]


def read_json(data: bytes) -> Any:
    """The value in a JSON file.

    Raises:
        ValueError: it is empty, not UTF-8, not JSON, cut off, or holds a number that is none.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 (byte {error.start})") from None
    if not text.strip():
        raise ValueError("is empty")
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        cut = " (cut off?)" if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated") else ""
        raise ValueError(f"is not JSON: {error.msg}, line {error.lineno} column {error.colno}{cut}") from None
    except RecursionError:
        raise ValueError("is not JSON of captions: nested too deep") from None


def _no_number(name: str) -> Any:
    raise ValueError(f"has {name} where a number is needed")


def read_references(data: bytes) -> dict[ImageId, list[str]]:
    """Each image's captions, in the file's order; an image that is listed without any has an empty list.

    Raises:
        ValueError: the file is not of this format.
    """
    content = read_json(data)
    if not isinstance(content, dict) or not isinstance(content.get("annotations"), list):
        raise ValueError('is not of COCO\'s annotations: {"images": [{"id"}], "annotations": [{"image_id", "caption"}]}')
    images = content.get("images", [])
    if not isinstance(images, list):
        raise ValueError('has no list under "images"')
    found: dict[ImageId, list[str]] = {_image_id(image, "id", "images", at): [] for at, image in enumerate(images)}
    for at, row in enumerate(content["annotations"]):
        image_id = _image_id(row, "image_id", "annotations", at)
        if images and image_id not in found:
            raise ValueError(f'has a caption of image {image_id!r}, which is not under "images" (annotations, entry {at})')
        found.setdefault(image_id, []).append(_caption(row, image_id))
    if not found:
        raise ValueError("has no captions")
    return found


def read_candidates(data: bytes) -> dict[ImageId, str]:
    """Each image's caption.

    Raises:
        ValueError: the file is not of this format, or an image has several.
    """
    content = read_json(data)
    if not isinstance(content, list):
        raise ValueError('is not of COCO\'s results: [{"image_id", "caption"}]')
    found: dict[ImageId, str] = {}
    twice: dict[ImageId, None] = {}
    for at, row in enumerate(content):
        image_id = _image_id(row, "image_id", "results", at)
        if image_id in found:
            twice[image_id] = None
        found[image_id] = _caption(row, image_id)
    if twice:
        raise ValueError(f"has several captions for {_listed(twice)}, where one an image is scored")
    if not found:
        raise ValueError("has no captions")
    return found


def match_captions(
    references: Mapping[ImageId, list[str]], candidates: Mapping[ImageId, str], *, subset: bool = False
) -> Captions:
    """Candidates beside their references.

    Args:
        references: by image.
        candidates: by image.
        subset: score only the images that have a candidate.

    Raises:
        ValueError: an image has no reference, a candidate no image, or (without ``subset``) an image no candidate.
    """
    unknown = [image_id for image_id in candidates if image_id not in references]
    if unknown:
        raise ValueError(f"candidates for {_listed(unknown)}, not among the references{_kinds(unknown, references)}")
    chosen = [image_id for image_id in references if image_id in candidates or not subset]
    bare = [image_id for image_id in chosen if not any(text.strip() for text in references[image_id])]
    if bare:
        raise ValueError(f"no reference for {_listed(bare)}")
    missing = [image_id for image_id in chosen if image_id not in candidates]
    if missing:
        raise ValueError(f"no candidate for {_listed(missing)} of {len(references)}")
    return Captions(chosen, [candidates[image_id] for image_id in chosen], [references[image_id] for image_id in chosen])


def _image_id(row: Any, key: str, where: str, at: int) -> ImageId:
    if not isinstance(row, dict) or key not in row:
        raise ValueError(f'has no "{key}" in entry {at} of its {where}')
    value = row[key]
    # A bool is an int to Python, and 1.0 would be equal to 1.
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f'has "{key}" {_short(value)} in entry {at} of its {where}, where a whole number or text is needed')
    return value


def _caption(row: Mapping[str, Any], image_id: ImageId) -> str:
    value = row.get("caption")
    if not isinstance(value, str):
        raise ValueError(f"has {_short(value)} as caption of image {_short(image_id)}, where text is needed")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise ValueError(f"has half a character (a lone surrogate) in the caption of image {_short(image_id)}")
    return value


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _listed(image_ids: Collection[ImageId]) -> str:
    """How many, and the first of them."""
    first = ", ".join(_short(each) for each in list(image_ids)[:_TOLD])
    more = ", ..." if len(image_ids) > _TOLD else ""
    return f"{len(image_ids)} image{'s' * (len(image_ids) != 1)} ({first}{more})"


def _kinds(unknown: Sequence[ImageId], references: Iterable[ImageId]) -> str:
    """What explains most mismatches: numbers in one file, the same as text in the other."""
    known = {str(image_id) for image_id in references}
    return " (numbers in one file, text in the other)" if str(unknown[0]) in known else ""
