"""hypernymize: names become the words for what they name, and captions of rare concepts are dropped (C5, C6).

Source: Conceptual Captions (seed 000) section 3, text transformation with hypernymization, and its table 1; where its
figure 1 keeps a location or a determiner that the table drops, the table rules.
First map: each text is rewritten by a chain of small steps and dropped when too little is left. Reduce: how many
captions speak of each concept. Second map: a caption stays only if every concept of it is common enough.
Not in scope: which entity is meant (a knowledge graph's work; the embedded knowledge knows few people).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from components.core.ledger import dropped, kept, ledger_table
from components.core.params import Settings
from components.core.stage import ShardOut, Stage, Task
from components.providers.choice import parse_role, plan_of
from components.providers.google_cost import counted

if TYPE_CHECKING:
    import pyarrow as pa


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


def run(stage: Stage) -> None:
    """Rewrite, count the concepts of all captions, then drop those with a rare one."""
    from components.hypernymize.concepts import resolve
    from components.providers.knowledge import EmbeddedKnowledge
    from components.providers.knowledge_wordnet import load_wordnet

    params: Params = stage.params
    rewriting = {"min_words": params.min_words, "stated_role": params.stated_role}
    filtered = stage.inputs["input"]
    plan = plan_of(stage.root, filtered)
    with counted(stage, plan):
        captions = stage.map(rewrite_shard, filtered.shards, step="rewrite", params=rewriting, shared=plan, publish=False)
    nouns = [types for shard in captions for types in shard.read(["types"]).column("types").to_pylist()]
    knowledge = EmbeddedKnowledge(load_wordnet())
    resolved = resolve(nouns, params.concept_level, params.min_concept_count, knowledge)
    refs = stage.map(
        drop_rare, captions, step="concepts", params={"min_concept_count": params.min_concept_count}, shared=resolved
    )
    stage.metric("concepts", len(set(resolved.values()) - {""}))
    stage.metric("kept", sum(ref.read(["key"]).num_rows for ref in refs))


def rewrite_shard(table: pa.Table, task: Task) -> ShardOut:
    """Rewrite every text of a shard from its cached parse."""
    import pyarrow as pa

    from components.core.digests import sha256_bytes
    from components.core.records import CAPTION
    from components.hypernymize.rewrite import rewrite
    from components.providers.knowledge import EmbeddedKnowledge
    from components.providers.knowledge_wordnet import load_wordnet

    records = table.to_pylist()
    digests = [sha256_bytes(record["text"].encode()) for record in records]
    parser = parse_role(task.shared, task.work)
    stored = task.annotations.annotate(parser.annotator, {d: record["text"] for d, record in zip(digests, records, strict=True)})
    knowledge = EmbeddedKnowledge(load_wordnet()) if records else None
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


def drop_rare(table: pa.Table, task: Task) -> ShardOut:
    """Resolve each caption's nouns (``task.shared``: noun → concept, "" when rare) and drop it if one is rare."""
    import pyarrow as pa

    resolved, threshold = task.shared, task.params["min_concept_count"]
    rows, ledger = [], []
    for record in table.to_pylist():
        rare = [noun for noun in record["types"] if not resolved[noun]]
        if rare:
            ledger.append(dropped(record["key"], "rare_concept", rare, f">= {threshold} captions", detail=record["caption"]))
        else:
            rows.append(record | {"types": list(dict.fromkeys(resolved[noun] for noun in record["types"]))})
            ledger.append(kept(record["key"], detail="; ".join(step["step"] for step in record["steps"])))
    return ShardOut(pa.Table.from_pylist(rows, schema=table.schema), ledger_table(ledger))
