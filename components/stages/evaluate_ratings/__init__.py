"""evaluate_ratings: tables of human ratings (CC tables 2 and 4, CSC tables 3 and 4), and the votes of each rated item.

Inputs: ``input``, the RATING records of ``import_ratings``; ``items``, the RATING_ITEM records; ``captioners``, the output of
``evaluate_captioners``, and ``retrieval``, that of ``evaluate_retrieval``, for the automatic figures; either may be ``none``.
Output: RATED_ITEM records of the items with enough ratings; ``scores.json``; ``table.csv``; ``ratings.html``. Not in scope: which
captions are dropped from a test split (``split``).
"""

from __future__ import annotations

from typing import Literal

from components.core.errors import HearsightError
from components.core.params import Settings
from components.ratings.tables.estimates import Counting

PAGE = "ratings.html"


class Params(Settings):
    """Settings of evaluate_ratings: which ratings count, and the bootstrap."""

    min_ratings: int = 0
    """Ratings from which an item counts; 0: as many as its table has raters. Ours; the papers' items have all of them."""
    caption_raters: int = 3
    """Raters that tables of captions show, if as many were asked; the first ones count. CC §5.4.1: 3."""
    pair_raters: int = 5
    """The same of tables of retrieval results and known pairs. CSC §4.4: 5."""
    crop: Literal["centre", "whole"] = "centre"
    """Crop of the pictures by which the rated results were ranked; for the automatic recall of all queries. CSC §4.1: centre."""
    resamples: int = 1000
    """Bootstrap resamples behind an interval. Ours."""
    seed: int = 1
    """Seed of the bootstrap. Ours."""

    def check(self, where: str) -> None:
        """Require numbers in their ranges."""
        if self.min_ratings < 0:
            raise HearsightError("must not be negative", where=f"{where}.min_ratings", hint="give 0 or more")
        for name in ("caption_raters", "pair_raters", "resamples"):
            if getattr(self, name) < 1:
                raise HearsightError(f"{getattr(self, name)} is too small", where=f"{where}.{name}", hint="give 1 or more")

    @property
    def counting(self) -> Counting:
        """The settings as the tables take them."""
        return Counting(self.min_ratings, self.resamples, self.seed, self.caption_raters, self.pair_raters)
