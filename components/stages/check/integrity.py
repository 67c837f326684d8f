"""Comparison of every file with the manifest, and of every shard with its Arrow schema, without Great Expectations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.digests import sha256_file
from components.core.records import LEDGER, OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.stages.check.failures import Failure

UNLISTED_FILES = frozenset({"manifest.json"})
"""Files of an output that its manifest does not list."""


def inspect(output: StageOutput, stage: str) -> list[Failure]:
    """Return the failures: of files first; of schemas only if all files match, of rows only if the schema matches."""
    return list(_identity(output, stage)) or list(_files(output)) or list(_schemas(output, stage))


def _identity(output: StageOutput, stage: str) -> Iterator[Failure]:
    manifest, record = output.manifest, OUTPUT_SCHEMAS[stage][0]
    if (manifest.stage, manifest.record) != (stage, record):
        found = f"it is of {manifest.stage} ({manifest.record}), not {stage} ({record})"
        yield Failure("manifest.json", "", "manifest_is_of_this_stage", found)


def _files(output: StageOutput) -> Iterator[Failure]:
    expected = output.manifest.expected_files()
    output.fetch()
    for name, (expected_size, sha256) in sorted(expected.items()):
        path = output.path / name
        if not path.is_file():
            yield Failure(name, "", "file_matches_manifest", "the file is missing")
            continue
        found = ""
        if (size := path.stat().st_size) != expected_size:
            found = f"it has {size} bytes, the manifest says {expected_size}"
        elif (digest := sha256_file(path)) != sha256:
            found = f"sha256 is {digest[:12]}…, the manifest says {sha256[:12]}…"
        if found:
            yield Failure(name, "", "file_matches_manifest", f"{found}: changed after the stage ended")
    for path in sorted(output.path.rglob("*")):
        name = path.relative_to(output.path).as_posix()
        if path.is_file() and name not in expected and name not in UNLISTED_FILES:
            yield Failure(name, "", "file_is_listed_in_manifest", "the stage did not write this file: remove it")


def _schemas(output: StageOutput, stage: str) -> Iterator[Failure]:
    for entry in output.manifest.shards:
        for folder, schema, rows in (("shards", OUTPUT_SCHEMAS[stage][1], entry.rows), ("ledger", LEDGER, entry.ledger["rows"])):
            name = f"{folder}/{entry.name}.parquet"
            yield from _schema(name, output.path / name, schema, rows)


def _schema(name: str, path: Path, expected: pa.Schema, rows: int) -> Iterator[Failure]:
    try:
        file = pq.ParquetFile(path)
        schema = file.schema_arrow
    except (pa.ArrowInvalid, OSError) as error:
        yield Failure(name, "", "file_is_parquet", " ".join(str(error).split()))
        return
    if schema.names != expected.names:
        missing = [column for column in expected.names if column not in schema.names]
        unknown = [column for column in schema.names if column not in expected.names]
        state = "is missing" if missing else "is not a column of this record" if unknown else "columns are in another order"
        yield Failure(name, [*missing, *unknown, ""][0], "schema_matches_record", state)
        return
    for field in expected:
        kind = schema.field(field.name).type
        if kind != field.type:
            yield Failure(name, field.name, "schema_matches_record", f"it holds {kind}, not {field.type}")
            return
    if file.metadata.num_rows != rows:
        yield Failure(name, "", "row_count_matches_manifest", f"{file.metadata.num_rows} rows, the manifest says {rows}")
    required = [field.name for field in expected if not field.nullable]
    table = file.read(columns=required, use_threads=False)
    for column in required:
        if nulls := table.column(column).null_count:
            yield Failure(name, column, "column_is_never_null", f"{nulls} of {table.num_rows} values are null")
