"""Build the items that people rate: images with captions or speech, each asked of several raters (CC §5.4, CSC §4.4).

Input, each may be ``none``: ``captions``, SPLIT records; ``media``, the crawl with their images; ``captioners``,
GENERATED_CAPTION records; ``retrieval``, RETRIEVAL_RANK records with ``top.parquet``; ``speech``, UTTERANCE records. Output:
RATING_ITEM records, one per distinct pair that is shown, with its image as JPEG and its speech as FLAC. A pair that fills
several places of tables is one item with several ``uses``. A table whose input is ``none`` is left out.

The ledger has a row per item (kind ``image``), per record (``record``), per caption of a model (``model``) and per result of a
retrieval (``utterance``). Not in scope: showing items (``components.app``), ratings (``import_ratings``).
"""

from __future__ import annotations

from typing import Literal

from components.core.errors import HearsightError
from components.core.params import NotNegative, Positive, Settings

Table = Literal["dataset", "model", "retrieval", "truth"]


class Raters(Settings):
    """How many people are asked about an item; one that is in both groups is asked of the larger number."""

    captions: Positive = 3
    """Of captions of the dataset and of models. CC §5.4: 3."""
    retrieval: Positive = 5
    """Of retrieval results and of the ground truth. CSC §4.4: 5."""


class Params(Settings):
    """What is drawn, and how it is shown."""

    tables: list[Table] = ["dataset", "model", "retrieval", "truth"]
    """``dataset``: its captions; ``model``: captioners'; ``retrieval``: the best results; ``truth``: known pairs with whole and
    cropped images. CC tables 2 and 4, CSC tables 4 and 3: all."""
    split: Literal["train", "validation", "test"] = "test"
    """Where records are drawn from; models are evaluated on the test split. CC §3, CSC §4.4: test."""
    seed: int = 1
    """Seed of the draws. Ours."""
    sample: NotNegative = 4000
    """Records drawn for ``dataset``, ``model`` and ``truth``; 0 takes all. CC §3: 4,000; CSC §4.4: all of FACC's
    test set."""
    queries: NotNegative = 1000
    """Queries drawn of each direction for ``retrieval``; 0 takes all. CSC §4.4: all of FACC's test set, 1,000 images and 5,000
    captions."""
    ranks: Positive = 5
    """Results of a query that are rated, at most those that ``evaluate_retrieval`` keeps (its ``top``). CSC §4.4: 5."""
    crop: Literal["centre", "whole"] = "centre"
    """What the model saw of the images whose results are rated; raters see whole images. CSC §4.4: centre."""
    trained_on: list[str] = []
    """Training sets whose captioners are rated; empty: all. Their captions are shown as of the record's language. Ours."""
    voiced: bool = False
    """Play the speech of retrieval results and of the ground truth instead of showing its text. CSC §4.4: false."""
    raters: Raters = Raters()
    """How many people are asked."""

    def check(self, where: str) -> None:
        """Require tables without repetition."""
        if not self.tables or len(set(self.tables)) < len(self.tables):
            what = f"{self.tables} is empty or repeats a value"
            raise HearsightError(what, where=f"{where}.tables", hint="list each table once")
