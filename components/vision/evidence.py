"""Evidence that an image shows what a noun names, as a log-likelihood ratio.

An image makes a noun more or less probable. Of n classes with probabilities p, and a noun's affinity a to each class,

    evidence = ln (Σ p·a / Σ prior·a),   a = e^(SHARPNESS · likeness),

so a noun that fits most images ("person") gains little where it fits and loses much where it does not, and a noun with a rare
class ("surfboard") the reverse. The likeness is 1 between a noun and its hyponyms, hypernyms or siblings in WordNet, else the
cosine of their word vectors: "snow" is near "ski". The classifier and the detector each give one such ratio. No part
is trained on captions.
This replaces CC §3's 10^5 labels, of which a text had to name one; ``labels.py`` has that rule over few labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from components.language.vectors import SIZE, load_vectors, unit
from components.language.wordnet import Synset, WordNet
from components.vision.detector import CATEGORIES, PERSON
from components.vision.labels import GENERAL, SPECIFIC
from components.vision.recognition import CLASSES, synset_numbers

SHARPNESS = 16.0
"""How much nearer classes count more: e^1.6 for a tenth of a cosine."""
UNSEEN = 2.0
"""Weight of what the detector does not know, in detections of confidence 1: eighty categories are few."""
DETECTOR_SHARE = 0.5
"""Weight of the detector's ratio: both networks look at the same image, so their evidence is not independent."""
LEAST = 1e-6
"""Added to each root, so that no class is impossible."""
PERSON_PRIOR = 0.19
"""Share of persons among all pairs of an image and a category in COCO's training set (64,115 images of 118,287)."""
SOCIAL = frozenset({7950920})
"""WordNet 3.0's synset "social group": an audience or a team may be outside the image, so it is never evidence against."""
GROUPS = SOCIAL | {7942152}
"""Also "people": a crowd or a team consists of persons."""
NOT_SEEN = frozenset(
    f"noun.{name}"
    for name in ("attribute", "cognition", "feeling", "motive", "possession", "quantity", "relation", "shape", "time")
)
"""WordNet's categories of nouns that name nothing to be seen."""
TOPS, LOCATION = "noun.Tops", "noun.location"
"""The most general nouns, of which physical ones are seen ("person"), and locations, of which areas are ("park")."""
PHYSICAL, PLACE, AREA = frozenset({1930}), frozenset({27167}), frozenset({8574314})
"""Synsets "physical entity", "location" and "geographical area"."""


class Evidence(NamedTuple):
    """Evidence for a noun."""

    noun: str
    value: float
    """Natural logarithm of the likelihood ratio; above 0 for."""
    label: str
    """Name of the class or category that counts most."""
    confidence: float
    """Its probability or detection confidence, 0..1."""
    relation: str
    """What the noun is to the label, in words: "is", "is a kind of", "consists of", "includes", or "is near"."""


def noun_evidence(nouns: Sequence[str], scores: np.ndarray, wordnet: WordNet) -> list[Evidence]:
    """Return the evidence for each noun that word vectors or WordNet relate to any class, in order, each once.

    Nouns that name nothing to be seen ("front", "view", "day") are left out: they would count as what is mentioned near them.

    Args:
        nouns: lemmas in lower case.
        scores: (1080,), from :class:`components.vision.recognition.ImageRecognizer`.
    """
    scores = np.asarray(scores, dtype=np.float64)
    # Square roots, because a softmax favours one class, but an image shows several things.
    shown = np.sqrt(scores[:CLASSES]) + LEAST
    shown /= shown.sum()
    detected = scores[CLASSES:] / (UNSEEN + scores[CLASSES:].sum())
    found = []
    for noun in dict.fromkeys(nouns):
        affinity = _affinity(noun, wordnet) if is_seen(noun, wordnet) else None
        if affinity is None:
            continue
        by_class, by_category = shown * affinity.classes, detected * affinity.categories
        value = np.log(by_class.sum()) + DETECTOR_SHARE * np.log(by_category.sum() + 1 - detected.sum())
        if _means(noun, SOCIAL, wordnet):
            value = max(value, 0.0)
        best = int(np.concatenate([by_class, by_category]).argmax())
        name, relation = _name(best, wordnet), _relation(noun, best, wordnet)
        found.append(Evidence(noun, round(float(value), 3), name, round(float(scores[best]), 3), relation))
    return found


def mean_evidence(found: Sequence[Evidence]) -> float:
    """Return the mean over the nouns; 0 for none."""
    return round(sum(each.value for each in found) / len(found), 3) if found else 0.0


@lru_cache(maxsize=4096)
def is_seen(noun: str, wordnet: WordNet) -> bool:
    """Return whether a noun names what an image can show: by its first meaning, and by at least half of its meanings."""
    seen = [_is_seen(sense, wordnet) for sense in wordnet.senses(noun)]
    return not seen or (seen[0] and 2 * sum(seen) >= len(seen))


def _is_seen(sense: Synset, wordnet: WordNet) -> bool:
    if sense.category == LOCATION:
        return wordnet.is_a(sense, AREA)
    if sense.category == TOPS:
        return wordnet.is_a(sense, PHYSICAL) and not wordnet.is_a(sense, PLACE)
    return sense.category not in NOT_SEEN


def _means(noun: str, kinds: frozenset[int], wordnet: WordNet) -> bool:
    senses = wordnet.senses(noun)
    return bool(senses) and wordnet.is_a(senses[0], kinds)


class _Affinity(NamedTuple):
    classes: np.ndarray
    """(1000,), divided by its mean under the prior."""
    categories: np.ndarray
    """(80,), the same."""


@lru_cache(maxsize=4096)
def _affinity(noun: str, wordnet: WordNet) -> _Affinity | None:
    vector, senses = load_vectors().word(noun), wordnet.senses(noun)
    related = _related(senses[0], wordnet) if senses else np.zeros(len(synset_numbers()), dtype=bool)
    if vector is None and not related.any():
        return None
    likeness = _vectors(wordnet) @ (vector if vector is not None else np.zeros(SIZE))
    affinity = np.exp(SHARPNESS * np.where(related, 1.0, likeness))
    classes, categories = affinity[:CLASSES], affinity[CLASSES:]
    prior = np.full(len(CATEGORIES), (1 - PERSON_PRIOR) / (len(CATEGORIES) - 1))
    prior[0] = PERSON_PRIOR
    return _Affinity(classes / classes.mean(), categories / (categories @ prior))


def _related(sense: Synset, wordnet: WordNet) -> np.ndarray:
    """Return for each class whether it is this meaning, a hyponym of it (unless it is very general), or a hypernym of it.

    A meaning without any is related to the hyponyms of its nearest specific hypernym instead, a gnu to other antelopes.
    """
    ancestors = wordnet.ancestors(sense)
    above = {sense.number, *(item.number for item in ancestors)}
    if above & GROUPS:
        above.add(PERSON)
    related = np.array([number in above for number in synset_numbers()])
    if wordnet.depth(sense.number) >= GENERAL:
        related |= _below(sense.number, wordnet)
    near = (_below(item.number, wordnet) for item in ancestors if wordnet.depth(item.number) >= SPECIFIC)
    if not related[:CLASSES].any():
        related |= next((classes for classes in near if classes.any()), related)
    return related


def _below(number: int, wordnet: WordNet) -> np.ndarray:
    """Return for each class whether it lies below a synset, (1080,)."""
    return np.array([number in hypernyms for hypernyms in _ancestors(wordnet)])


@lru_cache(maxsize=2)
def _ancestors(wordnet: WordNet) -> tuple[frozenset[int], ...]:
    synsets = [wordnet.synset(number) for number in synset_numbers()]
    return tuple(frozenset(item.number for item in wordnet.ancestors(synset)) if synset else frozenset() for synset in synsets)


@lru_cache(maxsize=2)
def _vectors(wordnet: WordNet) -> np.ndarray:
    """Return the unit vector of each class, the mean over its names, (1080, dimensions); zeros where none is known."""
    table = np.zeros((len(synset_numbers()), SIZE))
    for row, number in enumerate(synset_numbers()):
        synset = wordnet.synset(number)
        known = [vector for name in (synset.lemmas if synset else ()) if (vector := load_vectors().phrase(name)) is not None]
        if known:
            table[row] = unit(np.mean(known, axis=0))
    return table


def _relation(noun: str, place: int, wordnet: WordNet) -> str:
    number, senses = synset_numbers()[place], wordnet.senses(noun)
    above = {item.number for item in wordnet.ancestors(senses[0])} if senses else set()
    if senses and number == senses[0].number:
        return "is"
    if number in above:
        return "is a kind of"
    if number == PERSON and above & GROUPS:
        return "consists of"
    return "includes" if senses and senses[0].number in _ancestors(wordnet)[place] else "is near"


def _name(place: int, wordnet: WordNet) -> str:
    synset = wordnet.synset(synset_numbers()[place])
    return synset.lemmas[0] if synset else f"n{synset_numbers()[place]:08d}"
