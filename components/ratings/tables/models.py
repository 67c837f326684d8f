"""Ratings by models, beside those of people and never among them: what share a model rates GOOD, and how it agrees with people.

A model is compared with the majority of people on the pairs that both rated: the share of equal verdicts, and Krippendorff's
alpha of the two verdicts, which corrects for chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.ratings.tables.estimates import Counting, Estimate, agreement, mean_values
from components.ratings.tables.shares import is_complete, raters_of
from components.ratings.tables.uses import DATASET, MODEL, RETRIEVAL, TRUTH, Uses, Votes, collect_votes

PLACES = {DATASET: (), MODEL: (), TRUTH: ("crop",), RETRIEVAL: ("direction",)}
"""Table → what separates its rows besides the source."""


@dataclass(frozen=True)
class ModelRow:
    """One model's ratings of one row of a table."""

    rater: str
    table: str
    source: str
    place: str
    """Crop or direction; empty where the table does not separate them."""
    judged: int
    """Pairs that it rated."""
    compared: int
    """Those of them that count by people's ratings."""
    figures: dict[str, Estimate]
    """``good``: share of its pairs rated GOOD; ``equal`` and ``alpha``: agreement with the majority, where it is defined."""


def model_rows(items: pa.Table, ratings: pa.Table, votes: Votes, uses: Uses, counting: Counting) -> list[ModelRow]:
    """Return the rows by model, table, source and place.

    Args:
        items: RATING_ITEM records with the columns ``key`` and ``raters``.
        ratings: RATING records of models.
        votes: of people.
    """
    rows = []
    for rater in sorted(pc.unique(ratings["rater"]).to_pylist()):
        own = collect_votes(items, ratings.filter(pc.equal(ratings["rater"], rater)))
        for table, separated in PLACES.items():
            of_table = uses.of_table(table)
            raters = raters_of(votes, of_table, counting)
            for (source, *place), group in of_table.groups("source", *separated):
                given, good = own.count(group.items, 1)
                chosen = group.items[given > 0]
                if len(chosen):
                    rows.append(_row((rater, table, source, "".join(place)), good[given > 0], votes, chosen, raters, counting))
    return rows


def _row(
    name: tuple[str, str, str, str],
    good: NDArray[np.int64],
    votes: Votes,
    items: NDArray[np.int64],
    raters: int,
    counting: Counting,
) -> ModelRow:
    answered, by_people = votes.count(items, raters)
    complete = is_complete(answered, raters, counting)
    majority = (2 * by_people > answered)[complete].astype(np.int64)
    figures = {"good": _mean(good, counting)}
    if len(majority):
        figures["equal"] = _mean((good[complete] == majority).astype(np.int64), counting)
        kinds, counts = np.unique(good[complete] + majority, return_counts=True)
        if alpha := agreement(kinds, np.full(len(kinds), 2), counts, counting):
            figures["alpha"] = alpha
    return ModelRow(*name, len(good), len(majority), figures)


def _mean(values: NDArray[np.int64], counting: Counting) -> Estimate:
    kinds, counts = np.unique(values, return_counts=True)
    return mean_values(kinds[:, None].astype(np.float64), counts, counting)[0]
