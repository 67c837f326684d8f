"""What a second recogniser says of a name's kind: names of a token-classification model, beside those of the parser."""

from __future__ import annotations

from collections.abc import Sequence

from components.language.named_entities import KINDS, OTHERS, Named
from components.stages.hypernymize.sentence import Entity, Sentence

SURE = 0.5
"""Probability of a label from which it counts. Ours."""


def align_names(words: Sequence[str], text: str, names: Sequence[Named]) -> list[Entity]:
    """Return the names of a text in positions of the words of its parse; labels that are no kind of name are left out."""
    aligned, at, places = [], 0, []
    for word in words:
        # A parser may have changed a character: then the word stays without a place.
        start = text.find(word, at)
        at = max(at, start + len(word))
        places.append((start, at if start >= 0 else -1))
    for start, end, label, score in names:
        covered = [position for position, (first, last) in enumerate(places) if first < end and start < last]
        if covered and label.upper() in KINDS and score >= SURE:
            aligned.append(Entity(covered[0], covered[-1] + 1, label.upper()))
    return aligned


def second_opinion(sentence: Sentence, entity: Entity) -> bool | None:
    """Return whether the second recogniser gives a name the same kind; None where it sees no name, or one of some other kind.

    CoNLL's MISC is no evidence for one of the kinds that it covers, only against the others.
    """
    shared = {index: min(name.end, entity.end) - max(name.start, entity.start) for index, name in enumerate(sentence.names)}
    best = max(shared, key=lambda index: shared[index], default=None)
    if best is None or shared[best] <= 0:
        return None
    kinds = KINDS[sentence.names[best].kind]
    return (None if kinds is OTHERS else True) if entity.kind in kinds else False
