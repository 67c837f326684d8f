"""hypernymize: names become the words for what they name, and captions of rare concepts are dropped (C5, C6).

Source: Conceptual Captions (seed 000) section 3, text transformation with hypernymization, and its table 1; where its
figure 1 keeps a location or a determiner that the table drops, the table rules.
First map: each text is rewritten by a chain of small steps and dropped when too little is left. Second map and reduce:
how many captions speak of each concept, counted by shard and added. Third map: a caption stays only if every concept of it is
common enough. Shards that are appended later are rewritten and counted alone. ``concepts.tsv`` lists the concepts.
Not in scope: which entity is meant (a knowledge graph's work; the embedded knowledge knows few people).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from components.core.ledger import dropped, kept, ledger_table
from components.core.params import Settings
from components.execution.stage import ShardOut, Stage, Task
from components.google.cost import counted
from components.knowledge.setup import KnowledgeSettings
from components.providers.registry import parse_role, plan_of

if TYPE_CHECKING:
    import pyarrow as pa

    from components.knowledge.cascade import Knowledge


class Params(Settings):
    """Settings of hypernymize."""

    min_words: int
    """Words a caption must have at least after the rewriting."""
    stated_role: bool
    """Whether a person of whom nothing is known is called by the role stated before the name ("artist"), not "person"."""
    concept_level: Literal["noun", "kind"]
    """Whether a noun stands for itself, or, when rare, for its nearest common kind (``concepts.py``)."""
    min_concept_count: int
    """Captions that must speak of a concept, at least, for a caption with it to stay."""
    knowledge: list[str]
    """Sources of hypernyms in the order they are asked: embedded, wikidata_index, wikidata, google."""
    knowledge_settings: KnowledgeSettings
    """What the sources other than embedded need."""


def run(stage: Stage) -> None:
    """Rewrite, then keep the captions whose every concept is common in the whole corpus."""
    from components.stages.hypernymize.lookups import prepare_knowledge
    from components.stages.hypernymize.rarity import keep_common

    params: Params = stage.params
    shards = stage.inputs["input"].shards
    rewriting = {"min_words": params.min_words, "stated_role": params.stated_role}
    plan = plan_of(stage.root, stage.inputs["input"])
    with counted(stage, plan):
        shared = prepare_knowledge(stage, rewriting, plan)
        captions = stage.map(rewrite_shard, shards, step="rewrite", params=rewriting, shared=shared, publish=False)
    entered = sum(shard.rows for shard in stage.inputs["input"].manifest.shards)
    keep_common(stage, captions, entered)


def rewrite_shard(table: pa.Table, task: Task, knowledge: Knowledge | None = None) -> ShardOut:
    """Rewrite every text of a shard from its cached parse; ``task.shared`` names the sources of knowledge (``asking``)."""
    import pyarrow as pa

    from components.core.digests import sha256_bytes
    from components.core.records import CAPTION
    from components.stages.hypernymize.lookups import knowledge_of
    from components.stages.hypernymize.rewrite import rewrite

    records = table.to_pylist()
    digests = [sha256_bytes(record["text"].encode()) for record in records]
    parser = parse_role(task.shared["providers"], task.work)
    stored = task.annotations.annotate(parser.annotator, {d: record["text"] for d, record in zip(digests, records, strict=True)})
    knowledge = (knowledge or knowledge_of(task)) if records else None
    rows, ledger = [], []
    for digest, record in zip(digests, records, strict=True):
        assert knowledge is not None
        parse = parser.read(stored[digest])
        result = rewrite(parse, knowledge, min_words=task.params["min_words"], stated_role=task.params["stated_role"])
        if result.shortcoming is not None:
            rule, value, threshold = result.shortcoming
            ledger.append(dropped(record["key"], rule, value, threshold, detail=f"{record['text']} → {result.caption}"))
            continue
        ledger.append(kept(record["key"], detail="; ".join(step.step for step in result.steps)))
        rows.append(
            record | {"caption": result.caption, "steps": [step._asdict() for step in result.steps], "types": result.types}
        )
    return ShardOut(pa.Table.from_pylist(rows, schema=CAPTION), ledger_table(ledger))
