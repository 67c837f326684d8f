"""evaluate_ratings: tables of human ratings (CC tables 2 and 4, CSC tables 3 and 4), and the votes of each rated item.

Inputs: ``input``, the RATING records of ``import_ratings``; ``items``, the RATING_ITEM records; ``captioners``, the output of
``evaluate_captioners``, and ``retrieval``, that of ``evaluate_retrieval``, for the automatic figures; either may be ``none``.
Output: RATED_ITEM records of the items with enough ratings; ``scores.json``; ``table.csv``; ``ratings.html``. Not in scope: which
captions are dropped from a test split (``split``).
"""

from __future__ import annotations

from typing import Literal

from components.core.params import NotNegative, Positive, Settings
from components.ratings.tables.estimates import Counting

PAGE = "ratings.html"


class Params(Settings):
    """Settings of evaluate_ratings: which ratings count, and the bootstrap."""

    min_ratings: NotNegative = 0
    """Ratings from which an item counts; 0: as many as its table has raters. Ours; the papers' items have all of them."""
    caption_raters: Positive = 3
    """Raters that tables of captions show, if as many were asked; the first ones count. CC §5.4.1: 3."""
    pair_raters: Positive = 5
    """The same of tables of retrieval results and known pairs. CSC §4.4: 5."""
    crop: Literal["centre", "whole"] = "centre"
    """Crop of the images by which the rated results were ranked; for the automatic recall of all queries. CSC §4.1: centre."""
    resamples: Positive = 1000
    """Bootstrap resamples behind an interval. Ours."""
    seed: int = 1
    """Seed of the bootstrap. Ours."""

    @property
    def counting(self) -> Counting:
        """The settings as the tables take them."""
        return Counting(self.min_ratings, self.resamples, self.seed, self.caption_raters, self.pair_raters)
