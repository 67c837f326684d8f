"""The provider of each role, selected by ``filter.providers``.

A role consists of an annotator, whose results are cached, and a function that reads its results. The filter writes its
selection beside its records (``providers.json``) and hypernymize reads it there, so both use the same parser.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.params import Positive, Settings
from components.core.result_cache import Annotator
from components.execution.resources import Accelerator, Device, choose_device
from components.google.client import GoogleClient
from components.google.method import refusal_reason
from components.google.settings import USAGE, RequestSettings, google_params
from components.hub.chosen import ChosenModel, choose_model
from components.hub.model import HubModel
from components.language.google import GoogleModeration, GoogleSentiment, GoogleSyntax
from components.language.google_parse import to_parse
from components.language.parser import EnglishParser, Parse
from components.language.polarity import EnglishPolarity
from components.language.profanity import EnglishProfanity
from components.language.wordnet import load_wordnet
from components.providers import google_readings as readings
from components.vision.evidence import Evidence, noun_evidence
from components.vision.google import GoogleVision
from components.vision.image_text import ImageTextScore
from components.vision.labels import Label, match_hypernyms, nearest_hypernym, select_labels
from components.vision.nsfw import OpenNsfw
from components.vision.recognition import ImageRecognizer
from components.vision.zero_shot import Vocabulary, ZeroShotLabels, best_labels, read_labels

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput
    from components.execution.stage import Stage

T = TypeVar("T")
FILE = "providers.json"
EMBEDDED: tuple[type[Any], ...] = (EnglishParser, EnglishPolarity, EnglishProfanity, OpenNsfw)
"""Annotators of parse, polarity, profanity and pornography that need no service."""


class ZeroShot(HubModel):
    """``filter.zero_shot``: a model that compares images with texts, and the labels that it tells apart."""

    vocabulary: str = ""
    """A file of labels in UTF-8, one a line, below the project's root. Ours; CC §3: 10^5 labels."""
    prompt: str = "a photo of a {}."
    """The text for a label, which stands for ``{}``. Ours; CLIP §3.1.4."""
    kept: Positive = 50
    """Labels of an image that are stored. Ours."""


class ProviderParams(Settings):
    """``filter.providers``."""

    language: Literal["embedded", "google"] = "embedded"
    """Parses, polarity, profanity. Ours; CC §3: google."""
    vision: Literal["embedded", "google", "hub"] = "embedded"
    """Labels, pornography; ``hub``: labels as ``zero_shot`` says, pornography as embedded. Ours; CC §3: google."""


class LabelLimits(Protocol):
    """The settings of the label rule (``components.stages.filter.Params``)."""

    min_labels: int
    max_labels: int
    min_label_confidence: float
    min_kind_confidence: float
    min_zipf: float


def _no_refusal(_: Any) -> str:
    """Return the refusal of a provider that always answers."""
    return ""


def _same(stored: Any) -> Any:
    return stored


@dataclass(frozen=True)
class Role(Generic[T]):
    """A provider of one value for a text or an image."""

    annotator: Annotator
    read: Callable[..., T] = _same
    """Converts the stored result to the role's value; a refusal gives the neutral value."""
    refusal: Callable[[Any], str] = _no_refusal
    """Returns why a stored result has no answer; empty for an answer."""


@dataclass(frozen=True)
class Labels(Role[list[Label]]):
    """A provider of an image's labels: those of Google or of a vocabulary, compared by stem.

    They are specific enough that nouns need no match by hypernym. ``read`` converts the stored result within bounds, as
    :func:`components.providers.google_readings.labels`.
    """

    def labels(self, stored: Any, limits: LabelLimits) -> list[Label]:
        """Return the image's labels by falling confidence."""
        bounds = {"least": limits.min_labels, "most": limits.max_labels, "min_confidence": limits.min_label_confidence}
        return self.read(stored, **bounds)

    def kinds(self, nouns: Sequence[str], stored: Any, limits: LabelLimits) -> list[str]:
        """Return the nouns that no label names but whose hypernym is one, as ``noun < hypernym``."""
        return []

    def nearest_kind(self, nouns: Sequence[str], stored: Any) -> tuple[str, str, float] | None:
        """Return noun, hypernym and confidence of the nearest to a match of :meth:`kinds`; None where nothing can match."""
        return None

    def evidence(self, nouns: Sequence[str], stored: Any) -> list[Evidence]:
        """Return the evidence for each noun; none for a provider whose labels are compared by stem only."""
        return []


@dataclass(frozen=True)
class Providers:
    """The provider of each role."""

    parse: Role[Parse]
    polarity: Role[float]
    profanity: Role[float]
    pornography: Role[float]
    labels: Labels
    image_text: Role[float] | None = None
    """None where no model is named."""


def plan_for(
    root: Path,
    params: ProviderParams,
    language: str,
    zero_shot: ZeroShot | None = None,
    image_text: HubModel | None = None,
    device: Callable[[Accelerator], Device] = choose_device,
) -> dict[str, Any]:
    """Return the selection as JSON for workers, with the request settings if Google is selected, and each model with its digest.

    Args:
        zero_shot: the model of ``vision: hub``.
        image_text: the model that compares images with their texts.
        device: what items compute on, as :meth:`components.execution.engine.Engine.device`.

    Raises:
        HearsightError: Google is selected and ``params.yaml:google`` is invalid, or a model or the vocabulary cannot be used.
    """
    plan: dict[str, Any] = {"language": params.language, "vision": params.vision, "text": language}
    if "google" in (params.language, params.vision):
        plan["asking"] = google_params(root).asking.plain()
    if params.vision == "hub":
        chosen = choose_model(root, zero_shot, device) if zero_shot is not None else None
        if zero_shot is None or chosen is None or not zero_shot.vocabulary or "{}" not in zero_shot.prompt:
            hint = "name a model, a vocabulary, and a prompt with {} (docs/providers.md)"
            raise HearsightError("does not say how `vision: hub` finds labels", where="filter.zero_shot", hint=hint)
        digest = digest_value(read_labels(root, zero_shot.vocabulary))
        vocabulary = Vocabulary(zero_shot.vocabulary, digest, zero_shot.prompt, zero_shot.kept)
        plan["labels"] = {"model": chosen._asdict(), "vocabulary": vocabulary._asdict()}
    if image_text is not None and (chosen := choose_model(root, image_text, device)):
        plan["image_text"] = {"model": chosen._asdict()}
    return plan


def models_of(plan: Mapping[str, Any]) -> dict[str, ChosenModel]:
    """Return role → model of a hub in a plan."""
    return {role: ChosenModel(**plan[role]["model"]) for role in ("labels", "image_text") if role in plan}


def plan_of(root: Path, filtered: StageOutput) -> dict[str, Any]:
    """Return the selection of the filter that made ``filtered``; the embedded providers for an output without one.

    Models of a hub are left out: the readers of a finished output need no labels.
    """
    if all(entry.path != FILE for entry in filtered.manifest.files):
        return {"language": "embedded", "vision": "embedded", "text": "en"}
    choice = json.loads(filtered.file(FILE).read_bytes())
    vision: Any = "embedded" if choice["vision"] == "hub" else choice["vision"]
    return plan_for(root, ProviderParams(language=choice["language"], vision=vision), choice["text"])


def record_choice(stage: Stage, plan: Mapping[str, Any]) -> None:
    """Write the selection into the stage's output."""
    choice = {name: plan[name] for name in ("language", "text", "vision")}
    stage.write_file(FILE, (json.dumps(choice, sort_keys=True) + "\n").encode())


def make_providers(plan: Mapping[str, Any], project: Path, work: Path | None = None) -> Providers:
    """Return the providers of a plan. Loads no model and sends no request.

    Args:
        plan: from :func:`plan_for` or :func:`plan_of`.
        project: the root, below which models are found.
        work: the stage's scratch folder, for usage counts.
    """
    client: Any = None
    if "asking" in plan:
        client = GoogleClient(RequestSettings(**plan["asking"]), work / USAGE if work is not None else None)
    embedded: Iterator[Role[Any]] = (Role(annotator()) for annotator in EMBEDDED)
    parse, polarity, profanity, pornography = embedded
    labels: Labels = EmbeddedLabels()
    if plan["language"] == "google":
        parse = Role(GoogleSyntax(client, plan["text"]), to_parse, refusal_reason)
        polarity = Role(GoogleSentiment(client, plan["text"]), readings.polarity, refusal_reason)
        profanity = Role(GoogleModeration(client, plan["text"]), readings.profanity, refusal_reason)
    if plan["vision"] == "google":
        vision = GoogleVision(client)
        pornography, labels = Role(vision, readings.pornography, refusal_reason), Labels(vision, readings.labels, refusal_reason)
    models = models_of(plan)
    if "labels" in models:
        labels = Labels(ZeroShotLabels(project, models["labels"], Vocabulary(**plan["labels"]["vocabulary"])), best_labels)
    image_text: Role[float] | None = Role(ImageTextScore(project, models["image_text"])) if "image_text" in models else None
    return Providers(parse, polarity, profanity, pornography, labels, image_text)


def parse_role(plan: Mapping[str, Any], project: Path, work: Path | None = None) -> Role[Parse]:
    """Return the provider of parses; loads no vision provider."""
    return make_providers({**plan, "vision": "embedded"}, project, work).parse


class EmbeddedLabels(Labels):
    """Labels from ImageNet's classes, COCO's categories and their WordNet hypernyms."""

    def __init__(self) -> None:
        super().__init__(ImageRecognizer())

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
