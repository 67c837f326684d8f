"""The manifest of what a stage has written: digests, sizes and counts of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from components.core.digests import sha256_file
from components.core.ledger import KEPT, OUTCOME, count_outcomes
from components.core.manifest import FileEntry, Manifest, ShardEntry
from components.core.records import OUTPUT_SCHEMAS
from components.core.shards import TarReader, count_rows, read_table


def make_manifest(out: Path, stage: str, shards: Iterable[str], files: Iterable[str]) -> Manifest:
    """Return the manifest of the output in ``out``; one ledger is in memory at a time.

    Args:
        shards: names of the shards.
        files: relative paths of further files.
    """
    entries = [_shard_entry(out, name) for name in sorted(set(shards))]
    listed = [FileEntry(name, **_measure(out / name)) for name in sorted(set(files))]
    return Manifest(stage, OUTPUT_SCHEMAS[stage][0], entries, listed, _counts(out, entries))


def _shard_entry(out: Path, name: str) -> ShardEntry:
    table, ledger, tar = out / "shards" / f"{name}.parquet", out / "ledger" / f"{name}.parquet", out / "media" / f"{name}.tar"
    media = dict(members=len(TarReader(tar)), **_measure(tar)) if tar.exists() else None
    return ShardEntry(
        name, count_rows(table), **_measure(table), ledger=dict(rows=count_rows(ledger), **_measure(ledger)), media=media
    )


def _counts(out: Path, shards: Iterable[ShardEntry]) -> dict[str, Any]:
    """Return kind → how many records were kept, and dropped by rule."""
    total: Counter[tuple[str, str]] = Counter()
    for shard in shards:
        total += count_outcomes(read_table(out / "ledger" / f"{shard.name}.parquet", OUTCOME))
    counts: dict[str, Any] = {}
    for (kind, rule), number in total.items():
        bucket = counts.setdefault(kind, {"kept": 0, "dropped": {}})
        if rule == KEPT:
            bucket["kept"] = number
        else:
            bucket["dropped"][rule] = number
    return counts


def _measure(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": sha256_file(path)}
