"""Cleaning of the test split by raters: records that too few called GOOD are dropped (CC table 3).

Train and validation are left as they are, and no record changes its split. The ratings are those of a dataset with the same
records; since DVC has no cycles, the cleaned split is a dataset of its own (docs/ratings.md).
"""

from __future__ import annotations

from collections.abc import Callable

from components.core.errors import HearsightError
from components.core.ledger import dropped
from components.execution.stage import Stage

Decide = Callable[[str, str], tuple[str, dict[str, str]]]
"""(key, group) of a record → its split, and its ledger row; a record without a split is dropped."""
TEST = "test"
BAD, UNRATED = "rated_bad", "unrated"
"""Rules of dropped test records."""
Votes = dict[str, tuple[int, int]]
"""Record → raters that called it GOOD, and all that count."""


def read_votes(stage: Stage) -> Votes:
    """Return the votes on the dataset's records; empty where the split is not cleaned.

    Raises:
        HearsightError: ``min_good`` is set without ratings, or no rated item is the caption of a record.
    """
    if not stage.params.min_good:
        return {}
    where = stage.place("min_good")
    ratings = stage.inputs.get("ratings")
    if ratings is None:
        hint = f"name an output of evaluate_ratings of the same records in chain.split.{stage.dataset}.ratings, or set it to 0"
        raise HearsightError("needs ratings, and the split has none", where=where, hint=hint)
    table = ratings.table(["records", "ratings", "good"])
    votes = {
        record: (good, answered)
        for records, answered, good in zip(*(table[name].to_pylist() for name in ("records", "ratings", "good")), strict=True)
        for record in records
    }
    if not votes:
        hint = "rate the captions of the dataset: build_rating_items needs `captions`"
        raise HearsightError(f"{ratings.name} holds no rated caption of a record", where=where, hint=hint)
    return votes


def cleaned(decide: Decide, votes: Votes, min_good: int, unrated: str) -> Decide:
    """Return ``decide`` with the test records that raters refuse dropped; the ledger rows of test records name their votes."""
    if not votes:
        return decide

    def judge(key: str, group: str) -> tuple[str, dict[str, str]]:
        split, row = decide(key, group)
        if split != TEST:
            return split, row
        if key not in votes:
            if unrated == "drop":
                return "", dropped(key, UNRATED, "not rated", f"{min_good} GOOD", detail=row["detail"])
            return split, row | {"detail": f"{row['detail']}; not rated"}
        good, answered = votes[key]
        told = f"{good} of {answered} GOOD"
        if good < min_good:
            return "", dropped(key, BAD, told, min_good, detail=row["detail"])
        return split, row | {"detail": f"{row['detail']}; {told}"}

    return judge
