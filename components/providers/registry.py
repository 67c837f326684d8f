"""The provider of each role, selected by ``filter.providers``.

A role consists of an annotator, whose results are cached, and a function that reads its results. The filter writes its
selection beside its records (``providers.json``) and hypernymize reads it there, so both use the same parser.
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
from components.google.method import refusal_reason
from components.google.settings import USAGE, RequestSettings, google_params
from components.language.google import GoogleModeration, GoogleSentiment, GoogleSyntax
from components.language.google_parse import to_parse
from components.language.parser import EnglishParser, Parse
from components.language.polarity import EnglishPolarity
from components.language.profanity import EnglishProfanity
from components.language.wordnet import load_wordnet
from components.providers.google_readings import labels, polarity, pornography, profanity
from components.vision.evidence import Evidence, noun_evidence
from components.vision.google import GoogleVision
from components.vision.labels import Label, match_hypernyms, nearest_hypernym, select_labels
from components.vision.nsfw import OpenNsfw
from components.vision.recognition import ImageRecognizer

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput
    from components.execution.stage import Stage

T = TypeVar("T")
FILE = "providers.json"


class ProviderParams(Settings):
    """``filter.providers``."""

    language: Literal["embedded", "google"] = "embedded"
    """Parses, polarity, profanity. Ours; CC §3: google."""
    vision: Literal["embedded", "google"] = "embedded"
    """Labels, pornography. Ours; CC §3: google."""


class LabelLimits(Protocol):
    """The settings of the label rule (``components.stages.filter.Params``)."""

    min_labels: int
    max_labels: int
    min_label_confidence: float
    min_kind_confidence: float
    min_zipf: float


def no_refusal(_: Any) -> str:
    """Return the refusal of a provider that always answers."""
    return ""


@dataclass(frozen=True)
class Role(Generic[T]):
    """A provider of one value for a text or an image."""

    annotator: Annotator
    read: Callable[[Any], T]
    """Converts the stored result to the role's value; a refusal gives the neutral value."""
    refusal: Callable[[Any], str] = no_refusal
    """Returns why a stored result has no answer; empty for an answer."""


class Labels(Protocol):
    """A provider of an image's labels."""

    annotator: Annotator
    refusal: Callable[[Any], str]

    def labels(self, stored: Any, limits: LabelLimits) -> list[Label]:
        """Return the image's labels by falling confidence."""
        ...

    def kinds(self, nouns: Sequence[str], stored: Any, limits: LabelLimits) -> list[str]:
        """Return the nouns that no label names but whose hypernym is one, as ``noun < hypernym``."""
        ...

    def nearest_kind(self, nouns: Sequence[str], stored: Any) -> tuple[str, str, float] | None:
        """Return noun, hypernym and confidence of the nearest to a match of :meth:`kinds`; None where nothing can match."""
        ...

    def evidence(self, nouns: Sequence[str], stored: Any) -> list[Evidence]:
        """Return the evidence for each noun; none for a provider whose labels are compared by stem only."""
        ...


@dataclass(frozen=True)
class Providers:
    """The provider of each role."""

    parse: Role[Parse]
    polarity: Role[float]
    profanity: Role[float]
    pornography: Role[float]
    labels: Labels


def plan_for(root: Path, params: ProviderParams, language: str) -> dict[str, Any]:
    """Return the selection as JSON for workers, with the request settings if Google is selected.

    Raises:
        HearsightError: Google is selected and ``params.yaml:google`` is invalid.
    """
    plan: dict[str, Any] = {**params.plain(), "text": language}
    return plan | ({"asking": google_params(root).asking.plain()} if "google" in (params.language, params.vision) else {})


def plan_of(root: Path, filtered: StageOutput) -> dict[str, Any]:
    """Return the selection of the filter that made ``filtered``; the embedded providers for an output without one."""
    if all(entry.path != FILE for entry in filtered.manifest.files):
        return {"language": "embedded", "vision": "embedded", "text": "en"}
    choice = json.loads(filtered.file(FILE).read_bytes())
    return plan_for(root, ProviderParams(language=choice["language"], vision=choice["vision"]), choice["text"])


def record_choice(stage: Stage, plan: Mapping[str, Any]) -> None:
    """Write the selection into the stage's output."""
    choice = {name: plan[name] for name in ("language", "text", "vision")}
    stage.write_file(FILE, (json.dumps(choice, sort_keys=True) + "\n").encode())


def make_providers(plan: Mapping[str, Any], work: Path | None = None) -> Providers:
    """Return the providers of a plan. Loads no model and sends no request.

    Args:
        plan: from :func:`plan_for` or :func:`plan_of`.
        work: the stage's scratch folder, for usage counts.
    """
    client = None
    if "asking" in plan:
        client = GoogleClient(RequestSettings(**plan["asking"]), work / USAGE if work is not None else None)
    language = _google_language(client, plan["text"]) if plan["language"] == "google" else _embedded_language()
    vision = _google_vision(client) if plan["vision"] == "google" else _embedded_vision()
    return Providers(*language, *vision)


def parse_role(plan: Mapping[str, Any], work: Path | None = None) -> Role[Parse]:
    """Return the provider of parses; loads no vision provider."""
    return make_providers({**plan, "vision": "embedded"}, work).parse


def _embedded_language() -> tuple[Role[Parse], Role[float], Role[float]]:
    return Role(EnglishParser(), _same), Role(EnglishPolarity(), _same), Role(EnglishProfanity(), _same)


def _embedded_vision() -> tuple[Role[float], Labels]:
    return Role(OpenNsfw(), _same), EmbeddedLabels()


def _google_language(client: Any, language: str) -> tuple[Role[Parse], Role[float], Role[float]]:
    return (
        Role(GoogleSyntax(client, language), to_parse, refusal_reason),
        Role(GoogleSentiment(client, language), polarity, refusal_reason),
        Role(GoogleModeration(client, language), profanity, refusal_reason),
    )


def _google_vision(client: Any) -> tuple[Role[float], Labels]:
    annotator = GoogleVision(client)
    return Role(annotator, pornography, refusal_reason), GoogleLabels(annotator)


class EmbeddedLabels:
    """Labels from ImageNet's classes, COCO's categories and their WordNet hypernyms."""

    def __init__(self) -> None:
        self.annotator: Annotator = ImageRecognizer()
        self.refusal: Callable[[Any], str] = no_refusal

    def labels(self, stored: Any, limits: LabelLimits) -> list[Label]:
        """See :class:`Labels`."""
        return select_labels(
            stored,
            load_wordnet(),
            least=limits.min_labels,
            most=limits.max_labels,
            min_confidence=limits.min_label_confidence,
            min_zipf=limits.min_zipf,
        )

    def kinds(self, nouns: Sequence[str], stored: Any, limits: LabelLimits) -> list[str]:
        """See :class:`Labels`."""
        return match_hypernyms(nouns, stored, load_wordnet(), min_confidence=limits.min_kind_confidence)

    def nearest_kind(self, nouns: Sequence[str], stored: Any) -> tuple[str, str, float] | None:
        """See :class:`Labels`."""
        return nearest_hypernym(nouns, stored, load_wordnet())

    def evidence(self, nouns: Sequence[str], stored: Any) -> list[Evidence]:
        """See :class:`Labels`."""
        return noun_evidence(nouns, stored, load_wordnet())


class GoogleLabels:
    """Google's labels, unchanged. They are specific enough that nouns need no match by hypernym."""

    def __init__(self, annotator: Annotator) -> None:
        self.annotator = annotator
        self.refusal: Callable[[Any], str] = refusal_reason

    def labels(self, stored: Any, limits: LabelLimits) -> list[Label]:
        """See :class:`Labels`."""
        return labels(stored, least=limits.min_labels, most=limits.max_labels, min_confidence=limits.min_label_confidence)

    def kinds(self, nouns: Sequence[str], stored: Any, limits: LabelLimits) -> list[str]:
        """Return no nouns, see the class."""
        return []

    def nearest_kind(self, nouns: Sequence[str], stored: Any) -> tuple[str, str, float] | None:
        """Return None, see the class."""
        return None

    def evidence(self, nouns: Sequence[str], stored: Any) -> list[Evidence]:
        """Return no evidence, see the class."""
        return []


def _same(stored: Any) -> Any:
    return stored
