"""What the rules need to know of a shard's candidates, asked of the chosen providers through the annotation store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.core.digests import sha256_bytes
from components.core.result_cache import Annotator
from components.execution.stage import Task
from components.providers.registry import Providers
from components.stages.filter.rules import Subject


@dataclass(frozen=True)
class Learning:
    """Fills subjects in, a group of rules at a time; what was computed for equal content before is not computed again."""

    rows: Mapping[str, Mapping[str, Any]]
    """The records by key."""
    task: Task
    providers: Providers
    refused: dict[str, str] = field(default_factory=dict)
    """Key → why a provider would not answer; such a candidate cannot be judged."""

    def __call__(self, group: str, alive: Mapping[str, Subject]) -> None:
        """Give each subject what the group's rules need to know."""
        chosen = self.providers
        if group == "tone":
            polarity, profanity = self._ask(chosen.polarity, alive), self._ask(chosen.profanity, alive)
            for key, subject in alive.items():
                subject.polarity = chosen.polarity.read(polarity[key])
                subject.profanity = chosen.profanity.read(profanity[key])
        elif group == "parse":
            for key, stored in self._ask(chosen.parse, alive).items():
                alive[key].parse = chosen.parse.read(stored)
        elif group == "picture":
            for key, stored in self._ask(chosen.pornography, alive).items():
                alive[key].pornography = chosen.pornography.read(stored)
        elif group == "overlap":
            for key, stored in self._ask(chosen.labels, alive).items():
                subject = alive[key]
                subject.kinds = chosen.labels.kinds(_nouns(subject), stored, self.task.params)
                subject.labels = chosen.labels.labels(stored, self.task.params)

    def needs(self, group: str) -> list[Annotator]:
        """The annotators that a group asks."""
        chosen = self.providers
        return {
            "tone": [chosen.polarity.annotator, chosen.profanity.annotator],
            "parse": [chosen.parse.annotator],
            "picture": [chosen.pornography.annotator],
            "overlap": [chosen.labels.annotator],
        }.get(group, [])

    def contents(self, annotator: Annotator, alive: Mapping[str, Subject]) -> dict[str, str]:
        """Key → the digest of what the annotator is asked about."""
        if self._of_text(annotator):
            return {key: sha256_bytes(subject.text.encode()) for key, subject in alive.items()}
        return {key: self.rows[key]["image_sha256"] for key in alive}

    def _of_text(self, annotator: Annotator) -> bool:
        chosen = self.providers
        return annotator in (chosen.parse.annotator, chosen.polarity.annotator, chosen.profanity.annotator)

    def _ask(self, role: Any, alive: Mapping[str, Subject]) -> dict[str, Any]:
        digests = self.contents(role.annotator, alive)
        text = self._of_text(role.annotator)
        payloads = {digests[key]: subject.text if text else self._picture(key) for key, subject in alive.items()}
        found = self.task.annotations.annotate(role.annotator, payloads)
        for key, digest in digests.items():
            if why := role.refusal(found[digest]):
                self.refused[key] = f"{role.annotator.name}: {why}"
        return {key: found[digest] for key, digest in digests.items()}

    def _picture(self, key: str) -> Callable[[], bytes]:
        pictures, media = self.task.inputs["input"], self.rows[key]["media"]
        return lambda: pictures.read_media(media)


def _nouns(subject: Subject) -> list[str]:
    parse = subject.parse
    return [lemma.lower() for lemma, pos in zip(parse["lemma"], parse["pos"], strict=True) if pos == "NOUN"] if parse else []
