"""Versions of outputs with a host that is to go and one that stays."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from components.execution.runner import write_lineage
from tests.support import make_stage, publish

GONE = "gone.sample"
STAYS = "stays.sample"
DVC = [sys.executable, "-m", "dvc"]


def output(root: Path, stage: str, parent: str, rows: list[dict[str, Any]], figure: bytes) -> str:
    """A finished output with an image no rule can read, its parent named by digest; returns its own."""
    import pyarrow as pa

    from components.core.ledger import kept, ledger_table
    from components.core.records import OUTPUT_SCHEMAS

    shutil.rmtree(root / "data" / "english" / stage, ignore_errors=True)
    job = make_stage(root, stage)
    job.write_shard(
        "00000", pa.Table.from_pylist(rows, schema=OUTPUT_SCHEMAS[stage][1]), ledger_table(kept(r["key"]) for r in rows)
    )
    job.write_shard("00001", pa.Table.from_pylist([], schema=OUTPUT_SCHEMAS[stage][1]), ledger_table([]))
    job.write_file("figure.png", figure)
    if parent:
        job.note_parent("input", parent)
    manifest = publish(job)
    write_lineage(job, {}, "")
    return manifest.digest


def dvc(root: Path, *words: str) -> None:
    done = subprocess.run([*DVC, *words], cwd=root, env={**os.environ, "DVC_NO_ANALYTICS": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
