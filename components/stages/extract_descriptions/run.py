"""Run extract_descriptions: find the description in each post."""

from __future__ import annotations

import pyarrow as pa

from components.core.ledger import dropped, kept, ledger_table
from components.core.records import CAPTION
from components.execution.stage import ShardOut, Stage, Task
from components.language.identification import language_probability
from components.stages.extract_descriptions import Params
from components.stages.extract_descriptions.extract import REASONS, extract
from components.stages.extract_descriptions.rules import load_rules


def run(stage: Stage) -> None:
    """Extract the description from every caption."""
    params: Params = stage.params
    load_rules(params.language)
    stage.map(extract_shard, stage.inputs["input"].shards, step="extract_descriptions", params=params.model_dump())


def extract_shard(table: pa.Table, task: Task) -> ShardOut:
    """Convert candidates whose ``alt`` is a post's caption to captions; ``text`` is the caption as posted."""
    params, rules = Params(**task.params), load_rules(task.params["language"])
    rows, ledger = [], []
    for record in table.to_pylist():
        description = extract(record["alt"], rules, language_probability, params)
        detail = f"lists {rules.version}: {'; '.join(step.step for step in description.steps)}"
        if description.text is None:
            assert description.reason is not None
            remainder = description.steps[-1].after if description.steps else record["alt"]
            thresholds = {
                "too_short": f"> {params.min_words} words",
                "too_long": f"<= {params.max_characters} characters",
                "no_description": f"a segment that describes an image with probability >= {params.min_describing}",
            }
            threshold = thresholds.get(description.reason, REASONS[description.reason])
            ledger.append(dropped(record["key"], description.reason, remainder[:_SHOWN], threshold, detail=detail))
            continue
        ledger.append(kept(record["key"], detail=detail))
        steps = [step._asdict() for step in description.steps]
        rows.append(record | {"text": record["alt"], "labels": [], "caption": description.text, "steps": steps, "types": []})
    return ShardOut(pa.Table.from_pylist(rows, schema=CAPTION), ledger_table(ledger))


_SHOWN = 200
"""Characters of the remaining text that the ledger shows."""
