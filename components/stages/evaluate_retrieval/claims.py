"""The paper's claims as differences between rows, and when one holds.

Each claim is one or more contrasts: weighted sums of rows' recalls over the same queries. A contrast has a 95 % interval over
queries (seeds averaged first) and a value for each seed. It **holds** when the whole interval is above 0 and every seed's value
is, it **does not hold** when all that is below 0, and otherwise it **cannot be told** here. A claim holds when all its contrasts
do, both ways, and does not when one of them does not. "Competitive" is at most a tenth below: the paper names no margin.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, replace

from components.reporting.values import Value
from components.stages.evaluate_retrieval.columns import Term
from components.stages.evaluate_retrieval.paper import reported
from components.stages.evaluate_retrieval.scoring import TO_IMAGE, TO_SPEECH

HOLDS, FAILS, UNTOLD, UNMEASURED = "holds", "does not hold", "cannot be told", "not measured"
CENTRE, WHOLE = "centre", "whole"
ALMOST = 0.9
"""Of the other's recall: from here up a row is competitive with it."""


@dataclass(frozen=True)
class WeightedSum:
    """A weighted sum of rows' recalls, which a claim says is above 0."""

    title: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Claim:
    """What the paper says, and what would show it here."""

    says: str
    source: str
    depth: int
    """k of the R@k that it is judged by."""
    sums: tuple[WeightedSum, ...] = ()
    needs: tuple[str, ...] = ()
    """Rows that were not measured, and without which it cannot be judged."""


def claims_of(rows: Collection[str], crops: Collection[str], main: str) -> list[Claim]:
    """The claims that the rows there are speak of, those first of which nothing is missing.

    Args:
        rows: the rows measured; ``<loss>-<batch>`` or ``<start>-<percent>``.
        crops: what of the pictures was seen.
        main: the crop that tables tell.
    """
    kinds = {row.rpartition("-")[0] for row in rows}
    found = _table_1(rows, main) if kinds & {"mms", "triplet"} else _table_2(rows, main)
    found.append(_cropping(rows, crops))
    return found


def _table_1(rows: Collection[str], crop: str) -> list[Claim]:
    there = sorted(int(row.rpartition("-")[2]) for row in rows if row.startswith("mms-"))
    # Where a comparison is missing, the paper's are asked for.
    both = [batch for batch in there if f"triplet-{batch}" in rows] or [48]
    steps = list(itertools.pairwise(there)) or [(12, 24), (24, 48)]
    source = "section 4.2, table 1"
    says = "Masked margin softmax is better than the triplet loss at the same batch size."
    better = _of(rows, says, source, 10, [_more(f"mms-{batch}", f"triplet-{batch}", crop) for batch in both])
    says = "Masked margin softmax has more than double the triplet loss’s R@1 at the same batch size."
    double = _of(rows, says, source, 1, [_double(f"mms-{batch}", f"triplet-{batch}", crop) for batch in both])
    says = "Retrieval improves with the batch size, from each size to the next."
    larger = _of(rows, says, source, 10, [_more(f"mms-{two}", f"mms-{one}", crop) for one, two in steps])
    return [better, double, larger]


def _table_2(rows: Collection[str], crop: str) -> list[Claim]:
    return [
        _of(
            rows, "Warm-starting the speech tower is better than starting from scratch.", "section 4.3, table 2", 10,
            [_more("audio-100", "none-100", crop)],
        ),
        _of(
            rows, "Warm-starting the image tower is better than starting from scratch.", "section 4.3, table 2", 10,
            [_more("image-100", "none-100", crop)],
        ),
        _of(
            rows, "Warm-starting both towers is better than warm-starting either one.", "section 4.3, table 2", 10,
            [_more("both-100", "audio-100", crop), _more("both-100", "image-100", crop)],
        ),
        _of(
            rows, "Warm-started, a tenth of the data is competitive with training on all of it from scratch.",
            "section 4.3, figure 3", 10, [_almost("both-10", "none-100", crop)],
        ),
        _of(
            rows, "Warm-started, a tenth of the data is competitive with all of it, warm-started as well.",
            "section 4.3, figure 3 (its text leaves open which model is meant)", 10, [_almost("both-10", "both-100", crop)],
        ),
    ]  # fmt: skip


def _cropping(rows: Collection[str], crops: Collection[str]) -> Claim:
    weight = 1.0 / len(rows)
    terms = [Term(row, crop, sign * weight) for row in rows for crop, sign in ((WHOLE, 1.0), (CENTRE, -1.0))]
    says = "Cropping limits the models: they find more when they see whole pictures."
    source = "section 4.4, table 3 (there by raters: 62.5 % of cropped pictures match their caption to all five, 89.1 % of whole)"
    claim = Claim(says, source, 10, (WeightedSum("whole less centre, the mean of all rows", tuple(terms)),))
    missing = tuple(f"crop {crop}" for crop in (CENTRE, WHOLE) if crop not in crops)
    return replace(claim, sums=(), needs=missing) if missing else claim


def _of(rows: Collection[str], says: str, source: str, depth: int, sums: list[WeightedSum]) -> Claim:
    needed = dict.fromkeys(term.row for each in sums for term in each.terms)
    missing = tuple(row for row in needed if row not in rows)
    told = "; ".join(filter(None, (_paper(each, depth) for each in sums)))
    return Claim(says, f"{source}{f': {told}' if told else ''}", depth, () if missing else tuple(sums), missing)


def _more(row: str, than: str, crop: str) -> WeightedSum:
    return WeightedSum(f"{row} less {than}", (Term(row, crop, 1.0), Term(than, crop, -1.0)))


def _double(row: str, than: str, crop: str) -> WeightedSum:
    return WeightedSum(f"{row} less twice {than}", (Term(row, crop, 1.0), Term(than, crop, -2.0)))


def _almost(row: str, other: str, crop: str) -> WeightedSum:
    return WeightedSum(f"{row} less {ALMOST} times {other}", (Term(row, crop, 1.0), Term(other, crop, -ALMOST)))


def _paper(each: WeightedSum, depth: int) -> str:
    """What the paper has for the rows of a contrast."""
    found = []
    for term in each.terms:
        there, back = (reported(term.row, way, depth) for way in (TO_IMAGE, TO_SPEECH))
        if there is None or back is None:
            return ""
        found.append(f"{term.row} {there:.3f} and {back:.3f}")
    return f"R@{depth} of {', '.join(found)}"


def verdict(value: Value) -> str:
    """Return whether a weighted sum is above 0: its interval over queries, and its value for each seed."""
    if (value.low or 0.0) > 0 and all(seed > 0 for seed in value.seeds):
        return HOLDS
    if (value.high or 0.0) < 0 and all(seed < 0 for seed in value.seeds):
        return FAILS
    return UNTOLD


def verdict_of_all(verdicts: Collection[str]) -> str:
    """Of a claim, from those of its contrasts both ways."""
    if not verdicts:
        return UNMEASURED
    if FAILS in verdicts:
        return FAILS
    return HOLDS if set(verdicts) == {HOLDS} else UNTOLD
