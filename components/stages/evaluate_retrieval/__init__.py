"""Evaluate dual encoders on speech–image retrieval (CSC tables 1 and 2, figure 3).

Input: ``input``, MODEL records and weights of ``pretrain_retrieval`` or ``finetune_retrieval``; ``speech``, UTTERANCE records;
``images``, the FEATURES records of their images. Output: RETRIEVAL_RANK records, one per query, model and crop;
``top.parquet``, the best items of each query; ``scores.json``; ``table.csv``; ``claims.json``, verdicts on the paper's claims;
``retrieval.html``. A row holds all seeds of one loss and batch size, or of one warm start and share of the data. Not in scope:
what raters say (CSC §4.4; ``build_rating_items``), captioners (``evaluate_captioners``).
"""

from __future__ import annotations

from typing import Literal

from components.core.errors import HearsightError
from components.core.params import Positive
from components.retrieval.settings import Matching, Voices
from components.training.settings import Inference

PAGE = "retrieval.html"


class Params(Voices):
    """Settings of evaluate_retrieval: test data, recall depths and bootstrap."""

    split: Literal["train", "validation", "test"] = "test"
    """The split that is asked. CSC table 1: validation; table 2: test."""
    crops: list[Literal["centre", "whole"]] = ["centre", "whole"]
    """Crops of the images to evaluate; tables show the first. CSC §4.1: the centre; whole images are ours."""
    depths: list[Positive] = [1, 5, 10, 50, 100]
    """k of R@k. CSC §4.2: 1, 5, 10, 50, 100."""
    matching: list[Matching] = ["image"]
    """What makes an item right for a query. CSC §2.3: the known pair, so [image]."""
    top: Positive = 5
    """Items kept of each query's ranking, for raters. CSC §4.4: 5."""
    resamples: Positive = 1000
    """Bootstrap resamples behind an interval. Ours."""
    seed: int = 1
    """Seed of the bootstrap. Ours."""
    hardware: Inference = Inference()
    """What the models are computed on. Ours."""

    @property
    def main_depth(self) -> int:
        """The depth whose recall stands for the others: 10, or the nearest."""
        return min(self.depths, key=lambda depth: (abs(depth - 10), depth))

    def check(self, where: str) -> None:
        """Require lists without repetition."""
        for name in ("crops", "depths", "matching"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise HearsightError(
                    f"{values} is empty or repeats a value", where=f"{where}.{name}", hint="list each value once"
                )
