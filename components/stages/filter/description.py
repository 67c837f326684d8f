"""The score of description: how likely a text describes its image, by its form and the page around it.

A logistic regression over the form of the text (``language.description_features``), its words (``language.word_features``) and
its context. Its weights are a file,
``data/description.<language>.json``, which ``hearsight train-description`` writes and which says what it was trained on.
Source: ours; CC has no such rule.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from components.language.description_features import form_features
from components.language.logistic import probability
from components.language.parser import Parse
from components.language.word_features import word_features
from components.language.wordnet import load_wordnet

if TYPE_CHECKING:
    from components.web.html.context import Context

_IMAGE_FILE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)(?:$|[?#])|/(?:File|Datei|Fichier):", re.I)
"""Matches the address of an image, or of the page about one."""
SMALL_SIDE = 100
"""px of the layout below which an image is small."""
TOLD = 4
"""Features that a finding names, at most."""


@dataclass(frozen=True)
class DescriptionModel:
    """Weights of features and the intercept: their sum is the logarithm of the odds that a text is a description."""

    intercept: float
    weights: Mapping[str, float]
    ratios: Mapping[int, float]
    """Word → the logarithm of its likelihood in captions over that in other texts."""

    def features(self, parse: Parse, context: Context | None) -> dict[str, float]:
        """Return the features of a text and of its page; without a page the latter are absent, which is neutral."""
        return form_features(parse, load_wordnet()) | word_features(parse, self.ratios) | context_features(context)

    def score(self, features: Mapping[str, float]) -> float:
        """Return the probability (0..1) that a text with these features is a description."""
        weights = self.weights
        return probability(self.intercept + sum(weights.get(name, 0.0) * value for name, value in features.items()))

    def decisive(self, features: Mapping[str, float]) -> list[tuple[str, float]]:
        """Return the features that move the score most, with what each adds to the log-odds."""
        moves = ((name, self.weights.get(name, 0.0) * value) for name, value in features.items())
        return sorted((move for move in moves if move[1]), key=lambda move: (-abs(move[1]), move[0]))[:TOLD]


def weights_path(language: str) -> Path:
    """Return the file of a language's weights (ISO 639-1), which need not exist."""
    return Path(__file__).parent / "data" / f"description.{language}.json"


@lru_cache(maxsize=8)
def load_model(language: str) -> DescriptionModel | None:
    """Return the weights of a language; None for one that has none."""
    path = weights_path(language)
    return read_model(path) if path.is_file() else None


def read_model(path: Path) -> DescriptionModel:
    """Return the weights of a file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    ratios = {int(key, 16): float(ratio) for ratio, keys in content["words"].items() for key in keys.split()}
    return DescriptionModel(content["intercept"], content["weights"], ratios)


def context_features(context: Context | None) -> dict[str, float]:
    """Return what the page says, as features of 0 or 1."""
    if context is None:
        return {}
    sides = [side for side in (context.layout_width, context.layout_height) if side is not None]
    facts = {
        "page": True,
        "page heading": context.heading is not None,
        "page title": context.heading_kind in ("title", "og:title", "h1"),
        "page link text": context.link_text is not None,
        "page linked": context.link_url is not None and not _IMAGE_FILE.search(context.link_url),
        "page linked image": context.link_url is not None and bool(_IMAGE_FILE.search(context.link_url)),
        "page control": context.control,
        "page role": context.role is not None,
        "page figcaption agrees": context.figcaption_agrees is True,
        "page figcaption differs": context.figcaption_agrees is False,
        "page repeated": (context.site_count or 1) > 1,
        "page small": bool(sides) and min(sides) < SMALL_SIDE,
    }
    return {name: 1.0 for name, holds in facts.items() if holds}
