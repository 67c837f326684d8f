"""The world outside as data: network sources are asked before the rewriting, which then reads kept answers alone.

For each network source, in its turn, a map rewrites with the sources before it and notes which names it would be asked; the
stage's own process asks for what is not kept yet, in batches; then a digest of the answers becomes part of the key that the
rewriting is cached by. So the rewriting stays a pure function, workers never touch the network, and an answer that came late
rewrites what it concerns. A local index is part of that key by its own digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.digests import digest_value
from components.execution.stage import ShardOut, Stage, Task

if TYPE_CHECKING:
    import pyarrow as pa

    from components.knowledge.cascade import Knowledge


def prepare_knowledge(stage: Stage, rewriting: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Check the sources, ask those of the network, and return what the workers need to know of them (``task.shared``).

    Args:
        plan: the choice of providers, which the workers parse by.

    Raises:
        HearsightError: a source's settings, key or index are missing.
    """
    from components.knowledge.remote import Question, Remote
    from components.knowledge.setup import NETWORK, check_order, make_sources, require_key
    from components.knowledge.wikidata.index import read_about
    from components.language.wordnet import load_wordnet

    order, settings = list(stage.params.knowledge), stage.params.knowledge_settings
    check_order(order, settings)
    require_key(order)
    shared: dict[str, Any] = {"order": order, "states": {}, "providers": dict(plan)}
    if order == ["embedded"]:
        return shared
    # What changes no answer (patience, contact) is no part of the key.
    addresses = {
        name: getattr(settings, field) for name, field in (("wikidata_index", "index"), *zip(NETWORK, NETWORK, strict=True))
    }
    shared["addresses"] = {name: address for name, address in addresses.items() if name in order}
    if "wikidata_index" in order:
        shared["states"]["wikidata_index"] = digest = read_about(stage.root / settings.index)["digest"]
        stage.note_parent("wikidata index", digest)
    for name in [name for name in order if name in NETWORK]:
        refs = stage.map(
            question_shard,
            stage.inputs["input"].shards,
            step=f"questions_{name}",
            params=rewriting,
            shared=shared | {"listen": name},
            publish=False,
            conserve=False,
        )
        rows = [row for ref in refs for row in ref.read(["name", "kind"]).to_pylist()]
        source = make_sources([name], settings, load_wordnet(), stage.annotations, stage.root)[0]
        assert isinstance(source, Remote)
        answers = source.ask(Question(row["name"], row["kind"]) for row in rows)
        shared["states"][name] = digest_value(sorted((key, digest_value(answer)) for key, answer in answers.items()))
        stage.note_parent(name, shared["states"][name])
        stage.metric(f"knowledge_{name}_questions", len({(row["name"], row["kind"]) for row in rows}))
        stage.metric(f"knowledge_{name}_requests", source.requests)
        stage.metric(f"knowledge_{name}_failures", source.failures)
    return shared


def knowledge_of(task: Task) -> Knowledge:
    """The cascade that ``task.shared`` (of :func:`prepare_knowledge`) names."""
    from components.knowledge.cascade import Cascade, EmbeddedKnowledge
    from components.knowledge.setup import make_sources
    from components.language.wordnet import load_wordnet

    wordnet, shared = load_wordnet(), task.shared
    if shared["order"] == ["embedded"]:
        return EmbeddedKnowledge(wordnet)
    sources = make_sources(shared["order"], _settings(shared), wordnet, task.annotations, _root(task))
    return Cascade(wordnet, sources)


def rewritten_shard(table: pa.Table, task: Task) -> ShardOut:
    """Rewrite every text of a shard; ``task.shared`` names the sources of knowledge."""
    from components.stages.hypernymize.shard_rewriting import rewrite_shard

    return rewrite_shard(table, task, knowledge_of(task))


def question_shard(table: pa.Table, task: Task) -> ShardOut:
    """The names of a shard that the source ``task.shared["listen"]`` would be asked, with their types, each once, sorted."""
    import pyarrow as pa

    from components.core.ledger import ledger_table
    from components.knowledge.setup import recording_cascade
    from components.language.wordnet import load_wordnet
    from components.stages.hypernymize.shard_rewriting import rewrite_shard

    shared = task.shared
    cascade, ear = recording_cascade(
        shared["order"], shared["listen"], _settings(shared), load_wordnet(), task.annotations, _root(task)
    )
    rewrite_shard(table, task, cascade)
    rows = [each._asdict() for each in sorted(ear.questions)]
    return ShardOut(
        pa.Table.from_pylist(rows, schema=pa.schema([("name", pa.string()), ("kind", pa.string())])), ledger_table([])
    )


def _root(task: Task) -> Path:
    """The project's root, of which the annotations lie in ``.hearsight/annotations``."""
    return task.annotations.folder.parents[1]


def _settings(shared: Mapping[str, Any]) -> Any:
    """The settings that decide answers; a worker asks nothing, so it needs no others."""
    from components.knowledge.setup import KnowledgeSettings

    addresses = shared["addresses"]
    return KnowledgeSettings(
        index=addresses.get("wikidata_index", ""),
        wikidata=addresses.get("wikidata", ""),
        google=addresses.get("google", ""),
        contact="",
        timeout=1.0,
        retries=0,
        backoff=0.0,
        connections=1,
    )
