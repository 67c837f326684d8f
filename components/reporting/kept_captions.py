"""A sample of kept captions with their images, for a person to judge, and the precision once they are judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.core.stage_output import StageOutput
from components.ratings.precision import Precision, draw_kept, precision_of, with_verdicts
from components.reporting.pages import data_uri
from components.web.images.opening import make_thumbnail

SIDE = 240
"""px of the longer side of an image on the page."""


@dataclass(frozen=True)
class KeptCaptions:
    """The sample as a page shows it."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    """key, alt, caption, page_url, ``image`` (a data URI; "" without one), and ``good`` (None where nobody has judged)."""
    precision: Precision | None = None
    """Of the judged captions; None while there are none."""


def show_kept(output: StageOutput, media: StageOutput, verdicts: Mapping[tuple[str, str], bool]) -> KeptCaptions:
    """Return the sample of an output's captions.

    Args:
        media: the crawl that holds the images.
        verdicts: as :func:`components.ratings.precision.read_verdicts` returns them.

    Raises:
        HearsightError: a file of the outputs is damaged.
    """
    rows = draw_kept(output)
    judged = with_verdicts(rows, verdicts)
    shown = [row | {"image": _image(row["media"], media), "good": good} for row, good in zip(rows, judged, strict=True)]
    return KeptCaptions(shown, precision_of(judged))


def _image(member: str, media: StageOutput) -> str:
    return data_uri(make_thumbnail(media.read_media(member), SIDE)) if member else ""
