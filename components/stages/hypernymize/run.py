"""Run hypernymize: look up names, rewrite each text, count the concepts, and drop captions with a rare one.

For Google, a map rewrites with the sources before it and collects the names that it would look up. The stage's own process
requests the answers that are not stored yet. A digest of the answers is part of the cache key of the rewriting. So the rewriting
is a pure function, workers never use the network, and a later answer causes the affected shards to be rewritten. A local index
enters that key by its own digest.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from components.core.addresses import installed_file
from components.core.digests import digest_value, sha256_bytes
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import CAPTION
from components.core.result_cache import PaidAnnotator
from components.execution.resources import Resources
from components.execution.stage import ShardOut, Stage, Task
from components.google.cost import record_usage
from components.hub.chosen import ChosenModel, choose_model, resources_for
from components.knowledge.cascade import Knowledge
from components.knowledge.people import missing_people
from components.knowledge.remote import KnowledgeSettings, Question, Remote
from components.knowledge.setup import make_sources, recording_cascade, require_key
from components.knowledge.wikidata.index import read_about
from components.language.named_entities import NamedEntities
from components.language.parser import Parse
from components.language.wordnet import load_wordnet
from components.providers.registry import Role, parse_role, plan_of
from components.stages.hypernymize import REWRITING, RULES, Params
from components.stages.hypernymize.first_word import choose_parse, second_text
from components.stages.hypernymize.rarity import keep_common
from components.stages.hypernymize.rewrite import rewrite
from components.stages.hypernymize.second_recogniser import align_names
from components.stages.hypernymize.sentence import Entity, Sentence
from components.stages.hypernymize.server_captions import ask_server, read_proposals


def prepare_knowledge(stage: Stage, rewriting: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Request missing answers from the network, and return the settings of the workers (``task.shared``).

    Prints a line on standard error if no source knows people.

    Args:
        plan: the chosen providers, by which the workers parse.

    Raises:
        HearsightError: key or index of a source are missing.
    """
    by_rules, settings = stage.params.rewriter == RULES, stage.params.knowledge_settings
    order = list(stage.params.knowledge) if by_rules else ["embedded"]
    require_key(order)
    if by_rules and (lost := missing_people(order)):
        print(f"hearsight: warning: {stage.dataset}/hypernymize: {lost}", file=sys.stderr, flush=True)
    shared: dict[str, Any] = {"order": order, "states": {}, "providers": dict(plan)}
    if chosen := choose_model(stage.project, stage.params.names, stage.engine.device):
        shared["names"] = chosen._asdict()
        stage.note_parent("model of names", chosen.digest)
    if order == ["embedded"]:
        return shared
    # Settings that change no answer (timeouts) are not part of the key.
    addresses = {"wikidata_index": settings.index, "google": settings.google}
    shared["addresses"] = {name: address for name, address in addresses.items() if name in order}
    if "wikidata_index" in order:
        shared["states"]["wikidata_index"] = digest = read_about(installed_file(stage.project, settings.index))["digest"]
        stage.note_parent("wikidata index", digest)
    if "google" in order:
        refs = stage.map(
            question_shard,
            stage.inputs["input"].shards,
            step="questions_google",
            params=rewriting,
            shared=shared,
            publish=False,
            conserve=False,
            resources=_resources(shared),
        )
        questions = {Question(**row) for ref in refs for row in ref.read(["name", "kind"]).to_pylist()}
        (source,) = make_sources(["google"], settings, load_wordnet(), stage.annotations, stage.project)
        assert isinstance(source, Remote)
        answers = source.ask(questions)
        shared["states"]["google"] = digest_value(sorted((key, digest_value(answer)) for key, answer in answers.items()))
        stage.note_parent("google", shared["states"]["google"])
        stage.metric("knowledge_google_questions", len(questions))
        stage.metric("knowledge_google_requests", source.requests)
        stage.metric("knowledge_google_failures", source.failures)
    return shared


def _resources(shared: Mapping[str, Any]) -> Resources:
    return resources_for([ChosenModel(**shared["names"])] if "names" in shared else [])


def knowledge_of(task: Task) -> Knowledge:
    """Return the cascade that ``task.shared`` (of :func:`prepare_knowledge`) describes."""
    wordnet, shared = load_wordnet(), task.shared
    if shared["order"] == ["embedded"]:
        return Knowledge(wordnet)
    sources = make_sources(shared["order"], _settings(shared), wordnet, task.annotations, task.project)
    return Knowledge(wordnet, sources)


def rewritten_shard(table: pa.Table, task: Task) -> ShardOut:
    """Rewrite every text of a shard with the sources in ``task.shared``."""
    return rewrite_shard(table, task, knowledge_of(task))


def question_shard(table: pa.Table, task: Task) -> ShardOut:
    """Return the names of a shard that Google would look up, with types, distinct and sorted."""
    shared = task.shared
    cascade, listener = recording_cascade(shared["order"], _settings(shared), load_wordnet(), task.annotations, task.project)
    rewrite_shard(table, task, cascade)
    rows = [question._asdict() for question in sorted(listener.questions)]
    return ShardOut(
        pa.Table.from_pylist(rows, schema=pa.schema([("name", pa.string()), ("kind", pa.string())])), ledger_table([])
    )


def _settings(shared: Mapping[str, Any]) -> Any:
    """Return the settings that decide answers; a worker sends no requests, so the others are unused."""
    addresses = shared["addresses"]
    return KnowledgeSettings(index=addresses.get("wikidata_index", ""), google=addresses.get("google", ""))


def rewrite_shard(table: pa.Table, task: Task, knowledge: Knowledge) -> ShardOut:
    """Rewrite every text of a shard from its cached parses."""
    records = table.to_pylist()
    digests = [sha256_bytes(record["text"].encode()) for record in records]
    parser = parse_role(task.shared["providers"], task.project, task.work)
    texts = {digest: record["text"] for digest, record in zip(digests, records, strict=True)}
    stored = task.annotations.annotate(parser.annotator, texts)
    parses = {digest: parser.read(stored[digest]) for digest in digests}
    seconds = _second_parses(parses, texts, parser, task, knowledge)
    names = _names(parses, texts, task)
    limits = {name: task.params[name] for name in REWRITING}
    if "rewriter" in task.shared:
        chosen = {digest: choose_parse(parse, seconds.get(digest), knowledge) for digest, parse in parses.items()}
        read = {digest: Sentence.of(parse, names.get(digest, ())) for digest, parse in chosen.items()}
        results = read_proposals(read, texts, task, knowledge, limits)
    else:
        results = {
            digest: rewrite(parse, knowledge, second=seconds.get(digest), names=names.get(digest, ()), **limits)
            for digest, parse in parses.items()
        }
    rows, ledger = [], []
    for digest, record in zip(digests, records, strict=True):
        result = results[digest]
        if result.shortcoming is not None:
            rule, value, threshold = result.shortcoming
            ledger.append(dropped(record["key"], rule, value, threshold, detail=f"{record['text']} → {result.caption}"))
            continue
        ledger.append(kept(record["key"], detail="; ".join(step.step for step in result.steps)))
        rows.append(
            record | {"caption": result.caption, "steps": [step._asdict() for step in result.steps], "types": result.types}
        )
    return ShardOut(pa.Table.from_pylist(rows, schema=CAPTION), ledger_table(ledger))


def _names(parses: Mapping[str, Parse], texts: Mapping[str, str], task: Task) -> dict[str, list[Entity]]:
    """Return digest → the names that a second recogniser finds, in positions of the parse; empty where none is set."""
    if "names" not in task.shared:
        return {}
    found = task.annotations.annotate(NamedEntities(task.project, ChosenModel(**task.shared["names"])), texts)
    return {digest: align_names(parses[digest]["text"], text, found[digest]) for digest, text in texts.items()}


def _second_parses(
    parses: Mapping[str, Parse], texts: Mapping[str, str], parser: Role[Parse], task: Task, knowledge: Knowledge
) -> dict[str, Parse]:
    """Return digest → parse of the text without its first capital, where the capital misled the parser.

    A paid parser gets no second question: workers send no requests.
    """
    if isinstance(parser.annotator, PaidAnnotator):
        return {}
    again = {digest: second_text(texts[digest], parse, knowledge) for digest, parse in parses.items()}
    keys = {digest: sha256_bytes(text.encode()) for digest, text in again.items() if text}
    stored = task.annotations.annotate(parser.annotator, {key: again[digest] for digest, key in keys.items()})
    return {digest: parser.read(stored[key]) for digest, key in keys.items()}


def run(stage: Stage) -> None:
    """Rewrite every text, then keep the captions whose concepts are all common in the whole corpus."""
    params: Params = stage.params
    shards = stage.inputs["input"].shards
    rewriting = {name: getattr(params, name) for name in REWRITING}
    plan = plan_of(stage.project, stage.inputs["input"])
    with record_usage(stage, plan):
        shared = prepare_knowledge(stage, rewriting, plan)
        if params.rewriter != RULES:
            shared["rewriter"] = ask_server(stage, shards)
        resources = _resources(shared)
        captions = stage.map(
            rewritten_shard, shards, step="rewrite", params=rewriting, shared=shared, publish=False, resources=resources
        )
    entered = sum(shard.rows for shard in stage.inputs["input"].manifest.shards)
    keep_common(stage, captions, entered)
