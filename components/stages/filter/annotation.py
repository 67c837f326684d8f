"""Annotations that the rules need, read from the chosen providers through the result cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from components.core.digests import sha256_bytes
from components.execution.stage import Task
from components.language.parser import nouns_of
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
"""Roles that read the text alone; ``image_text`` reads both, the others the image."""


def providers_of(group: str, providers: Providers) -> dict[str, Any]:
    """Return role → provider for the roles of a group that have one."""
    found = {role: getattr(providers, role) for role in GROUP_ROLES.get(group, ())}
    return {role: provider for role, provider in found.items() if provider is not None}


def payload_of(role: str, text: str, image: bytes | None) -> Any:
    """Return what the annotator of a role reads."""
    return text if role in TEXT_ROLES else (image, text) if role == "image_text" else image


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
            for key, stored in self._annotate(role, provider, alive).items():
                set_annotation(alive[key], role, provider, stored, self.task.params)

    def contents(self, role: str, alive: Mapping[str, Subject]) -> dict[str, str]:
        """Return for each key the digest of the content that the role's annotator reads."""
        texts = {key: sha256_bytes(subject.text.encode()) for key, subject in alive.items()}
        if role in TEXT_ROLES:
            return texts
        images = {key: self.rows[key]["image_sha256"] for key in alive}
        return {key: pair_key(image, texts[key]) for key, image in images.items()} if role == "image_text" else images

    def _annotate(self, role: str, provider: Any, alive: Mapping[str, Subject]) -> dict[str, Any]:
        digests = self.contents(role, alive)
        payloads = {digests[key]: self._payload(role, key, subject.text) for key, subject in alive.items()}
        results = self.task.annotations.annotate(provider.annotator, payloads)
        for key, digest in digests.items():
            if reason := provider.refusal(results[digest]):
                self.refused[key] = f"{provider.annotator.name}: {reason}"
        return {key: results[digest] for key, digest in digests.items()}

    def _payload(self, role: str, key: str, text: str) -> str | Callable[[], Any]:
        if role in TEXT_ROLES:
            return text
        images, media = self.task.inputs["input"], self.rows[key]["media"]
        return lambda: payload_of(role, text, images.read_media(media))


def set_annotation(subject: Subject, role: str, provider: Any, stored: Any, params: Params) -> None:
    """Set what the provider of a role has computed for a subject; labels need the parse."""
    if role != "labels":
        setattr(subject, role, provider.read(stored))
        return
    nouns = nouns_of(subject.parse) if subject.parse else []
    subject.kinds = provider.kinds(nouns, stored, params)
    subject.labels = provider.labels(stored, params)
    # The word vectors load only for the rule that reads them.
    subject.evidence = provider.evidence(nouns, stored) if params.overlap == "evidence" else ()
    subject.nearest_kind = partial(provider.nearest_kind, nouns, stored)
