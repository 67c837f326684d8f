"""Which provider fills each role, chosen by ``filter.providers`` and by nothing else.

A role is filled by an annotator, whose results are cached, and by a reading of what it stored. The filter writes its
choice beside its records (``providers.json``), and hypernymize reads it there, so that the two never parse differently.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from components.core.params import Settings
from components.core.result_cache import Annotator
from components.google.client import GoogleClient
from components.google.method import refusal
from components.google.settings import USAGE, Asking, google_params
from components.language.parser import Parse

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput
    from components.execution.stage import Stage
    from components.vision.labels import Label

T = TypeVar("T")
FILE = "providers.json"


class ProviderParams(Settings):
    """``filter.providers``."""

    language: Literal["embedded", "google"] = "embedded"
    """Parses, polarity, profanity. Ours; CC §3: google."""
    vision: Literal["embedded", "google"] = "embedded"
    """Labels, pornography. Ours; CC §3: google."""


class LabelLimits(Protocol):
    """What the label rule's settings say of a picture's labels (``components.stages.filter.Params``)."""

    min_labels: int
    max_labels: int
    min_label_confidence: float
    min_kind_confidence: float
    min_zipf: float


def never(_: Any) -> str:
    """The refusal of a provider that always answers."""
    return ""


@dataclass(frozen=True)
class Role(Generic[T]):
    """A provider of one value for a text or a picture."""

    annotator: Annotator
    read: Callable[[Any], T]
    """What the annotator stored, as the role's value; "nothing found" where it was refused."""
    refusal: Callable[[Any], str] = never
    """Why there is no answer; empty when there is one."""


class Labels(Protocol):
    """A provider of a picture's labels."""

    annotator: Annotator
    refusal: Callable[[Any], str]

    def labels(self, stored: Any, limits: LabelLimits) -> list[Label]:
        """The picture's labels, surest first."""
        ...

    def kinds(self, nouns: Sequence[str], stored: Any, limits: LabelLimits) -> list[str]:
        """The nouns that no label names but whose kind is seen, as ``noun < kind``."""
        ...


@dataclass(frozen=True)
class Chosen:
    """The provider of each role."""

    parse: Role[Parse]
    polarity: Role[float]
    profanity: Role[float]
    pornography: Role[float]
    labels: Labels


def plan_for(root: Path, params: ProviderParams, language: str) -> dict[str, Any]:
    """The choice as JSON, to be shared with workers; how Google is asked is part of it where Google is.

    Raises:
        HearsightError: Google is chosen and ``params.yaml:google`` does not fit.
    """
    plan: dict[str, Any] = {**params.plain(), "text": language}
    return plan | ({"asking": google_params(root).asking.plain()} if "google" in (params.language, params.vision) else {})


def plan_of(root: Path, filtered: StageOutput) -> dict[str, Any]:
    """The choice of the filter that made ``filtered``; the embedded providers for an output that does not say."""
    if all(entry.path != FILE for entry in filtered.manifest.files):
        return {"language": "embedded", "vision": "embedded", "text": "en"}
    said = json.loads(filtered.file(FILE).read_bytes())
    return plan_for(root, ProviderParams(language=said["language"], vision=said["vision"]), said["text"])


def record_choice(stage: Stage, plan: Mapping[str, Any]) -> None:
    """Write the choice into the stage's output."""
    said = {name: plan[name] for name in ("language", "text", "vision")}
    stage.write_file(FILE, (json.dumps(said, sort_keys=True) + "\n").encode())


def choose(plan: Mapping[str, Any], work: Path | None = None) -> Chosen:
    """The providers of a plan; nothing is loaded, looked for or asked yet.

    Args:
        plan: of :func:`plan_for` or :func:`plan_of`.
        work: the stage's scratch, where what is asked is counted.
    """
    client = None
    if "asking" in plan:
        client = GoogleClient(Asking(**plan["asking"]), work / USAGE if work is not None else None)
    language = _google_language(client, plan["text"]) if plan["language"] == "google" else _embedded_language()
    vision = _google_vision(client) if plan["vision"] == "google" else _embedded_vision()
    return Chosen(*language, *vision)


def parse_role(plan: Mapping[str, Any], work: Path | None = None) -> Role[Parse]:
    """The parse alone."""
    return choose({**plan, "vision": "embedded"}, work).parse


def _embedded_language() -> tuple[Role[Parse], Role[float], Role[float]]:
    from components.language.parser import EnglishParser
    from components.language.polarity import EnglishPolarity
    from components.language.profanity import EnglishProfanity

    return Role(EnglishParser(), _same), Role(EnglishPolarity(), _same), Role(EnglishProfanity(), _same)


def _embedded_vision() -> tuple[Role[float], Labels]:
    from components.vision.nsfw import OpenNsfw

    return Role(OpenNsfw(), _same), EmbeddedLabels()


def _google_language(client: Any, language: str) -> tuple[Role[Parse], Role[float], Role[float]]:
    from components.language.google import GoogleModeration, GoogleSentiment, GoogleSyntax
    from components.language.google_parse import to_parse
    from components.providers.google_readings import polarity, profanity

    return (
        Role(GoogleSyntax(client, language), to_parse, refusal),
        Role(GoogleSentiment(client, language), polarity, refusal),
        Role(GoogleModeration(client, language), profanity, refusal),
    )


def _google_vision(client: Any) -> tuple[Role[float], Labels]:
    from components.providers.google_readings import pornography
    from components.vision.google import GoogleVision

    annotator = GoogleVision(client)
    return Role(annotator, pornography, refusal), GoogleLabels(annotator)


class EmbeddedLabels:
    """ImageNet's classes, widened by WordNet."""

    def __init__(self) -> None:
        from components.vision.classifier import ImageNetClassifier

        self.annotator: Annotator = ImageNetClassifier()
        self.refusal: Callable[[Any], str] = never

    def labels(self, stored: Any, limits: LabelLimits) -> list[Label]:
        """See :class:`Labels`."""
        from components.language.wordnet import load_wordnet
        from components.vision.labels import labels_of

        return labels_of(
            stored,
            load_wordnet(),
            least=limits.min_labels,
            most=limits.max_labels,
            min_confidence=limits.min_label_confidence,
            min_zipf=limits.min_zipf,
        )

    def kinds(self, nouns: Sequence[str], stored: Any, limits: LabelLimits) -> list[str]:
        """See :class:`Labels`."""
        from components.language.wordnet import load_wordnet
        from components.vision.labels import seen_kinds

        return seen_kinds(nouns, stored, load_wordnet(), min_confidence=limits.min_kind_confidence)


class GoogleLabels:
    """Google's labels as they are: enough of them that no noun has to be seen by its kind."""

    def __init__(self, annotator: Annotator) -> None:
        self.annotator = annotator
        self.refusal: Callable[[Any], str] = refusal

    def labels(self, stored: Any, limits: LabelLimits) -> list[Label]:
        """See :class:`Labels`."""
        from components.providers.google_readings import labels

        return labels(stored, least=limits.min_labels, most=limits.max_labels, min_confidence=limits.min_label_confidence)

    def kinds(self, nouns: Sequence[str], stored: Any, limits: LabelLimits) -> list[str]:
        """None: see the class."""
        return []


def _same(stored: Any) -> Any:
    return stored
