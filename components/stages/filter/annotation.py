"""Annotations that the rules need, read from the chosen providers through the result cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from components.core.digests import sha256_bytes
from components.core.result_cache import Annotator
from components.execution.stage import Task
from components.providers.registry import Providers
from components.stages.filter import Params
from components.stages.filter.rules import Subject

GROUP_ROLES = {"tone": ("polarity", "profanity"), "parse": ("parse",), "image": ("pornography",), "overlap": ("labels",)}
"""Group of rules → the roles whose providers annotate its subjects; a subject has an attribute of the same name."""
TEXT_ROLES = ("polarity", "profanity", "parse")
"""Roles that read the text; the others read the image."""


@dataclass(frozen=True)
class SubjectAnnotator:
    """Sets the annotations of subjects, one group of rules at a time; cached results are not computed again."""

    rows: Mapping[str, Mapping[str, Any]]
    """The records by key."""
    task: Task
    providers: Providers
    refused: dict[str, str] = field(default_factory=dict)
    """Key → why a provider refused to answer; such a candidate is dropped."""

    def __call__(self, group: str, alive: Mapping[str, Subject]) -> None:
        """Set the annotations of each subject that the group's rules need."""
        for role in GROUP_ROLES.get(group, ()):
            provider = getattr(self.providers, role)
            for key, stored in self._annotate(provider, alive).items():
                set_annotation(alive[key], role, provider, stored, self.task.params)

    def needs(self, group: str) -> list[Annotator]:
        """Return the annotators that a group uses."""
        return [getattr(self.providers, role).annotator for role in GROUP_ROLES.get(group, ())]

    def contents(self, annotator: Annotator, alive: Mapping[str, Subject]) -> dict[str, str]:
        """Return for each key the digest of the content that the annotator reads."""
        if self._reads_text(annotator):
            return {key: sha256_bytes(subject.text.encode()) for key, subject in alive.items()}
        return {key: self.rows[key]["image_sha256"] for key in alive}

    def _reads_text(self, annotator: Annotator) -> bool:
        return annotator in [getattr(self.providers, role).annotator for role in TEXT_ROLES]

    def _annotate(self, role: Any, alive: Mapping[str, Subject]) -> dict[str, Any]:
        digests = self.contents(role.annotator, alive)
        reads_text = self._reads_text(role.annotator)
        payloads = {digests[key]: subject.text if reads_text else self._read_image(key) for key, subject in alive.items()}
        results = self.task.annotations.annotate(role.annotator, payloads)
        for key, digest in digests.items():
            if reason := role.refusal(results[digest]):
                self.refused[key] = f"{role.annotator.name}: {reason}"
        return {key: results[digest] for key, digest in digests.items()}

    def _read_image(self, key: str) -> Callable[[], bytes]:
        images, media = self.task.inputs["input"], self.rows[key]["media"]
        return lambda: images.read_media(media)


def set_annotation(subject: Subject, role: str, provider: Any, stored: Any, params: Params) -> None:
    """Set what the provider of a role has computed for a subject; labels need the parse."""
    if role != "labels":
        setattr(subject, role, provider.read(stored))
        return
    nouns = _nouns(subject)
    subject.kinds = provider.kinds(nouns, stored, params)
    subject.labels = provider.labels(stored, params)
    # The word vectors load only for the rule that reads them.
    subject.evidence = provider.evidence(nouns, stored) if params.overlap == "evidence" else ()
    subject.nearest_kind = partial(provider.nearest_kind, nouns, stored)


def _nouns(subject: Subject) -> list[str]:
    parse = subject.parse
    return [lemma.lower() for lemma, pos in zip(parse["lemma"], parse["pos"], strict=True) if pos == "NOUN"] if parse else []
