"""What the rules need to know of a shard's candidates, asked of the providers through the annotation store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.core.digests import sha256_bytes
from components.core.stage import Task
from components.filter.rules import Subject


@dataclass(frozen=True)
class Learning:
    """Fills subjects in, a group of rules at a time; what was computed for equal content before is not computed again."""

    rows: Mapping[str, Mapping[str, Any]]
    """The records by key."""
    task: Task

    def __call__(self, group: str, alive: Mapping[str, Subject]) -> None:
        """Give each subject what the group's rules need to know."""
        if group == "tone":
            from components.providers.language_polarity import EnglishPolarity
            from components.providers.language_profanity import EnglishProfanity

            polarity, profanity = self._by_text(EnglishPolarity(), alive), self._by_text(EnglishProfanity(), alive)
            for key, subject in alive.items():
                subject.polarity, subject.profanity = polarity[key], profanity[key]
        elif group == "parse":
            from components.providers.language import EnglishParser

            for key, parse in self._by_text(EnglishParser(), alive).items():
                alive[key].parse = parse
        elif group == "picture":
            from components.providers.vision_nsfw import OpenNsfw

            for key, score in self._by_picture(OpenNsfw(), alive).items():
                alive[key].pornography = score
        elif group == "overlap":
            self._labels(alive)

    def _labels(self, alive: Mapping[str, Subject]) -> None:
        from components.providers.knowledge_wordnet import load_wordnet
        from components.providers.vision import ImageNetClassifier
        from components.providers.vision_labels import labels_of, seen_kinds

        params, wordnet = self.task.params, load_wordnet()
        for key, classes in self._by_picture(ImageNetClassifier(), alive).items():
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

    def _by_text(self, annotator: Any, alive: Mapping[str, Subject]) -> dict[str, Any]:
        digests = {key: sha256_bytes(subject.text.encode()) for key, subject in alive.items()}
        found = self.task.annotations.annotate(annotator, {digests[key]: subject.text for key, subject in alive.items()})
        return {key: found[digest] for key, digest in digests.items()}

    def _by_picture(self, annotator: Any, alive: Mapping[str, Subject]) -> dict[str, Any]:
        pictures, rows = self.task.inputs["input"], self.rows
        payloads = {rows[key]["image_sha256"]: (lambda media=rows[key]["media"]: pictures.read_media(media)) for key in alive}
        found = self.task.annotations.annotate(annotator, payloads)
        return {key: found[rows[key]["image_sha256"]] for key in alive}


def _nouns(subject: Subject) -> list[str]:
    parse = subject.parse
    return [lemma.lower() for lemma, pos in zip(parse["lemma"], parse["pos"], strict=True) if pos == "NOUN"] if parse else []
