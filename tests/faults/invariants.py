"""What must hold at the end: every record once and in one state, the bytes of an uninterrupted run, nothing left behind."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

import pyarrow.parquet as pq

from components.core.digests import sha256_file
from tests.faults.project import CHAIN, STAGES, Small

TEMPORARY = re.compile(r"(^|/)[^/]*(\.tmp($|-)|\.new$|\.repaired$)")
VOLATILE = re.compile(
    r"^(\.hearsight/(cache|work|locks|runs|code|annotations|objects)/|\.dvc/cache/|reports/data_docs/|dvc\.lock$|mlflow\.db|(mlartifacts|mlruns)/)"
)
"""Files that a run may have or not: what is stored under digests, and logs."""


def broken(project: Small, expected: dict[str, bytes], until: str, files: set[str]) -> Iterator[str]:
    """Yield a line for each promise that the finished project breaks.

    Args:
        expected: manifests of an uninterrupted run.
        until: the last stage that ran.
        files: the files of an uninterrupted run.
    """
    done = STAGES[: STAGES.index(until) + 1]
    yield from (f"{stage}: another manifest" for stage in done if project.manifests()[stage] != expected[stage])
    for stage in done:
        yield from wrong_files(project, stage)
    yield from _lost_records(project, done)
    left = project.files()
    yield from (f"temporary file {name}" for name in sorted(left) if TEMPORARY.search(name))
    later = tuple(f"data/english/{stage}/" for stage in STAGES if stage not in done)
    known = {name for name in files if not name.startswith(later)}
    extra = sorted(name for name in left - known if not VOLATILE.search(name) and not TEMPORARY.search(name))
    yield from (f"unknown file {name}" for name in extra if "/runs/" not in name)


def wrong_files(project: Small, stage: str) -> Iterator[str]:
    folder = project.output(stage)
    try:
        expected = project.finished(stage).manifest.expected_files()
    except Exception as error:
        yield f"{stage}: {error}"
        return
    for name, (_, digest) in expected.items():
        path = folder / name
        if not path.is_file() or sha256_file(path) != digest:
            yield f"{stage}: {name} is not what its manifest lists"
    present = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {"manifest.json"}
    yield from (f"{stage}: {name} is in no manifest" for name in sorted(present - expected.keys()))


def _lost_records(project: Small, stages: list[str]) -> Iterator[str]:
    """Compare each stage's ledger with its table and with the table before; reads the files without the product's code."""
    keys: dict[str, Counter[str]] = {}
    for stage in stages:
        folder = project.output(stage)
        rows = [row for path in sorted((folder / "ledger").glob("*")) for row in pq.read_table(path).to_pylist()]
        records = Counter(row["key"] for row in rows if row["kind"] == "record")
        kept = {row["key"] for row in rows if row["kind"] == "record" and row["verdict"] == "kept"}
        table = [
            row["key"]
            for path in sorted((folder / "shards").glob("*"))
            for row in pq.read_table(path, columns=["key"]).to_pylist()
        ]
        keys[stage] = Counter(table)
        if twice := [key for key, count in (records + keys[stage]).items() if max(records[key], keys[stage][key]) > 1]:
            yield f"{stage}: {len(twice)} keys occur twice, e.g. {twice[0]}"
        source = next((name.partition("/")[2] for name in CHAIN[stage].values() if name != "none"), "")
        if source and set(records) != set(keys[source]):
            yield f"{stage}: {len(set(records) ^ set(keys[source]))} records of {source} lost or new"
        if stage in ("crawl", "split") and kept != set(table):
            yield f"{stage}: the kept rows are not the table's"


def recorded_failures(project: Small) -> list[str]:
    """Return the error messages of the records that wait for MLflow."""
    records = [json.loads(path.read_text()) for path in (project.root / ".hearsight" / "runs").glob("*.json")]
    return [record["error"] for record in records if record["error"]]
