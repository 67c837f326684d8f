"""filter: candidates whose picture, text, or the two together do not make a caption are dropped (C2–C4).

Source: Conceptual Captions (seed 000) section 3, image-based, text-based and image&text-based filtering. Every number
the rules compare with is in ``Params``; annotations (parse, tone, pornography, classes) depend on content and model
alone, so a changed threshold computes none of them again.
Not in scope: rewriting captions (``hypernymize``), duplicates (``dedup``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from components.core.ledger import dropped, kept, ledger_table
from components.core.params import Settings
from components.core.stage import ShardOut, Stage, Task

if TYPE_CHECKING:
    import pyarrow as pa

    from components.filter.rules import Subject


class Params(Settings):
    """Settings of filter: one threshold a rule."""

    language: str
    """Language of the page, ISO 639-1, and of the boiler-plate lists."""
    formats: list[str]
    """Encodings of pictures that are allowed."""
    sides_over: int
    """Both sides must be greater than this, in px."""
    max_aspect_ratio: float
    """Larger side over smaller side, at most."""
    pornography_from: float
    """Pornography score (0..1) from which a picture is dropped."""
    min_words: int
    """Words a text must have at least."""
    max_words: int
    """Words a text may have at most."""
    max_capital_ratio: float
    """Share of capitalised words, at most."""
    max_repetition: float
    """Share of words that occurred before, at most."""
    min_zipf: float
    """Zipf frequency (log10 of the count in 10^9 words) of the rarest word, at least; labels' names too."""
    profanity_from: float
    """Probability of profanity (0..1) from which a text is dropped."""
    min_polarity: float
    """Polarity (-1..1), at least."""
    max_polarity: float
    """Polarity (-1..1), at most."""
    require: list[Literal["determiner", "noun", "preposition"]]
    """Parts of speech without which a text is dropped."""
    max_noun_ratio: float
    """Share of nouns among the words, at most."""
    min_unique_ratio: float
    """Share of distinct words within each open part of speech, at least."""
    min_labels: int
    """Labels a picture gets at least."""
    max_labels: int
    """Labels a picture gets at most."""
    min_label_confidence: float
    """Confidence (0..1) below which a picture gets no label beyond ``min_labels``."""
    min_kind_confidence: float
    """Confidence (0..1) the classifier must have in a hypernym of a noun for the noun to count as seen."""


def run(stage: Stage) -> None:
    """Filter each shard of candidates."""
    refs = stage.map(filter_shard, stage.inputs["input"].shards, step="filter", params=stage.params)
    stage.metric("kept", sum(ref.read(["key"]).num_rows for ref in refs))


def filter_shard(table: pa.Table, task: Task) -> ShardOut:
    """Ask the groups of rules one after the other; each group only sees what the groups before it left."""
    import pyarrow as pa

    from components.core.records import FILTERED
    from components.filter.boilerplate import crop, load_boilerplate
    from components.filter.rules import Subject, first_failure, groups
    from components.providers.language_words import words_of

    params: Params = task.params
    lists = load_boilerplate(params.language)
    rows = {row["key"]: row for row in table.to_pylist()}
    subjects: dict[str, Subject] = {}
    cropped: dict[str, str] = {}
    for key, row in rows.items():
        piece = crop(row["alt"], lists)
        subjects[key] = Subject(
            row["format"], row["width"], row["height"], row["language"], row["alt"], piece.text, tuple(words_of(piece.text))
        )
        cropped[key] = f"boiler-plate v{lists.version} cropped: {'; '.join(piece.pieces)}" if piece.pieces else ""

    verdicts: dict[str, dict[str, str]] = {}
    for group, rules in groups().items():
        alive = {key: subject for key, subject in subjects.items() if key not in verdicts}
        for key, subject in _learn(group, alive, rows, task):
            failure = first_failure(subject, rules, params)
            if failure is not None:
                name, finding = failure
                verdicts[key] = dropped(key, name, finding.value, finding.threshold, detail=cropped[key])

    stays = [
        row
        | {
            "text": subjects[key].text,
            "labels": [{"label": label.names[0], "confidence": label.confidence} for label in subjects[key].labels],
        }
        for key, row in rows.items()
        if key not in verdicts
    ]
    ledger = ledger_table(verdicts.get(key) or kept(key, detail=cropped[key]) for key in rows)
    return ShardOut(pa.Table.from_pylist(stays, schema=FILTERED), ledger)


def _learn(
    group: str, alive: Mapping[str, Subject], rows: Mapping[str, Mapping[str, Any]], task: Task
) -> Iterator[tuple[str, Subject]]:
    """Give each subject what the group's rules need to know, from the annotation store."""
    if group == "tone":
        from components.providers.language_polarity import EnglishPolarity
        from components.providers.language_profanity import EnglishProfanity

        polarity, profanity = _by_text(EnglishPolarity(), alive, task), _by_text(EnglishProfanity(), alive, task)
        for key, subject in alive.items():
            subject.polarity, subject.profanity = polarity[key], profanity[key]
    elif group == "parse":
        from components.providers.language import EnglishParser

        for key, parse in _by_text(EnglishParser(), alive, task).items():
            alive[key].parse = parse
    elif group == "picture":
        from components.providers.vision_nsfw import OpenNsfw

        for key, score in _by_picture(OpenNsfw(), alive, rows, task).items():
            alive[key].pornography = score
    elif group == "overlap":
        from components.providers.knowledge_wordnet import load_wordnet
        from components.providers.vision import ImageNetClassifier
        from components.providers.vision_labels import labels_of, seen_kinds

        params, wordnet = task.params, load_wordnet()
        for key, classes in _by_picture(ImageNetClassifier(), alive, rows, task).items():
            subject = alive[key]
            subject.kinds = seen_kinds(_nouns(subject), classes, wordnet, min_confidence=params.min_kind_confidence)
            subject.labels = labels_of(
                classes,
                wordnet,
                least=params.min_labels,
                most=params.max_labels,
                min_confidence=params.min_label_confidence,
                min_zipf=params.min_zipf,
            )
    return iter(alive.items())


def _nouns(subject: Subject) -> list[str]:
    parse = subject.parse
    return [lemma.lower() for lemma, pos in zip(parse["lemma"], parse["pos"], strict=True) if pos == "NOUN"] if parse else []


def _by_text(annotator: Any, alive: Mapping[str, Subject], task: Task) -> dict[str, Any]:
    from components.core.digests import sha256_bytes

    digests = {key: sha256_bytes(subject.text.encode()) for key, subject in alive.items()}
    found = task.annotations.annotate(annotator, {digests[key]: subject.text for key, subject in alive.items()})
    return {key: found[digest] for key, digest in digests.items()}


def _by_picture(
    annotator: Any, alive: Mapping[str, Subject], rows: Mapping[str, Mapping[str, Any]], task: Task
) -> dict[str, Any]:
    pictures = task.inputs["input"]
    payloads = {rows[key]["image_sha256"]: (lambda media=rows[key]["media"]: pictures.read_media(media)) for key in alive}
    found = task.annotations.annotate(annotator, payloads)
    return {key: found[rows[key]["image_sha256"]] for key in alive}
