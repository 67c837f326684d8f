"""Profanity of an English text: the probability that it is offensive.

A linear model over words (alt-profanity-check). It adds up small weights, so a long harmless text reaches a high score ("black",
"cow", "mouth"): a text is offensive only as far as one of its words is, alone. It does not distinguish senses ("a cock crowing"
scores .91), so words for animals, tools, food and body parts in plain captions (``INNOCENT``) are removed first.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from components.core.params import read_yaml

_LISTS = read_yaml(Path(__file__).parent / "data" / "profanity.yaml")
INNOCENT = frozenset(_LISTS["innocent"].split())
"""Words whose innocent sense is the more frequent one in captions."""
SURE = re.compile(rf"\b(?:{'|'.join(_LISTS['sure'].split())})\b", re.I)
"""Words without an innocent sense; the model scores some of them below .5."""


class EnglishProfanity:
    """A linear SVM with calibrated probabilities, which do not depend on the batch."""

    name = "profanity.en"
    version = 4
    model = "alt-profanity-check-1.9.1"
    codec = "json"

    def compute(self, payload: str) -> float:
        """Return the probability, in [0, 1], that the text is offensive: the lower of the text's and its worst word's.

        It is 1 for ``SURE`` words and 0 for only ``INNOCENT`` ones.
        """
        return self.compute_many([payload])[0]

    def compute_many(self, payloads: Sequence[str]) -> list[float]:
        """Return the probabilities of several texts, in order; a call of the model takes milliseconds for any number."""
        judged = [[word for word in payload.split() if _plain(word) not in INNOCENT] for payload in payloads]
        texts = [" ".join(words) for words in judged]
        asked = sorted({*texts, *(_plain(word) for words in judged for word in words)})
        score = dict(zip(asked, _predictor()(asked), strict=True)) if asked else {}
        worst = [max((score[_plain(word)] for word in words), default=0.0) for words in judged]
        return [
            1.0 if SURE.search(payload) else float(min(most, score[text]))
            for payload, text, most in zip(payloads, texts, worst, strict=True)
        ]


def _plain(word: str) -> str:
    return word.strip(".,;:!?\"'()").lower()


@lru_cache(maxsize=1)
def _predictor() -> Any:
    with warnings.catch_warnings():
        # The model was saved by an older scikit-learn; a test checks its predictions. Imported on use: loads scikit-learn.
        warnings.simplefilter("ignore")
        # Imported here: loads scikit-learn.
        from profanity_check import predict_prob

    return predict_prob
