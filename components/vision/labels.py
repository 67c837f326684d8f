"""Labels of an image from what was recognised: 5 to 20 of them, with synonyms and hypernyms.

CC §3 uses a classifier with some 10^5 labels, "animal" as well as "drake"; here there are ImageNet's 1000 leaf classes and COCO's
80 categories. So each WordNet hypernym of one is a label too, and a label has all its synonyms as names. The confidence of a
hypernym is the sum over the classes below it, or that of the surest detection below it where this is more. Very general hypernyms
("entity", "artifact") are excluded. As in CC, every label is in the vocabulary.
Out of scope: matching labels with text (``components/stages/filter/image_rules.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from components.language.wordnet import WordNet
from components.language.words import words_of, zipf
from components.vision.detector import CATEGORIES
from components.vision.recognition import CLASSES, synset_numbers

GENERAL = 6
"""Minimum depth of a label below "entity"; excludes organism, artifact, instrumentality, ..."""
SPECIFIC = 7
"""Minimum depth of a hypernym that supports a noun ("garment", "bird"; not "device", "animal")."""


class Label(NamedTuple):
    """A label of an image with all its names and its confidence (0..1)."""

    names: tuple[str, ...]
    confidence: float
    identifier: str = ""
    """WordNet 3.0's synset as ImageNet writes it (``n02084071``), or a Knowledge Graph id (``/m/0bt9lr``); "" for none."""


def select_labels(
    scores: Sequence[float], wordnet: WordNet, *, least: int, most: int, min_confidence: float, min_zipf: float
) -> list[Label]:
    """Return the labels of an image by falling confidence.

    Args:
        scores: (1080,), from :class:`components.vision.recognition.ImageRecognizer`.
        least, most: bounds on the number of labels.
        min_confidence: labels below it are dropped beyond the first ``least``.
        min_zipf: names with a rarer word are dropped, and labels without names.
    """
    sums = _sums(scores, wordnet)
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


def match_hypernyms(nouns: Sequence[str], scores: Sequence[float], wordnet: WordNet, *, min_confidence: float) -> list[str]:
    """Return the nouns without a class of their own whose hypernym is in the image, as ``noun < hypernym``.

    A noun (first meaning) matches when a hypernym of at least depth :data:`SPECIFIC`, or one that is a detector's category, has
    ``min_confidence``: a caribou is recognised as a ruminant, a woman as a person. On the sample 29 of 30 such pairs of classes
    were right by eye (gander < goose, scarf < garment).
    """
    matches: dict[str, str] = {}
    for noun, hypernym, confidence in _hypernyms(nouns, scores, wordnet):
        if confidence >= min_confidence:
            matches.setdefault(noun, f"{noun} < {hypernym}")
    return list(matches.values())


def nearest_hypernym(nouns: Sequence[str], scores: Sequence[float], wordnet: WordNet) -> tuple[str, str, float] | None:
    """Return noun, hypernym and confidence of the best pair that :func:`match_hypernyms` could match; None without any."""
    return max(_hypernyms(nouns, scores, wordnet), key=lambda pair: pair[2], default=None)


def _hypernyms(nouns: Sequence[str], scores: Sequence[float], wordnet: WordNet) -> Iterator[tuple[str, str, float]]:
    """Yield noun, hypernym and confidence of each hypernym that :func:`match_hypernyms` allows, the nearest first."""
    sums, categories = _sums(scores, wordnet), set(CATEGORIES.values())
    for noun in dict.fromkeys(nouns):
        for kind in wordnet.ancestors(senses[0]) if (senses := wordnet.senses(noun)) else []:
            if kind.number in sums and (wordnet.depth(kind.number) >= SPECIFIC or kind.number in categories):
                yield noun, kind.lemmas[0], sums[kind.number]


def _sums(scores: Sequence[float], wordnet: WordNet) -> dict[int, float]:
    """Return synset → its confidence, see the module."""
    sums: dict[int, float] = {}
    for place, (score, members) in enumerate(zip(scores, _members(wordnet), strict=True)):
        for number in members:
            before = sums.get(number, 0.0)
            sums[number] = before + float(score) if place < CLASSES else max(before, float(score))
    return sums


@lru_cache(maxsize=2)
def _members(wordnet: WordNet) -> tuple[tuple[int, ...], ...]:
    """Return for each class and category its synset and the hypernyms that can be labels."""
    rows = []
    for number in synset_numbers():
        synset = wordnet.synset(number)
        above = [item for item in wordnet.ancestors(synset) if wordnet.depth(item.number) >= GENERAL] if synset else []
        rows.append(() if synset is None else (synset.number, *(item.number for item in above)))
    return tuple(rows)


@lru_cache(maxsize=65536)
def _names(wordnet: WordNet, number: int, min_zipf: float) -> tuple[str, ...]:
    synset = wordnet.synset(number)
    lemmas = synset.lemmas if synset else ()
    return tuple(name for name in lemmas if all(zipf(word) >= min_zipf for word in words_of(name)))
