"""The papers' figures of human evaluations."""

from __future__ import annotations

from components.ratings.tables.shares import ShareRow
from components.ratings.tables.uses import DATASET, MODEL

CC_TABLE_2 = (None, 0.903, None)
"""CC §3.2, 4K captions of the test split, 1+, 2+, 3+ of 3. CC §3.2 says over 90 %; the figure is CSC §2.1's."""
CC_TABLE_4 = {
    ("coco", "rnn8x8"): (0.390, 0.276, 0.173),
    ("coco", "t2t8x8"): (0.478, 0.362, 0.275),
    ("conceptual", "rnn8x8"): (0.571, 0.418, 0.277),
    ("conceptual", "t2t8x8"): (0.659, 0.506, 0.355),
}
"""CC table 4: (training, network) → 1+, 2+, 3+ of 3, on Flickr 1K test."""
CSC_TABLE_3 = {"centre": (0.949, 0.918, 0.874, 0.800, 0.625), "whole": (0.995, 0.994, 0.989, 0.971, 0.891)}
"""CSC table 3: crop → 1+ to 5 of 5, ground truth of the Flickr Audio Caption Corpus, test."""
CSC_TABLE_4 = {
    ("none-100", "speech_to_image"): {"human": (0.056, 0.154), "known": (0.018, 0.063)},
    ("none-100", "image_to_speech"): {"human": (0.070, 0.196), "known": (0.024, 0.072)},
    ("both-100", "speech_to_image"): {"human": (0.229, 0.522), "known": (0.139, 0.368)},
    ("both-100", "image_to_speech"): {"human": (0.306, 0.638), "known": (0.182, 0.435)},
}
"""CSC table 4: (row, direction) → R@1 and R@5. It prints .558 as the automatic R@5 of both-100, image to speech, which is the
R@10 of table 2; here it is table 2's .435."""


def shares(row: ShareRow) -> tuple[float | None, ...]:
    """Return the papers' shares beside a row's; none for another number of raters than theirs.

    A network's source is ``<training set>-<network>-<seed>``; all sets but ``coco`` stand beside Conceptual Captions.
    """
    training, _, network = row.source.rpartition("-")[0].rpartition("-")
    model = CC_TABLE_4.get(("coco" if training == "coco" else "conceptual", network), ())
    printed = {DATASET: CC_TABLE_2, MODEL: model}.get(row.table, CSC_TABLE_3.get(row.crop, ()))
    return printed if len(printed) == row.raters else (None,) * row.raters


def recalls(source: str, direction: str) -> dict[str, tuple[float, float]]:
    """Return CSC's R@1 and R@5 by raters and by known pairs; ``source`` is ``<row>-<seed>``. Empty for other rows."""
    return CSC_TABLE_4.get((source.rpartition("-")[0], direction), {})
