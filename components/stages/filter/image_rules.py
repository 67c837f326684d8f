"""Rules about the image: encoding, size, shape, pornography, and whether its labels fit the text (CC §3), or it itself does.

In the paper a word must name one of 10^5 labels. Ours are 1,080, of which "person" fits most images and most captions, so by
default the nouns must be likely of the image (``vision.evidence``).

With ``overlap: stem`` words and labels are compared by stem. A label of several words is represented by its head, the last word
("fire engine" → "engine"), or the word before "of" ("hen of the woods" → "hen"), because a modifier alone proves nothing ("sea
lion" is no sea). A noun also matches when one of its specific hypernyms is recognised (``vision.labels.match_hypernyms``).
"""

from __future__ import annotations

from collections.abc import Iterable

from components.core.ledger import format_value
from components.core.rule_values import ANYTHING
from components.language.words import stem, words_of
from components.stages.filter import Params
from components.stages.filter.rules import Finding, Rule, Subject, Sweep, compare, rule
from components.vision.evidence import Evidence, mean_evidence

RECORD_RULES: list[Rule] = []
"""Rules that need only the record."""
IMAGE_RULES: list[Rule] = []
"""Rules that need the image."""
OVERLAP_RULES: list[Rule] = []
"""Rules that compare image and text."""
LABEL_SETTINGS = ("overlap", "min_evidence", "min_labels", "max_labels", "min_label_confidence", "min_kind_confidence")


@rule(RECORD_RULES, "formats", portuguese="A imagem tem um formato permitido (CC: JPEG).")
def image_format(subject: Subject, params: Params) -> Finding:
    """The image has an allowed format (CC: JPEG)."""
    return Finding(subject.format in params.formats, subject.format, list(params.formats))


@rule(RECORD_RULES, "sides_over", portuguese="A imagem é grande o bastante.")
def image_side(subject: Subject, params: Params) -> Finding:
    """Both sides of the image are large enough."""
    side = min(subject.width, subject.height)
    return Finding(side > params.sides_over, side, f"> {params.sides_over} px")


@rule(RECORD_RULES, "max_aspect_ratio", portuguese="A imagem não é estreita demais.")
def aspect_ratio(subject: Subject, params: Params) -> Finding:
    """The image is not too narrow, by its larger side over its smaller side."""
    ratio = max(subject.width, subject.height) / max(1, min(subject.width, subject.height))
    return compare(ratio, "<=", params.max_aspect_ratio)


@rule(IMAGE_RULES, "pornography_from", portuguese="A imagem não é pornográfica.")
def pornography(subject: Subject, params: Params) -> Finding:
    """The image is not pornographic."""
    return compare(subject.pornography, "<", params.pornography_from)


def head_of(name: str) -> str:
    """Return the head word of a label."""
    words = words_of(name.split(" of ", 1)[0]) or [name]
    return words[-1]


def common_stems(words: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the stems shared by the text's words and the labels' heads, sorted."""
    return sorted({stem(word) for word in words} & {stem(head_of(name)) for name in names})


def _by_evidence(subject: Subject, params: Params) -> bool:
    return params.overlap == "evidence" and bool(subject.evidence)


def describe_overlap(subject: Subject, params: Params) -> str:
    """Return the mean evidence with each noun's label; by stem the words that are labels, else the nearest and all labels."""
    if _by_evidence(subject, params):
        nouns = "; ".join(_describe(each) for each in subject.evidence)
        return f"{format_value(mean_evidence(subject.evidence))}, the mean evidence: {nouns}"
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
    noun, name, confidence = subject.nearest_kind() or ("", "", 0.0)
    needed = f"min_kind_confidence is {params.min_kind_confidence}"
    near = f"'{noun}' is a kind of '{name}' ({confidence:.4f}; {needed}); " if noun else ""
    return f"No word of the text is a label; {near}the labels: {labels or 'none'}"


def _describe(evidence: Evidence) -> str:
    if evidence.value < 0:
        return f"'{evidence.noun}' is not recognised (evidence {evidence.value:+.2f})"
    found = f"'{evidence.noun}' {evidence.relation} '{evidence.label}'"
    return f"{found} ({evidence.confidence:.2f}; evidence {evidence.value:+.2f})"


@rule(OVERLAP_RULES, *LABEL_SETTINGS, portuguese="O que o texto nomeia é reconhecido na imagem.", describe=describe_overlap)
def label_overlap(subject: Subject, params: Params) -> Finding:
    """What the text names is recognised in the image: its nouns are likely, or by ``stem`` a word or a hypernym is a label."""
    if _by_evidence(subject, params):
        return compare(mean_evidence(subject.evidence), ">=", params.min_evidence)
    names = [name for label in subject.labels for name in label.names]
    shared = common_stems(subject.words, names) or list(subject.kinds)
    return Finding(bool(shared), shared or [label.names[0] for label in subject.labels], "a stem or kind in common")


@rule(OVERLAP_RULES, "min_image_text", portuguese="A imagem e o texto combinam, segundo um modelo.", sweep=Sweep(">=", high=0.5))
def image_text(subject: Subject, params: Params) -> Finding:
    """Image and text fit together, by the cosine that a model of a hub gives them."""
    if not params.image_text.model:
        return Finding(True, "", ANYTHING)
    return compare(subject.image_text, ">=", params.min_image_text)
