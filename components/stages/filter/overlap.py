"""The image–text rule: some word of the text must name what a classifier recognises in the picture (CC §3).

Words are compared by stem. A label of several words is represented by its head, the last word ("fire engine" → "engine"), or
the word before "of" ("hen of the woods" → "hen"), because a modifier alone proves nothing ("sea lion" is no sea).
The paper's classifier has 10^5 labels, ours 1000 classes, so a noun also matches when the classifier is confident in one of its
specific hypernyms (``vision.labels.match_hypernyms``). People never match: ImageNet has no class for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from components.language.words import stem, words_of
from components.stages.filter.rules import Finding, Rule, Subject

if TYPE_CHECKING:
    from components.stages.filter import Params


def head_of(name: str) -> str:
    """Return the head word of a label."""
    words = words_of(name.split(" of ", 1)[0]) or [name]
    return words[-1]


def common_stems(words: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the stems shared by the text's words and the labels' heads, sorted."""
    return sorted({stem(word) for word in words} & {stem(head_of(name)) for name in names})


def label_overlap(subject: Subject, params: Params) -> Finding:
    """The text must share a stem with a label, or contain a noun whose hypernym is recognised."""
    names = [name for label in subject.labels for name in label.names]
    shared = common_stems(subject.words, names) or list(subject.kinds)
    return Finding(bool(shared), shared or [label.names[0] for label in subject.labels], "a stem or kind in common")


def describe_overlap(subject: Subject, params: Params) -> str:
    """Return the words that decided, each with its label and the classifier's confidence; without any, all labels."""
    found = {stem(word): word for word in subject.words}
    pairs: dict[str, str] = {}
    for label in subject.labels:
        for name in label.names:
            if (root := stem(head_of(name))) in found and root not in pairs:
                pairs[root] = f"'{found[root]}' is the label '{name}' ({label.confidence:.2f})"
    if pairs:
        return "; ".join(pairs[root] for root in sorted(pairs))
    confidences = {name: f"{label.confidence:.2f}" for label in reversed(subject.labels) for name in label.names}
    kinds = (kind.split(" < ") for kind in subject.kinds)
    least = f"at least {params.min_kind_confidence}"
    if described := [f"'{noun}' is a kind of '{name}' ({confidences.get(name, least)})" for noun, name in kinds]:
        return "; ".join(described)
    labels = ", ".join(f"{label.names[0]} {label.confidence:.2f}" for label in subject.labels)
    return f"No word of the text is a label; the labels: {labels or 'none'}"


OVERLAP_RULES = (
    Rule(
        "label_overlap",
        label_overlap,
        ("min_labels", "max_labels", "min_label_confidence", "min_kind_confidence"),
        describe_overlap,
    ),
)
"""Rules that need the labels."""
