"""Fit the score of description, cross-validate it by site, and write its weights (``hearsight train-description``).

All texts of a site are in one fold, so the weights and the ratios of words that judge a text were learned without its site. A
labelled text is an example twice, with its page and without it, so that the score also works without a page. Equal inputs and
date give equal bytes.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.seeded_rng import seeded_rng
from components.execution.engine import limit_threads
from components.language.description_features import form_features
from components.language.dictionary import is_listed
from components.language.logistic import choose_features, fit, probabilities, to_matrix
from components.language.parser import EnglishParser
from components.language.word_features import likelihood_ratios, word_counts, word_features, word_key
from components.language.wordnet import load_wordnet
from components.stages.filter import Params
from components.stages.filter.boilerplate import crop, load_boilerplate
from components.stages.filter.description import context_features
from components.tools.train_description.examples import Example, draw, read_examples, vary

FOLDS = 10
PLAIN = 0.25
"""What a word of a caption of ``--captions`` counts: several people write of the same image, and of few subjects."""


@lru_cache(maxsize=1 << 16)
def fold_of(group: str) -> int:
    """Return the fold of cross-validation that a group is in."""
    return seeded_rng("fold", group).randrange(FOLDS)


class WordRatios:
    """Counts of words of each fold, in captions and in texts of pages; labelled texts have no part in them."""

    def __init__(self, examples: Iterable[Example]) -> None:
        texts: dict[tuple[int, bool, float], list[str]] = {}
        for example in examples:
            if example.kind != "labelled":
                weight = PLAIN if example.kind == "captions" else 1.0
                texts.setdefault((fold_of(example.group), example.positive, weight), []).append(example.text)
        self._counts: dict[tuple[int, bool], Counter[str]] = {}
        for (fold, positive, weight), of_fold in texts.items():
            self._counts.setdefault((fold, positive), Counter()).update(word_counts(of_fold, weight))

    @lru_cache(maxsize=FOLDS + 1)  # noqa: B019 - lives as long as the training
    def without(self, fold: int | None) -> dict[int, float]:
        """Return the ratios by key of the word, computed from all folds but one; None uses all folds.

        Only words that the dictionary lists have one: most others are names.
        """
        captions, others = (self._sum(positive, fold) for positive in (True, False))
        folder = load_wordnet().folder
        ratios = likelihood_ratios(captions, others)
        return {word_key(word): ratio for word, ratio in ratios.items() if word.isalpha() and is_listed(word, folder)}

    def _sum(self, positive: bool, fold: int | None) -> Counter[str]:
        found: Counter[str] = Counter()
        for (of, verdict), counts in self._counts.items():
            if verdict == positive and of != fold:
                found.update(counts)
        return found


def group_ratios(ratios: dict[int, float]) -> dict[str, str]:
    """Return ratio → the keys of its words in order, as the file of weights has them."""
    keys: dict[float, list[str]] = {}
    for key in sorted(ratios):
        if ratios[key]:
            keys.setdefault(ratios[key], []).append(f"{key:08x}")
    return {str(ratio): " ".join(keys[ratio]) for ratio in sorted(keys)}


LEAST, LEAST_SHARE = 60, 0.01
"""Examples that must have a feature for it to get a weight; this share of them, if that is less."""
PENALTY = 20.0
"""Of the squared weights."""
LABELLED = 2.0
"""Importance of a labelled text."""
PAGELESS = 0.3
"""Importance of a labelled text without its page, where it has one."""
OTHERS = 300.0
"""Sum of the importance of all other texts of one verdict."""
MOST_LOST = 0.025
"""Share of the published captions that the score may drop. They have no page, so this sets the intercept of texts without one:
such a text comes from a table of captions, where most are descriptions."""
DECIMALS, SMALLEST = 2, 0.05
"""Of the weights that are written."""
_ROW = re.compile(r"\{[^{}\[\]]*?\"threshold\"[^{}]*\}")
"""Matches a row of a curve."""
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)


class Training:
    """Examples as a matrix, and the weights fitted to them."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.ratios = WordRatios(examples)
        self.examples = [vary(example) for example in draw(examples)]
        folds = [fold_of(example.group) for example in self.examples]
        if len({example.positive for example in self.examples}) < 2:
            raise HearsightError(
                "the examples are all of one verdict",
                where="train-description",
                hint="give captions and pages, or labelled texts",
            )
        lists, most = load_boilerplate("en"), Params().max_characters
        texts = [crop(example.text[:most], lists).text for example in self.examples]
        wordnet = load_wordnet()
        forms = [
            form_features(parse, wordnet) | word_features(parse, self.ratios.without(fold))
            for parse, fold in zip(EnglishParser().compute_many(texts), folds, strict=True)
        ]
        self.paged = [at for at, example in enumerate(self.examples) if example.context is not None]
        rows = [*forms, *(forms[at] | context_features(self.examples[at].context) for at in self.paged)]
        self.names = choose_features(rows, min(LEAST, math.ceil(LEAST_SHARE * len(rows))))
        self.matrix = to_matrix(rows, self.names)
        self.of = np.array([*range(len(forms)), *self.paged])
        """Example of each row; the rows with a page follow those without."""
        self.late = np.arange(len(self.of)) >= len(forms)
        self.positive = np.array([float(example.positive) for example in self.examples])[self.of]
        self.labelled = np.array([example.kind == "labelled" for example in self.examples])[self.of]
        self.fold = np.array(folds)[self.of]

    def importance(self, rows: np.ndarray) -> np.ndarray:
        """Return the importance of each row of a mask: that of unlabelled texts depends on how many there are."""
        weights = np.where(self.labelled, np.where(self.late | ~np.isin(self.of, self.paged), LABELLED, PAGELESS), 0.0)
        for verdict in (0.0, 1.0):
            others = rows & ~self.labelled & (self.positive == verdict)
            weights[others] = OTHERS / max(1, others.sum())
        return weights[rows]

    def fit(self, rows: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Return the weights fitted to the rows of a mask, the intercept last."""
        return fit(self.matrix[rows], self.positive[rows], self.importance(rows), PENALTY, start)

    def held_out(self, start: np.ndarray) -> np.ndarray:
        """Return the probability of each row by weights that saw no row of its fold."""
        found = np.zeros(len(self.of))
        for fold in range(FOLDS):
            inside = self.fold == fold
            if inside.any():
                weights = self.fit(~inside, start)
                found[inside] = probabilities(self.matrix[inside] @ weights)
        return found


def train(
    captions: Sequence[Path],
    published: Sequence[Path],
    pages: Sequence[str],
    labelled: Sequence[Path],
    out: Path,
    *,
    date: str,
    command: str,
) -> dict[str, Any]:
    """Learn the weights from files of examples, write them to ``out``, and return what the file says of their training.

    Raises:
        HearsightError: a file cannot be read, or all examples have one verdict.
    """
    limit_threads()
    training = Training(read_examples(captions, published, pages, labelled))
    weights = training.fit(np.ones(len(training.of), bool))
    held_out = training.held_out(weights)
    weights, held_out = favour_pageless(training, weights, held_out, Params().min_description)
    about = {
        "date": date,
        "command": command,
        "examples": count_examples(training.examples),
        "cross_validation": {"folds": FOLDS} | summarize(training, held_out),
    }
    publish_bytes(out, weights_file(about, training, weights).encode())
    return about


def favour_pageless(
    training: Training, weights: np.ndarray, held_out: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and held-out probabilities with the intercept moved for texts without a page, and for no others.

    So many published captions (other captions, without any) then reach the threshold that ``MOST_LOST`` do not.
    """
    kinds = np.array([example.kind for example in training.examples])[training.of]
    captions = kinds == "published" if (kinds == "published").any() else kinds == "captions"
    if not captions.any() or "page" not in training.names:
        return weights, held_out
    logits = np.log(np.clip(held_out, 1e-9, 1 - 1e-9) / np.clip(1 - held_out, 1e-9, 1))
    shift = math.log(threshold / (1 - threshold)) - float(np.quantile(logits[captions], MOST_LOST))
    moved, page = weights.copy(), training.names.index("page")
    moved[-1] += shift
    moved[page] -= shift
    return moved, np.where(training.matrix[:, page] > 0, held_out, probabilities(logits + shift))


def count_examples(examples: Sequence[Example]) -> dict[str, int]:
    """Return how many examples of each kind there are, the labelled ones by verdict, and of how many sites these are."""
    kinds = Counter(
        f"labelled {'keep' if example.positive else 'drop'}" if example.kind == "labelled" else example.kind
        for example in examples
    )
    return dict(sorted(kinds.items())) | {"sites": len({example.group for example in examples if example.kind == "labelled"})}


def summarize(training: Training, held_out: np.ndarray) -> dict[str, Any]:
    """Return precision and recall of the labelled texts at each threshold, with and without their pages; and which share of the
    other kinds is kept at the default threshold."""
    parts = {"with_page": training.labelled & training.late, "without_page": training.labelled & ~training.late}
    curves = {
        name: [precision_recall(training.positive[rows], held_out[rows], threshold) for threshold in THRESHOLDS]
        for name, rows in parts.items()
        if rows.any()
    }
    kinds = np.array([example.kind for example in training.examples])[training.of]
    least = Params().min_description
    kept = {kind: round(float((held_out[kinds == kind] >= least).mean()), 4) for kind in sorted(set(kinds)) if kind != "labelled"}
    return curves | {f"kept_at_{least}": kept}


def precision_recall(positive: np.ndarray, probability: np.ndarray, threshold: float) -> dict[str, Any]:
    """Return the threshold, how many texts it keeps, the share of these that is positive, and of the positive that is kept."""
    kept = probability >= threshold
    right = float(positive[kept].sum())
    precision = round(right / kept.sum(), 4) if kept.any() else None
    recall = round(right / positive.sum(), 4) if positive.any() else None
    return {"threshold": threshold, "kept": int(kept.sum()), "precision": precision, "recall": recall}


def weights_file(about: dict[str, Any], training: Training, weights: np.ndarray) -> str:
    """Return the file of weights as JSON, a line for each weight and for the keys of each ratio's words.

    Weights that round to nothing are left out.
    """
    rounded = {name: round(float(weight), DECIMALS) for name, weight in zip(training.names, weights, strict=False)}
    kept = {name: weight for name, weight in rounded.items() if abs(weight) >= SMALLEST}
    content = {"trained": about, "intercept": round(float(weights[-1]), DECIMALS), "weights": kept}
    text = json.dumps(content | {"words": group_ratios(training.ratios.without(None))}, indent=1, ensure_ascii=False)
    return _ROW.sub(lambda row: " ".join(row[0].split()), text) + "\n"
