"""extract_descriptions: cut the description of the image out of a post's caption; drop posts without one.

Source: PCV §4.3.1: the text after the hashtag, up to an end mark, without emoticons, hashtags, links and mentions, with corrected
punctuation. ``docs/posts-to-descriptions.md`` lists the differences from the published rules and every reason for a drop.
Not in scope: duplicates (``dedup``), offensive words (``posts_report`` counts them), lower case and stop words (features).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.core.ledger import dropped, kept, ledger_table
from components.core.params import Settings
from components.execution.stage import ShardOut, Stage, Task

if TYPE_CHECKING:
    import pyarrow as pa


class Params(Settings):
    """Settings of extract_descriptions."""

    language: str = "pt"
    """ISO 639-1: selects ``data/descriptions.<language>.yaml``; descriptions must be in this language. PCV §4: Portuguese."""
    min_words: int = 3
    """Descriptions must have more words than this. PCV's code: 3."""
    min_language: float = 0.05
    """Probability of the language below which a piece of text may be foreign. Ours."""
    max_characters: int = 10_000
    """Characters a caption may have at most. Ours: Instagram's have 2,200, those of most Mastodon servers 500."""


def run(stage: Stage) -> None:
    """Extract the description from every caption."""
    from components.stages.extract_descriptions.rules import load_rules

    params: Params = stage.params
    load_rules(params.language)
    stage.map(extract_shard, stage.inputs["input"].shards, step="extract_descriptions", params=params.model_dump())


def extract_shard(table: pa.Table, task: Task) -> ShardOut:
    """Convert candidates whose ``alt`` is a post's caption to captions; ``text`` is the caption as posted."""
    import pyarrow as pa

    from components.core.records import CAPTION
    from components.language.identification import language_probability
    from components.stages.extract_descriptions.extract import REASONS, extract
    from components.stages.extract_descriptions.rules import load_rules

    params = task.params
    rules = load_rules(params["language"])
    rows, ledger = [], []
    for record in table.to_pylist():
        description = extract(
            record["alt"],
            rules,
            language_probability,
            min_words=params["min_words"],
            min_language=params["min_language"],
            max_characters=params["max_characters"],
        )
        detail = f"lists {rules.version}: {'; '.join(step.step for step in description.steps)}"
        if description.text is None:
            assert description.reason is not None
            remainder = description.steps[-1].after if description.steps else record["alt"]
            thresholds = {"too_short": f"> {params['min_words']} words", "too_long": f"<= {params['max_characters']} characters"}
            threshold = thresholds.get(description.reason, REASONS[description.reason])
            ledger.append(dropped(record["key"], description.reason, remainder[:_SHOWN], threshold, detail=detail))
            continue
        ledger.append(kept(record["key"], detail=detail))
        steps = [step._asdict() for step in description.steps]
        rows.append(record | {"text": record["alt"], "labels": [], "caption": description.text, "steps": steps, "types": []})
    return ShardOut(pa.Table.from_pylist(rows, schema=CAPTION), ledger_table(ledger))


_SHOWN = 200
"""Characters of the remaining text that the ledger shows."""
