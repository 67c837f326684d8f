"""Rules on the picture: encoding, size, shape, pornography (CC section 3, image-based filtering)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.stages.filter.rules import Finding, Rule, Subject

if TYPE_CHECKING:
    from components.stages.filter import Params


def image_format(subject: Subject, params: Params) -> Finding:
    """The encoding must be an allowed one (the paper: JPEG only)."""
    return Finding(subject.format in params.formats, subject.format, list(params.formats))


def image_side(subject: Subject, params: Params) -> Finding:
    """Both sides must be greater than the threshold, in px (the paper: greater than 400)."""
    side = min(subject.width, subject.height)
    return Finding(side > params.sides_over, side, f"> {params.sides_over} px")


def aspect_ratio(subject: Subject, params: Params) -> Finding:
    """The larger side may be at most so many times the smaller (the paper: no more than 2)."""
    ratio = max(subject.width, subject.height) / max(1, min(subject.width, subject.height))
    return Finding(ratio <= params.max_aspect_ratio, ratio, f"<= {params.max_aspect_ratio}")


def pornography(subject: Subject, params: Params) -> Finding:
    """The picture's pornography score must stay under the threshold."""
    return Finding(subject.pornography < params.pornography_from, subject.pornography, f"< {params.pornography_from}")


RECORD_RULES = (Rule("image_format", image_format), Rule("image_side", image_side), Rule("aspect_ratio", aspect_ratio))
"""Need nothing but the record."""
PICTURE_RULES = (Rule("pornography", pornography),)
"""Need the picture itself."""
