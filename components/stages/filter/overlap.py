"""The image–text rule: some word of the text must name what a classifier sees (CC section 3).

Words meet by stem. A label of several words meets the text by its head, the last word ("fire engine" → "engine"), or
by the word before its "of" ("hen of the woods" → "hen"): its modifiers alone show nothing ("sea lion" is no sea).
The paper's classifier has 10^5 labels, ours 1000 classes: a noun also meets the picture when the classifier is sure
enough of a specific hypernym of it (``vision.labels.match_hypernyms``). People stay unseen: ImageNet has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from components.language.words import stem, words_of
from components.stages.filter.rules import Finding, Rule, Subject

if TYPE_CHECKING:
    from components.stages.filter import Params


def head_of(name: str) -> str:
    """The word of a label that says what the thing is."""
    words = words_of(name.split(" of ", 1)[0]) or [name]
    return words[-1]


def common_stems(words: Iterable[str], names: Iterable[str]) -> list[str]:
    """The stems that the text's words and the labels' heads share, sorted."""
    return sorted({stem(word) for word in words} & {stem(head_of(name)) for name in names})


def label_overlap(subject: Subject, params: Params) -> Finding:
    """At least one stem in common, or one noun whose kind is seen."""
    names = [name for label in subject.labels for name in label.names]
    shared = common_stems(subject.words, names) or list(subject.kinds)
    return Finding(bool(shared), shared or [label.names[0] for label in subject.labels], "a stem or kind in common")


OVERLAP_RULES = (Rule("label_overlap", label_overlap),)
"""Need the labels."""
