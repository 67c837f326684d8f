"""Rules about the picture: encoding, size, shape, pornography (CC §3, image-based filtering)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.stages.filter.rules import Finding, Rule, Subject

if TYPE_CHECKING:
    from components.stages.filter import Params


def image_format(subject: Subject, params: Params) -> Finding:
    """The encoding must be an allowed one (CC: JPEG)."""
    return Finding(subject.format in params.formats, subject.format, list(params.formats))


def image_side(subject: Subject, params: Params) -> Finding:
    """Both sides must be greater than the threshold, in px (CC: 400)."""
    side = min(subject.width, subject.height)
    return Finding(side > params.sides_over, side, f"> {params.sides_over} px")


def aspect_ratio(subject: Subject, params: Params) -> Finding:
    """The ratio of the larger to the smaller side must not exceed the threshold (CC: 2)."""
    ratio = max(subject.width, subject.height) / max(1, min(subject.width, subject.height))
    return Finding(ratio <= params.max_aspect_ratio, ratio, f"<= {params.max_aspect_ratio}")


def pornography(subject: Subject, params: Params) -> Finding:
    """The pornography score must be below the threshold."""
    return Finding(subject.pornography < params.pornography_from, subject.pornography, f"< {params.pornography_from}")


RECORD_RULES = (
    Rule("image_format", image_format, ("formats",)),
    Rule("image_side", image_side, ("sides_over",)),
    Rule("aspect_ratio", aspect_ratio, ("max_aspect_ratio",)),
)
"""Rules that need only the record."""
PICTURE_RULES = (Rule("pornography", pornography, ("pornography_from",)),)
"""Rules that need the picture."""
