"""Builds a cascade from the setting ``hypernymize.knowledge``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from components.core.addresses import installed_file, state_folder
from components.core.errors import HearsightError
from components.core.params import did_you_mean, parse_settings, place, read_params_file
from components.core.result_cache import ResultCache
from components.knowledge.cascade import Knowledge, strip_article
from components.knowledge.embedded import Embedded
from components.knowledge.google import GoogleKnowledgeGraph
from components.knowledge.kinds import KINDS, Gate, HypernymAnswer, Source
from components.knowledge.remote import KnowledgeSettings, Question, Remote
from components.knowledge.wikidata.choosing import Chooser
from components.knowledge.wikidata.index import WikidataIndex
from components.knowledge.words import Words
from components.language.wordnet import WordNet, load_wordnet

SOURCES = ("embedded", "wikidata_index", "google")
KEY = "GOOGLE_API_KEY"
"""Environment variable that holds the key of Google's API."""


def check_order(order: Sequence[str], settings: KnowledgeSettings, where: str) -> None:
    """Check the settings that the named sources need; ``where`` is the block ``hypernymize``.

    Raises:
        HearsightError: an unknown or repeated source, or one with missing or invalid settings.
    """

    def problem(what: str, hint: str, name: str = "knowledge") -> HearsightError:
        return HearsightError(what, where=f"{where}.{name}", hint=hint)

    for position, name in enumerate(order):
        if name not in SOURCES:
            raise problem(f"'{name}' is no source of knowledge", did_you_mean(name, SOURCES))
        if name in order[:position]:
            raise problem(f"'{name}' is named twice", "name it once")
    if "wikidata_index" in order and not settings.index:
        raise problem("is empty", "name the folder that `hearsight knowledge index` made", "knowledge_settings.index")
    for name in ("timeout", "connections"):
        if getattr(settings, name) <= 0:
            raise problem("must be more than 0", "give a positive number", f"knowledge_settings.{name}")
    for name in ("retries", "backoff"):
        if getattr(settings, name) < 0:
            raise problem("must not be negative", "give 0 or more", f"knowledge_settings.{name}")
    if "google" in order and not settings.google.startswith(("http://", "https://")):
        raise problem("is no web address", "give one with https://", "knowledge_settings.google")


def make_sources(
    order: Sequence[str], settings: KnowledgeSettings, wordnet: WordNet, store: ResultCache, root: Path
) -> list[Source]:
    """Return the named sources in order. Google answers from ``store``; :meth:`Remote.ask` sends requests."""
    words, gate = Words(wordnet), Gate(wordnet)
    sources: list[Source] = []
    for name in order:
        if name == "embedded":
            sources.append(Embedded(wordnet))
        elif name == "wikidata_index":
            sources.append(WikidataIndex(installed_file(root, settings.index), Chooser(words, gate)))
        else:
            sources.append(GoogleKnowledgeGraph(settings, store, words, gate, os.environ.get(KEY, "")))
    return sources


def require_key(order: Sequence[str]) -> None:
    """Raise HearsightError when Google is a source and the environment has no key."""
    if "google" in order and not os.environ.get(KEY):
        raise HearsightError(
            "'google' is a source, and there is no key",
            where="hypernymize.knowledge",
            hint=f"set {KEY} in the environment",
        )


class QuestionRecorder:
    """Replaces Google to record its questions; has no answers."""

    name = "google"

    def __init__(self) -> None:
        self.questions: dict[Question, None] = {}

    def lookup(self, name: str, kind: str) -> HypernymAnswer | None:
        self.questions[Question(name, kind)] = None
        return None


def recording_cascade(
    order: Sequence[str], settings: KnowledgeSettings, wordnet: WordNet, store: ResultCache, root: Path
) -> tuple[Knowledge, QuestionRecorder]:
    """Return knowledge that records the questions for Google; the sources before it answer first, as in the real cascade."""
    before = order[: list(order).index("google")]
    recorder = QuestionRecorder()
    return Knowledge(wordnet, [*make_sources(before, settings, wordnet, store, root), recorder]), recorder


def lookup_once(root: Path, dataset: str, name: str, kind: str) -> dict[str, str]:
    """Return the hypernym of one name and its source, by the sources of a dataset; sends requests if needed.

    Raises:
        HearsightError: an unknown type, no such dataset, or invalid settings.
    """
    if kind not in KINDS:
        raise HearsightError(f"'{kind}' is no type", where="KIND", hint=f"known are: {', '.join(KINDS)}")
    path = root / "params.yaml"
    block = (read_params_file(path).get(dataset) or {}).get("hypernymize")
    if not isinstance(block, dict):
        raise HearsightError(f"dataset '{dataset}' names no sources of knowledge", where=path, hint="add hypernymize.knowledge")
    where = place(root, dataset, "hypernymize", "knowledge_settings")
    settings = parse_settings(KnowledgeSettings, block.get("knowledge_settings", {}), where)
    assert isinstance(settings, KnowledgeSettings)
    order = [str(source) for source in block.get("knowledge", ["embedded"])]
    check_order(order, settings, place(root, dataset, "hypernymize"))
    require_key(order)
    wordnet = load_wordnet(root)
    sources = make_sources(order, settings, wordnet, ResultCache(state_folder(root) / "annotations"), root)
    for source in sources:
        if isinstance(source, Remote):
            source.ask([Question(strip_article(name), kind)])
        if (answer := source.lookup(strip_article(name), kind)) is not None:
            return {"name": name, "type": kind, "word": answer.word, "source": answer.source}
    return {"name": name, "type": kind, "word": KINDS[kind][1], "source": "type"}
