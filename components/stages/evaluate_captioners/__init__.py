"""Evaluate every captioner on every test set.

Input: FEATURES test sets, each named by its dataset, and a ``train_captioner`` output for each cell of the matrix. Each model
captions every image of each test split by beam search; ensembles of a cell's seeds, and consensus reranking, do so in rows of
their own. The best constant caption of the set's training split is the baseline.
Output: GENERATED_CAPTION records, ``scores.json``, ``cross.csv``, ``compare.html``, ``summary.txt``.
An item is an image. Its references are the distinct captions of its near-duplicate group in the test split.
Sources: CC §5.2 to §5.4, tables 5 to 7, figures 3 and 5; PCV §5.4. Not in scope: human raters.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from components.core.params import NotNegative, Positive, Settings
from components.training.settings import Inference

PAGE, SUMMARY = "compare.html", "summary.txt"


class Consensus(Settings):
    """Choice among the beam's hypotheses by the training captions of similar images (:mod:`components.metrics.consensus`)."""

    neighbours: NotNegative = 0
    """Nearest training images, whose captions are compared with (Devlin et al. 2015); 0 leaves these rows out. Ours."""
    captions: Positive = 100
    """Their captions that count for a hypothesis, the most similar ones. Ours."""
    weight: Annotated[float, Field(ge=0)] | None = None
    """Of the mean CIDEr-D beside the log-probability a word; null takes each model's best on its validation split. Ours."""
    beam: Positive = 5
    """Hypotheses an image. Ours."""


class Params(Settings):
    """How captions are written, scored and shown."""

    beam: Positive = 4
    """Hypotheses kept by the beam search. CC §5.2: 4."""
    ensemble: bool = False
    """Whether a cell's seeds also write captions together: by the mean of their probabilities at each word. Ours."""
    consensus: Consensus = Consensus()
    """Rows of each captioner with consensus reranking."""
    constants: Positive = 1000
    """Training captions tried as the constant caption, the most frequent first. Ours."""
    seed: int = 1
    """Seed of the bootstrap and of the images on the page. Ours."""
    resamples: Positive = 1000
    """Bootstrap samples behind an interval. Ours."""
    examples: NotNegative = 24
    """Images of each test set on the page: drawn, not chosen. Ours."""
    meteor: str = ""
    """``meteor-1.5.jar``, or ``packaged`` for an installed pycocoevalcap's; empty leaves METEOR out. It needs Java, data of the
    set's language (docs/metrics.md), and seconds a model and test set. CC table 5 has it."""
    spice: str = ""
    """The folder of ``spice-1.0.jar`` and CoreNLP (docs/metrics.md); empty leaves SPICE out. CC tables 6 and 7 have it."""
    hardware: Inference = Inference()
    """What the captioners are computed on. Ours."""
