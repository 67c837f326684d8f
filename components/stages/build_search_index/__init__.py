"""Build a search index of one model's embeddings: search images and speech by either.

Input: ``input``, MODEL records and weights; ``speech``, UTTERANCE records and audio; ``images``, the FEATURES records of their
images. Output: SEARCH_ITEM records, one per utterance and image; ``search/`` with all files of a search (index, model,
thumbnails); ``neighbours.html``, the nearest neighbours of random queries in all four pairings (CSC §4.3 and figure 4).
``hearsight search`` and the application use this output (docs/search.md).
Not in scope: scores of the model (``evaluate_retrieval``), the search algorithm (``components.search``).
"""

from __future__ import annotations

from typing import Literal

from components.core.errors import HearsightError
from components.core.params import NotNegative, Positive, Settings
from components.training.settings import Inference

BEST = "best"
"""Value of ``model``: the model with the best validation score."""
SPLITS = ("train", "validation", "test")


class Page(Settings):
    """What ``neighbours.html`` shows; figure 4: 4 spoken captions and 4 images of the test split, the 5 nearest of each."""

    split: str = "test"
    """Where queries and neighbours are from; one of ``splits``. CSC §4.3."""
    seed: int = 1
    """Seed of the draw: queries are drawn, not chosen. Ours."""
    queries: NotNegative = 4
    """Spoken captions, and as many images; 0 writes no page. CSC figure 4: 4."""
    neighbours: Positive = 5
    """Images, and as many utterances, of each query. CSC figure 4: 5."""


class Params(Settings):
    """What is indexed, and how it is shown."""

    model: str = "best"
    """``best``: the one with the highest selection metric, of equal ones the lower seed; or a model's key. Ours."""
    splits: list[str] = ["train", "validation", "test"]
    """Splits that are indexed. Ours."""
    crop: Literal["centre", "whole"] = "centre"
    """What of an image the model is shown, of queries too. CSC §4.1: its centre."""
    page: Page = Page()
    """Figure 4."""
    hardware: Inference = Inference()
    """What the model is computed on. Ours."""

    def check(self, where: str) -> None:
        """Require known splits, each once, and a page of one of them."""
        if not self.splits or not set(self.splits) <= set(SPLITS) or len(set(self.splits)) < len(self.splits):
            what = "is empty, or has an unknown or repeated split"
            raise HearsightError(what, where=f"{where}.splits", hint=f"list some of {', '.join(SPLITS)}, each once")
        if self.page.split not in self.splits:
            what = f"'{self.page.split}' is not indexed"
            raise HearsightError(what, where=f"{where}.page.split", hint=f"use one of {', '.join(self.splits)}")
