"""A project whose last four stages are finished."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.ledger import kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.execution.runner import write_lineage
from tests.support import PROJECT, make_stage, row

WEB = "http://meadow.sample/images"
LIST = "concept\tcaptions\tverdict\tmembers\nkite\t200\tkept\t\nbridle\t7\tdropped\t\n"
LABELS = [{"label": "kite", "confidence": 0.9428}, {"label": "sea lion, brown", "confidence": 1.0}]
ROWS = [
    ("a red kite over the water", f"{WEB}/0000.jpg", "train", LABELS),
    ("the car in the sand", f"{WEB}/0002.jpg", "train", []),
    ("a cup on the table", f"{WEB}/0004.jpg", "validation", LABELS),
    ("a star in the dog's snow", f"{WEB}/0006.jpg", "test", LABELS),
]
CHAIN = ("filter", "hypernymize", "dedup", "split")


def project(root: Path, rows: list[tuple[str, str, str, Any]] = ROWS, extra: str = "") -> Path:
    """A project whose last four stages are finished, two shards each, with lineages that follow each other."""
    root.mkdir(parents=True, exist_ok=True)
    shutil.copy(PROJECT / "dvc.yaml", root / "dvc.yaml")
    shutil.copy(PROJECT / "params.yaml", root / "params.yaml")
    before: StageOutput | None = None
    for stage in CHAIN:
        job = make_stage(root, stage, inputs={"input": before} if before else {})
        half = (len(rows) + 1) // 2
        for number, part in enumerate((rows[:half], rows[half:])):
            records = [
                row(stage, **{
                    name: value
                    for name, value in {
                        "key": f"{number}{at:015d}", "image_url": url, "caption": caption, "split": split,
                        "labels": [{"identifier": "", **label} for label in labels],
                        "alt": caption + extra,
                    }.items()
                    if name in OUTPUT_SCHEMAS[stage][1].names
                })
                for at, (caption, url, split, labels) in enumerate(part)
            ]  # fmt: skip
            table = pa.Table.from_pylist(records, schema=OUTPUT_SCHEMAS[stage][1])
            job.write_shard(f"{number:05d}", table, ledger_table(kept(r["key"]) for r in records))
        if stage == "hypernymize":
            job.write_file("concepts.tsv", LIST.encode())
        job.finish()
        write_lineage(job, {"seed": 1}, "")
        before = StageOutput(job.out)
    return root
