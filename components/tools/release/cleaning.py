"""How the test split was cleaned by raters, for the card of a release: what was rated, by how many, the threshold, agreement."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from components.core.stage_output import StageOutput

BAD, UNRATED = "rated_bad", "unrated"
"""Rules of the split's ledger."""


@dataclass(frozen=True)
class Cleaning:
    """The cleaning of one test split."""

    min_good: int
    """Raters that had to call a caption GOOD."""
    asked: tuple[int, ...]
    """Numbers of raters that a caption had, ascending."""
    raters: int
    """People who rated."""
    rated: int
    """Test records that were rated."""
    kept: int
    """Those that stay."""
    unrated: int
    """Test records that stay without ratings."""
    left_out: int
    """Test records that were dropped because they have no ratings."""
    alpha: float | None
    """Krippendorff's alpha over all rated captions; None where it is not defined."""

    def text(self) -> str:
        """Return the description in sentences."""
        asked = " or ".join(map(str, self.asked))
        alpha = "is not defined" if self.alpha is None else f"is {self.alpha:.3f}"
        people = "one person" if self.raters == 1 else f"{self.raters:,} people in all"
        others = f" {self.unrated:,} test records were not rated and stay." if self.unrated else ""
        others += f" {self.left_out:,} test records were not rated and are left out." if self.left_out else ""
        refused = self.rated - self.kept
        return (
            f"The test split is cleaned by people, as that of Conceptual Captions is. {self.rated:,} test records were rated GOOD"
            f" or BAD by {asked} {'rater' if asked == '1' else 'raters'} each ({people}). {self.kept:,} with {self.min_good} or"
            f" more GOOD stay, {refused:,} are dropped.{others} Krippendorff's alpha of the raters {alpha}. Train and validation"
            " are not cleaned."
        )


def describe_cleaning(split: StageOutput, settings: dict[str, Any], ratings: StageOutput) -> Cleaning:
    """Return the cleaning of a finished split.

    Args:
        settings: of the split.
        ratings: the output of ``evaluate_ratings`` that it read.
    """
    table = split.table(["key", "split"])
    test = table.filter(pc.equal(table["split"], "test"))["key"]
    votes = ratings.table(["records", "ratings"])
    own = votes.filter(pc.greater(pc.list_value_length(votes["records"]), 0))
    keys = pc.list_flatten(own["records"])
    kept = pc.sum(pc.is_in(test, value_set=keys)).as_py() or 0
    dropped = split.manifest.counts.get("record", {}).get("dropped", {})
    scores = json.loads(ratings.file("scores.json").read_bytes())["ratings"]
    return Cleaning(
        min_good=settings["min_good"],
        asked=tuple(sorted(pc.unique(own["ratings"]).to_pylist())),
        raters=scores["raters"],
        rated=kept + dropped.get(BAD, 0),
        kept=kept,
        unrated=len(test) - kept,
        left_out=dropped.get(UNRATED, 0),
        alpha=scores["alpha"].get("dataset", {}).get("mean"),
    )
