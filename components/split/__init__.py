"""split: train, validation and test, drawn by group so that near-duplicates never part.

The draw is a function of the group's key and the seed alone: adding pages tomorrow moves no record that is there
today. Shares are therefore approximate, as close as the number of groups allows.
Source: Conceptual Captions section 3 (table 3). Not in scope: cleaning the test split by raters, owner splits.
"""

from __future__ import annotations

from components.core.draws import draw
from components.core.errors import HearsightError
from components.core.ledger import kept, ledger_table
from components.core.params import Settings
from components.core.stage import Stage

SPLITS = ("train", "validation", "test")


class Params(Settings):
    """Settings of split."""

    seed: int
    """Seed of the draw."""
    validation: float
    """Share of the groups that go to validation."""
    test: float
    """Share of the groups that go to test."""


def split_of(group: str, seed: int, validation: float, test: float) -> str:
    """The split of one group; shares are of 1, and what is left is train."""
    position = draw(seed, group, "split").random()
    if position < test:
        return "test"
    return "validation" if position < test + validation else "train"


def run(stage: Stage) -> None:
    """Write each shard with its records' splits."""
    import pyarrow as pa

    params = stage.params
    if min(params.validation, params.test) < 0 or params.validation + params.test >= 1:
        raise HearsightError(
            f"validation {params.validation} and test {params.test} leave nothing to train on",
            where=f"params.yaml: {stage.dataset}.split",
            mend="give shares of at least 0 that sum to less than 1",
        )
    counts = dict.fromkeys(SPLITS, 0)
    for shard in stage.inputs["input"].shards:
        table = shard.read()
        splits = [split_of(group, params.seed, params.validation, params.test) for group in table.column("group").to_pylist()]
        for name in splits:
            counts[name] += 1
        ledger = [kept(key, detail=name) for key, name in zip(table.column("key").to_pylist(), splits, strict=True)]
        stage.write_shard(shard.name, table.append_column("split", pa.array(splits, pa.string())), ledger_table(ledger))
    for name, count in counts.items():
        stage.metric(f"records_{name}", count)
