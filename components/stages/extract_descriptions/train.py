"""Train the weights of describing segments on captions with the descriptions they should give.

A segment of the text behind the tag is positive if its words follow in the description, and negative otherwise. Each description
is learned once more as the stage writes it, in one line and with nothing to remove.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from components.language.identification import language_probability
from components.language.logistic import Features, choose_features, fit, to_matrix
from components.stages.extract_descriptions.describing import features
from components.stages.extract_descriptions.extract import text_to_cut
from components.stages.extract_descriptions.marks import without_marks
from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.segments import split
from components.stages.extract_descriptions.words import count_words, words_of

PENALTY = 1.0
REFUSED = 4.0
"""Weight of a segment of a caption without a description: there are few, and one wrong segment keeps its advert."""
_FEW = 3
_SKIPPED, _SHARE = 2, 0.6
"""Words of a description that a piece may lack, and the least share of a piece's words in it: links, mentions and labels go."""
LEAST = 3
"""Segments that a feature must occur in."""


def examples(cases: Iterable[dict[str, Any]], rules: Rules) -> tuple[list[Features], list[bool], list[float]]:
    """Return the features, the label and the importance of each segment of captions with their ``description`` (None: without)."""
    rows: list[Features] = []
    labels: list[bool] = []
    importance: list[float] = []
    for case in cases:
        texts = [text_to_cut(case["caption"], rules, language_probability), case["description"] or ""]
        if case["description"] is None and count_words(without_marks(texts[0])) <= _FEW:
            continue  # too short, whatever it says
        for text in dict.fromkeys(texts):
            if text:
                found = split(text, rules)
                rows += features(text, found, rules)
                labels += label([text[start:end] for start, end, *_ in found], case["description"] or "")
                importance += [1.0 if case["description"] else REFUSED] * len(found)
    return rows, labels, importance


def label(pieces: list[str], description: str) -> list[bool]:
    """Return for each piece of a text, in order, whether most of its words are next in the description."""
    wanted, at, labels = [word.folded for word in words_of(description)], 0, []
    for piece in pieces:
        words = [word.folded for word in words_of(piece)]
        near = wanted[at : at + len(words) + _SKIPPED]
        blocks = [block for block in SequenceMatcher(None, words, near, autojunk=False).get_matching_blocks() if block.size]
        found = sum(block.size for block in blocks)
        positive = bool(found) and blocks[0].b <= _SKIPPED and found >= _SHARE * len(words)
        labels.append(positive)
        at += blocks[-1].b + blocks[-1].size if positive else 0
    return labels


def train(cases: Iterable[dict[str, Any]], rules: Rules) -> dict[str, float]:
    """Return the weights of the features by name, with that of the ``bias``."""
    rows, labels, importance = examples(cases, rules)
    names = choose_features(rows, LEAST)
    weights = fit(to_matrix(rows, names), np.array(labels, dtype=float), np.array(importance), PENALTY)
    return {name: round(float(weight), 3) for name, weight in zip([*names, "bias"], weights, strict=True)}
