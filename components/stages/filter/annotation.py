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
from components.vision.image_text import pair_key

GROUP_ROLES = {
    "tone": ("polarity", "profanity"),
    "parse": ("parse",),
    "image": ("pornography",),
    "overlap": ("labels", "image_text"),
}
"""Group of rules → the roles whose providers annotate its subjects; a subject has an attribute of the same name."""
TEXT_ROLES = ("polarity", "profanity", "parse")
"""Roles that read the text; ``image_text`` reads both, the others the image."""


def providers_of(group: str, providers: Providers) -> dict[str, Any]:
    """Return role → provider for the roles of a group that have one."""
    found = {role: getattr(providers, role) for role in GROUP_ROLES.get(group, ())}
    return {role: provider for role, provider in found.items() if provider is not None}


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
        for role, provider in providers_of(group, self.providers).items():
            for key, stored in self._annotate(provider, alive).items():
                set_annotation(alive[key], role, provider, stored, self.task.params)

    def needs(self, group: str) -> list[Annotator]:
        """Return the annotators that a group uses."""
        return [provider.annotator for provider in providers_of(group, self.providers).values()]

    def contents(self, annotator: Annotator, alive: Mapping[str, Subject]) -> dict[str, str]:
        """Return for each key the digest of the content that the annotator reads."""
        images, texts = self._reads(annotator)
        digests = {key: sha256_bytes(subject.text.encode()) for key, subject in alive.items()} if texts else {}
        if not images:
            return digests
        return {
            key: pair_key(self.rows[key]["image_sha256"], digests[key]) if texts else self.rows[key]["image_sha256"]
            for key in alive
        }

    def _reads(self, annotator: Annotator) -> tuple[bool, bool]:
        """Return whether an annotator reads images, and whether it reads texts."""
        pair = self.providers.image_text
        if pair is not None and annotator is pair.annotator:
            return True, True
        texts = annotator in [getattr(self.providers, role).annotator for role in TEXT_ROLES]
        return not texts, texts

    def _annotate(self, role: Any, alive: Mapping[str, Subject]) -> dict[str, Any]:
        digests = self.contents(role.annotator, alive)
        reads = self._reads(role.annotator)
        payloads = {digests[key]: self._payload(key, subject, *reads) for key, subject in alive.items()}
        results = self.task.annotations.annotate(role.annotator, payloads)
        for key, digest in digests.items():
            if reason := role.refusal(results[digest]):
                self.refused[key] = f"{role.annotator.name}: {reason}"
        return {key: results[digest] for key, digest in digests.items()}

    def _payload(self, key: str, subject: Subject, reads_image: bool, reads_text: bool) -> str | Callable[[], Any]:
        if not reads_image:
            return subject.text
        images, media, text = self.task.inputs["input"], self.rows[key]["media"], subject.text
        return lambda: (images.read_media(media), text) if reads_text else images.read_media(media)


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
