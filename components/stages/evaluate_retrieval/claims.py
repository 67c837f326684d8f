"""The recalls that the paper reports, and its claims as differences between rows.

A claim is one or more contrasts: weighted sums of rows' recalls over the same queries, judged in both directions
(:mod:`components.reporting.verdicts`). "Competitive" means at most a tenth below, since the paper names no margin;
both recalls are then counted above chance, for rows at chance would be competitive otherwise. Where chance finds everything, no
claim is measured.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass

from components.reporting.verdicts import Claim
from components.stages.evaluate_retrieval.columns import Term
from components.stages.evaluate_retrieval.scoring import TO_IMAGE, TO_SPEECH

DEPTHS = (1, 5, 10, 50, 100)
TABLE_1 = {
    "triplet-48": {TO_IMAGE: (0.037, 0.109, 0.165, 0.367, 0.474), TO_SPEECH: (0.031, 0.101, 0.155, 0.346, 0.455)},
    "mms-12": {TO_IMAGE: (0.025, 0.083, 0.129, 0.311, 0.432), TO_SPEECH: (0.024, 0.083, 0.132, 0.315, 0.433)},
    "mms-24": {TO_IMAGE: (0.054, 0.143, 0.206, 0.418, 0.533), TO_SPEECH: (0.046, 0.137, 0.197, 0.411, 0.520)},
    "mms-48": {TO_IMAGE: (0.078, 0.204, 0.282, 0.499, 0.604), TO_SPEECH: (0.074, 0.194, 0.269, 0.485, 0.587)},
}
"""Conceptual Spoken Captions, validation: loss and batch size."""
TABLE_2 = {
    "none-100": {TO_IMAGE: (0.018, 0.063, 0.101, 0.288, 0.428), TO_SPEECH: (0.024, 0.072, 0.124, 0.332, 0.458)},
    "audio-100": {TO_IMAGE: (0.041, 0.138, 0.211, 0.467, 0.613), TO_SPEECH: (0.055, 0.166, 0.241, 0.522, 0.654)},
    "image-100": {TO_IMAGE: (0.062, 0.190, 0.279, 0.560, 0.703), TO_SPEECH: (0.081, 0.242, 0.352, 0.664, 0.782)},
    "both-100": {TO_IMAGE: (0.139, 0.368, 0.495, 0.781, 0.875), TO_SPEECH: (0.182, 0.435, 0.558, 0.842, 0.910)},
}
"""Flickr Audio Caption Corpus, test: what is warm-started. The paper prints .550 as R@1 image to speech of the audio warm start;
here it is .055, since R@5 is .166. Its table 4 prints .558, the R@10 of table 2, as R@5; here it is table 2's .435."""
TABLES = {"table 1": TABLE_1, "table 2": TABLE_2}
TITLES = {
    "table 1": "Conceptual Spoken Captions, validation: 3.3 million synthetic captions, Inception-ResNet-v2 towers, 3 M steps",
    "table 2": "Flickr Audio Caption Corpus, test: 1,000 images, 5,000 spoken captions",
}


def reported(row: str, direction: str, depth: int) -> float | None:
    """Return the paper's R@``depth`` of a row, or None."""
    recalls = (TABLE_1 | TABLE_2).get(row)
    return recalls[direction][DEPTHS.index(depth)] if recalls and depth in DEPTHS else None


def table_of(row: str) -> str | None:
    """Return the paper's table that has the row, or None."""
    return "table 1" if row in TABLE_1 else "table 2" if row in TABLE_2 else None


CENTRE, WHOLE = "centre", "whole"
ALMOST = 0.9
"""A row is competitive with another from this share of the other's recall."""


@dataclass(frozen=True)
class WeightedSum:
    """A weighted sum of rows' recalls that a claim states to be above 0."""

    title: str
    terms: tuple[Term, ...]
    above_chance: bool = False
    """Whether it is of recalls less chance."""


@dataclass(frozen=True, kw_only=True)
class RecallClaim(Claim):
    """A claim of the paper and the contrasts that test it."""

    depth: int
    """k of the R@k that decides it."""
    sums: tuple[WeightedSum, ...] = ()


def applicable_claims(rows: Collection[str], crops: Collection[str], main: str) -> list[RecallClaim]:
    """Return the claims about the kinds of rows measured, with or without all rows they need.

    Args:
        rows: the rows measured; ``<loss>-<batch>`` or ``<start>-<percent>``.
        main: the crop shown in the tables.
    """
    kinds = {row.rpartition("-")[0] for row in rows}
    claims = _table_1(rows, main) if kinds & {"mms", "triplet"} else _table_2(rows, main)
    claims.append(_cropping(rows, crops))
    return claims


def _table_1(rows: Collection[str], crop: str) -> list[RecallClaim]:
    batches = sorted(int(row.rpartition("-")[2]) for row in rows if row.startswith("mms-"))
    # Without any comparison the claim lists the paper's rows as missing.
    compared = [batch for batch in batches if f"triplet-{batch}" in rows] or [48]
    steps = list(itertools.pairwise(batches)) or [(12, 24), (24, 48)]
    source = "section 4.2, table 1"
    statement = "Masked margin softmax is better than the triplet loss at the same batch size."
    better = _make_claim(rows, statement, source, 10, [_less(f"mms-{batch}", f"triplet-{batch}", crop) for batch in compared])
    statement = "Masked margin softmax has more than double the triplet loss’s R@1 at the same batch size."
    double = _make_claim(rows, statement, source, 1, [_less(f"mms-{batch}", f"triplet-{batch}", crop, 2.0) for batch in compared])
    statement = "Retrieval improves with the batch size, from each size to the next."
    larger = _make_claim(rows, statement, source, 10, [_less(f"mms-{two}", f"mms-{one}", crop) for one, two in steps])
    return [better, double, larger]


def _table_2(rows: Collection[str], crop: str) -> list[RecallClaim]:
    speech, image = _less("audio-100", "none-100", crop), _less("image-100", "none-100", crop)
    both = [_less("both-100", "audio-100", crop), _less("both-100", "image-100", crop)]
    tenth_scratch, tenth_warm = _less("both-10", "none-100", crop, ALMOST), _less("both-10", "both-100", crop, ALMOST)
    table, figure = "section 4.3, table 2", "section 4.3, figure 3"
    unclear = f"{figure} (its text leaves open which model is meant)"
    claims = (
        ("Warm-starting the speech tower is better than starting from scratch.", table, [speech]),
        ("Warm-starting the image tower is better than starting from scratch.", table, [image]),
        ("Warm-starting both towers is better than warm-starting either one.", table, both),
        ("Warm-started, a tenth of the data is competitive with training on all of it from scratch.", figure, [tenth_scratch]),
        ("Warm-started, a tenth of the data is competitive with all of it, warm-started as well.", unclear, [tenth_warm]),
    )
    return [_make_claim(rows, statement, source, 10, sums) for statement, source, sums in claims]


def _cropping(rows: Collection[str], crops: Collection[str]) -> RecallClaim:
    weight = 1.0 / len(rows)
    terms = [Term(row, crop, sign * weight) for row in rows for crop, sign in ((WHOLE, 1.0), (CENTRE, -1.0))]
    statement = "Cropping limits the models: they find more when they see whole images."
    source = "section 4.4, table 3 (there by raters: 62.5 % of cropped images match their caption to all five, 89.1 % of whole)"
    sums = (WeightedSum("whole less centre, the mean of all rows", tuple(terms)),)
    missing = tuple(f"crop {crop}" for crop in (CENTRE, WHOLE) if crop not in crops)
    return RecallClaim(says=statement, source=source, depth=10, sums=() if missing else sums, needs=missing)


def _make_claim(rows: Collection[str], statement: str, source: str, depth: int, sums: list[WeightedSum]) -> RecallClaim:
    needed = dict.fromkeys(term.row for weighted in sums for term in weighted.terms)
    missing = tuple(row for row in needed if row not in rows)
    values = "; ".join(filter(None, (_paper_values(weighted, depth) for weighted in sums)))
    source = f"{source}{f': {values}' if values else ''}"
    return RecallClaim(says=statement, source=source, depth=depth, sums=() if missing else tuple(sums), needs=missing)


def _less(row: str, other: str, crop: str, times: float = 1.0) -> WeightedSum:
    factor = {1.0: "", 2.0: "twice "}.get(times, f"{times} times ")
    above_chance = times == ALMOST
    title = f"{row} less {factor}{other}{', both above chance' if above_chance else ''}"
    return WeightedSum(title, (Term(row, crop, 1.0), Term(other, crop, -times)), above_chance)


def _paper_values(weighted: WeightedSum, depth: int) -> str:
    """Return the paper's recalls of the rows of a contrast, or an empty string."""
    values = []
    for term in weighted.terms:
        to_image, to_speech = (reported(term.row, direction, depth) for direction in (TO_IMAGE, TO_SPEECH))
        if to_image is None or to_speech is None:
            return ""
        values.append(f"{term.row} {to_image:.3f} and {to_speech:.3f}")
    return f"R@{depth} of {', '.join(values)}"
