"""Estimate what stages would request from paid providers, and the price (``hearsight cost``); nothing is sent.

The filter: a group of rules whose answers are all cached decides; where an answer is missing, the candidate counts as passing,
so the sums are upper bounds. Missing answers of embedded models are free. Hypernymize parses the same texts, so it costs nothing
more.

Hypernymize, and images to describe: a model server's tokens are estimated from characters and images.

Synthesize: voices are drawn as the stage draws them, so the sum is exact, except for refused requests, which are free.
Credentials are not needed for the estimate. Optional voices that are not installed are left out, as in a run on this machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.addresses import state_folder
from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import parse_settings
from components.core.result_cache import Annotator, ResultCache
from components.core.stage_output import StageOutput
from components.execution.runner import stage_settings
from components.execution.shard_worker import Task
from components.google.client import GoogleClient
from components.google.cost import CostLine, sum_lines
from components.google.responses import SERVICE_NAMES
from components.google.settings import google_params
from components.model_server.client import ServerAnswers, open_answers
from components.model_server.settings import ServerParams
from components.providers.registry import ProviderParams, make_providers, plan_for
from components.speech.text_normalization import NormalisedText
from components.speech.voices.catalogue import Voice, installed, voice_named
from components.speech.voices.google_speech import GoogleSpeech, SpeechRequest, exceeded_limit
from components.speech.voices.google_speech import answer_key as speech_key
from components.speech.voices.paid import speech_request
from components.stages.filter import Params
from components.stages.filter.annotation import SubjectAnnotator, providers_of
from components.stages.filter.cascade import GROUPS, make_subjects
from components.stages.filter.rules import Subject, first_failure
from components.stages.hypernymize import RULES
from components.stages.synthesize import Params as SpeechParams
from components.stages.synthesize.planning import plan_utterances
from components.tools.describe.folder import find_images
from components.tools.describe.foreign_writers import PROMPT, answer_key
from components.vision.image_files import read_image_file

CHARACTERS_PER_TOKEN = 3
"""Of English; models have 3 to 5, so the sum is rather too high. Ours."""
IMAGE_TOKENS = 1400
"""Tokens of an image of at most 1,024 px a side, in patches of 28 px: 1,369; models that scale it down count fewer. Ours."""
FORM_TOKENS = 12
"""Tokens of an answer's form around the caption. Ours."""
DESCRIPTION_TOKENS = 60
"""Tokens of a description of at most 25 words, and of its form. Ours."""


@dataclass
class Tally:
    """The requests to one annotator."""

    method: Any
    features: Iterable[str]
    cached: set[str] = field(default_factory=set)
    missing: dict[str, dict[str, int]] = field(default_factory=dict)
    """Content → units that its answer costs, by feature."""

    def lines(self, prices: Mapping[str, float]) -> Iterator[CostLine]:
        """Yield one line per feature; the number of requests is in the first."""
        requests = -(-len(self.missing) // self.method.most)
        for feature in self.features:
            units = sum(by_feature.get(feature, 0) for by_feature in self.missing.values())
            items = len(self.cached) + len(self.missing)
            usd = units * prices[feature] / 1000
            yield CostLine(SERVICE_NAMES[self.method.service], feature, items, len(self.cached), requests, units, usd)
            requests = 0


def estimate_filter(root: Path, dataset: str, language: str = "", vision: str = "") -> list[CostLine]:
    """Return the most that a run of ``dataset``'s filter requests, one line per feature, and the total.

    Args:
        language: replaces ``filter.providers.language``; "" keeps it.
        vision: replaces ``filter.providers.vision``; "" keeps it.

    Raises:
        HearsightError: the parameters are not valid, or the filter's input is not finished.
    """
    graph = load_graph(root)
    params: Params = stage_settings(graph, "filter", dataset)
    overrides = params.providers.plain() | {name: value for name, value in (("language", language), ("vision", vision)) if value}
    providers = parse_settings(ProviderParams, overrides, "hearsight cost")
    assert isinstance(providers, ProviderParams)
    if providers.vision == "hub":
        # Labels cost nothing, and an estimate downloads no model.
        providers = providers.model_copy(update={"vision": "embedded"})
    plan = plan_for(root, providers, params.language)
    inputs = {name: StageOutput(path) for name, path in graph.inputs("filter", dataset).items()}
    if not inputs["input"].path.is_dir():
        raise HearsightError("is not there yet", where=inputs["input"].path, hint=f"run the crawl of '{dataset}' first")
    state = state_folder(root)
    task = Task(params, plan, ResultCache(state / "annotations"), inputs, state, dataset, root, state)
    if "asking" not in plan:
        return [CostLine("embedded", "all", 0, 0, 0, 0, 0.0)]
    tallies: dict[str, Tally] = {}
    chosen = make_providers(plan, root)
    for shard in inputs["input"].shards:
        rows = {row["key"]: row for row in shard.read().to_pylist()}
        _apply_rules(SubjectAnnotator(rows, task, chosen), make_subjects(rows, params), params, tallies)
    prices = google_params(root).prices.plain()
    lines = [line for name in sorted(tallies) for line in tallies[name].lines(prices)]
    return [*lines, sum_lines(lines)]


def _apply_rules(learning: SubjectAnnotator, subjects: Mapping[str, Subject], params: Params, tallies: dict[str, Tally]) -> None:
    dropped: set[str] = set()
    for group, rules in GROUPS.items():
        alive = {key: subject for key, subject in subjects.items() if key not in dropped}
        known = dict(alive)
        for role, provider in providers_of(group, learning.providers).items():
            missing = _count_missing(learning, role, provider.annotator, alive, tallies)
            known = {key: subject for key, subject in known.items() if key not in missing}
        if known:
            learning(group, known)
        dropped |= {
            key for key, subject in known.items() if key in learning.refused or first_failure(subject, rules, params) is not None
        }


def _count_missing(
    learning: SubjectAnnotator, role: str, annotator: Annotator, alive: Mapping[str, Subject], tallies: dict[str, Tally]
) -> set[str]:
    """Return the candidates whose answer is not cached, and add their units to the tally of a paid annotator."""
    contents = learning.contents(role, alive)
    cached = learning.task.annotations.read(annotator, sorted(set(contents.values())))
    missing = {key for key, content in contents.items() if content not in cached}
    if not hasattr(annotator, "units"):
        return missing
    tally = tallies.setdefault(annotator.name, Tally(annotator, annotator.units("x")))
    tally.cached |= {content for content in contents.values() if content in cached}
    for key in missing:
        item = annotator.item(alive[key].text) if annotator.service == "language" else "image"  # type: ignore[attr-defined]
        tally.missing[contents[key]] = annotator.units(item) if item else {}
    return missing


def estimate_speech(root: Path, dataset: str, voices: Sequence[str] = ()) -> list[CostLine]:
    """Return what a run of ``dataset``'s synthesize requests, and the total.

    Args:
        voices: replace ``synthesize.voices``; empty keeps them.

    Raises:
        HearsightError: the parameters are not valid, a name is no voice, or the stage's input is not finished.
    """
    graph = load_graph(root)
    params: SpeechParams = stage_settings(graph, "synthesize", dataset)
    source = StageOutput(graph.inputs("synthesize", dataset)["input"])
    if not source.path.is_dir():
        raise HearsightError("is not there yet", where=source.path, hint=f"run the split of '{dataset}' first")
    named = [voice_named(name) for name in voices or params.voices]
    drawn = [voice for voice in named if voice.paid or not voice.extra or installed(voice)]
    if not any(voice.paid for voice in drawn):
        return [CostLine("voices of this machine", "all", 0, 0, 0, 0, 0.0)]
    records = (record for shard in source.shards for record in shard.read().to_pylist())
    settings = google_params(root)
    annotator = GoogleSpeech(GoogleClient(settings.asking))
    # A request beyond the service's limits is never sent.
    wishes = {speech_key(wish): wish for wish in _wishes(records, params, drawn) if not exceeded_limit(wish)}
    cached = ResultCache(state_folder(root) / "annotations").read(annotator, list(wishes))
    missing = {key: annotator.units(annotator.item(wish)) for key, wish in wishes.items() if key not in cached}
    lines = list(Tally(annotator, ["speech_wavenet"], set(cached), missing).lines(settings.prices.plain()))
    return [*lines, sum_lines(lines)]


def estimate_rewriting(root: Path, dataset: str, rewriter: str = "") -> list[CostLine]:
    """Return about what a run of ``dataset``'s hypernymize requests from the model server, and the total.

    Args:
        rewriter: replaces ``hypernymize.rewriter``; "" keeps it.

    Raises:
        HearsightError: the parameters are not valid, or the stage's input is not finished.
    """
    graph = load_graph(root)
    model = rewriter or stage_settings(graph, "hypernymize", dataset).rewriter
    if model == RULES:
        return [CostLine("rules", "all", 0, 0, 0, 0, 0.0)]
    source = StageOutput(graph.inputs("hypernymize", dataset)["input"])
    if not source.path.is_dir():
        raise HearsightError("is not there yet", where=source.path, hint=f"run the filter of '{dataset}' first")
    answers = open_answers(root, "rewrite", model)
    prompt, params = answers.prompt, answers.params
    texts = {sha256_bytes(text.encode()): text for shard in source.shards for text in shard.read(["text"])["text"].to_pylist()}
    missing = [texts[key] for key in _unanswered(root, answers, list(texts))]
    asked = sum(len(prompt.instructions) + len(prompt.ask({"text": text})) for text in missing) // CHARACTERS_PER_TOKEN
    written = sum(min(len(text) // CHARACTERS_PER_TOKEN + FORM_TOKENS, params.most_tokens) for text in missing)
    return _server_lines(params, len(texts), len(missing), asked, written)


def estimate_descriptions(root: Path, folder: Path, language: str = "en") -> list[CostLine]:
    """Return about what describing the images of a folder requests from the model server, and the total.

    Raises:
        HearsightError: the settings of the server are not valid, or a file cannot be read.
    """
    answers = open_answers(root, PROMPT)
    keys = list(dict.fromkeys(answer_key(read_image_file(folder / file), language) for file in find_images(folder)))
    missing = len(_unanswered(root, answers, keys))
    prompt = len(answers.prompt.instructions) + len(answers.prompt.question)
    sent = missing * (IMAGE_TOKENS + prompt // CHARACTERS_PER_TOKEN)
    return _server_lines(answers.params, len(keys), missing, sent, missing * DESCRIPTION_TOKENS)


def _unanswered(root: Path, answers: ServerAnswers, keys: Sequence[str]) -> list[str]:
    """Return the keys that a run asks about: those without a stored answer, and those that the server refused."""
    stored = ResultCache(state_folder(root) / "annotations").read(answers, keys)
    return [key for key in keys if key not in stored or not answers.is_lasting(stored[key])]


def _server_lines(params: ServerParams, items: int, missing: int, sent: int, answered: int) -> list[CostLine]:
    about = (items, items - missing)
    lines = [
        CostLine("model server", "tokens sent", *about, missing, sent, params.price(sent, 0)),
        CostLine("model server", "tokens answered", *about, 0, answered, params.price(0, answered)),
    ]
    return [*lines, sum_lines(lines)]


def _wishes(records: Iterator[Mapping[str, Any]], params: SpeechParams, voices: Sequence[Voice]) -> Iterator[SpeechRequest]:
    by_language: dict[str, list[str]] = {}
    for voice in voices:
        by_language.setdefault(voice.language, []).append(voice.name)
    paid = {voice.name for voice in voices if voice.paid}
    for _, said, manners in plan_utterances(records, by_language, params.plain()):
        for manner in manners:
            if isinstance(said, NormalisedText) and manner.voice in paid:
                how = {"rate": manner.rate, "pitch": manner.pitch, "gain": manner.gain}
                yield speech_request(said.text, manner.voice, **how, shaped_there=params.google_shapes)
