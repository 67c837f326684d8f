"""describe: the description of the image is cut out of a post's caption; posts without one are dropped (P2).

Source: #PraCegoVer (PCV) section 4.3.1: the text behind the hashtag, up to a mark of its end, without emoticons, hashtags,
links and profile marks, with the punctuation fixed. What the published rules do otherwise, and every reason of a dropped
caption, is in ``docs/posts-to-descriptions.md``.
Not in scope: exact and near duplicates (dedup), offensive words (analyze reports them), lower case and stop words (features).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.core.ledger import dropped, kept, ledger_table
from components.core.params import Settings
from components.execution.stage import ShardOut, Stage, Task

if TYPE_CHECKING:
    import pyarrow as pa


class Params(Settings):
    """Settings of describe."""

    language: str = "pt"
    """ISO 639-1: whose lists (``data/descriptions.<language>.yaml``), and what a description must be in. PCV §4: Portuguese."""
    min_words: int = 3
    """A description has more words than this. PCV's code: 3."""
    min_language: float = 0.05
    """Probability of the language below which a piece of text may be foreign. Ours."""
    max_characters: int = 10_000
    """Characters a caption may have at most. Ours: Instagram's have 2,200, those of most Mastodon servers 500."""


def run(stage: Stage) -> None:
    """Find the description in every caption."""
    from components.stages.extract_descriptions.rules import load_rules

    params: Params = stage.params
    load_rules(params.language)
    stage.map(describe_shard, stage.inputs["input"].shards, step="extract_descriptions", params=params.model_dump())


def describe_shard(table: pa.Table, task: Task) -> ShardOut:
    """Candidates whose ``alt`` is a post's caption, to captions: ``text`` stays the caption as posted, ``labels`` is empty."""
    import pyarrow as pa

    from components.core.records import CAPTION
    from components.language.identification import language_probability
    from components.stages.extract_descriptions.extract import REASONS, extract
    from components.stages.extract_descriptions.rules import load_rules

    params = task.params
    rules = load_rules(params["language"])
    rows, ledger = [], []
    for record in table.to_pylist():
        found = extract(
            record["alt"],
            rules,
            language_probability,
            min_words=params["min_words"],
            min_language=params["min_language"],
            max_characters=params["max_characters"],
        )
        detail = f"lists {rules.version}: {'; '.join(step.step for step in found.steps)}"
        if found.text is None:
            assert found.reason is not None
            left = found.steps[-1].after if found.steps else record["alt"]
            bounds = {"too_short": f"> {params['min_words']} words", "too_long": f"<= {params['max_characters']} characters"}
            threshold = bounds.get(found.reason, REASONS[found.reason])
            ledger.append(dropped(record["key"], found.reason, left[:_SHOWN], threshold, detail=detail))
            continue
        ledger.append(kept(record["key"], detail=detail))
        steps = [step._asdict() for step in found.steps]
        rows.append(record | {"text": record["alt"], "labels": [], "caption": found.text, "steps": steps, "types": []})
    return ShardOut(pa.Table.from_pylist(rows, schema=CAPTION), ledger_table(ledger))


_SHOWN = 200
"""Characters of what was left that the ledger shows."""
