"""Rewriting of one shard's texts from their cached parses."""

from __future__ import annotations

import pyarrow as pa

from components.core.digests import sha256_bytes
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import CAPTION
from components.execution.stage import ShardOut, Task
from components.knowledge.cascade import Knowledge
from components.providers.registry import parse_role
from components.stages.hypernymize.rewrite import rewrite


def rewrite_shard(table: pa.Table, task: Task, knowledge: Knowledge) -> ShardOut:
    """Rewrite every text of a shard from its cached parse."""
    records = table.to_pylist()
    digests = [sha256_bytes(record["text"].encode()) for record in records]
    parser = parse_role(task.shared["providers"], task.work)
    stored = task.annotations.annotate(parser.annotator, {d: record["text"] for d, record in zip(digests, records, strict=True)})
    rows, ledger = [], []
    for digest, record in zip(digests, records, strict=True):
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
