"""What several test areas need: finished boundaries made from rows, without running the stages before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.boundary import Boundary
from components.core.check_warnings import CheckWarning, warnings_bytes, warnings_path
from components.core.engine import LocalEngine
from components.core.ledger import kept, ledger_table
from components.core.records import BOUNDARIES
from components.core.stage import Stage

PROJECT = Path(__file__).resolve().parent.parent

FILLERS: dict[Any, Any] = {pa.string(): "", pa.int32(): 1, pa.int64(): 1, pa.float32(): 0.0, pa.float64(): 0.0}


def row(stage: str, **values: Any) -> dict[str, Any]:
    """A record of the stage's schema; what is not given is filled with something harmless."""
    schema = BOUNDARIES[stage][1]
    unknown = set(values) - set(schema.names)
    assert not unknown, unknown
    return {field.name: values.get(field.name, FILLERS.get(field.type, [])) for field in schema}


def leave_warning(boundary: Boundary) -> str:
    """Leave a warning beside an input, as its check would; returns its line."""
    warning = CheckWarning(boundary.name, "by_voice", "rate", "expect_x", "found <0.7>", "a measured figure")
    name = Path(boundary.name)
    path = warnings_path(boundary.path.parents[len(name.parts)], str(name.parent), name.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(warnings_bytes(boundary.name, [warning]))
    return warning.text


def make_stage(
    root: Path, stage: str, dataset: str = "english", params: Any = None, inputs: dict[str, Boundary] | None = None
) -> Stage:
    """A Stage as the runner would hand it over, under a root of the test's own."""
    out = root / "data" / dataset / stage
    out.mkdir(parents=True, exist_ok=True)
    return Stage(stage, dataset, params, PROJECT, inputs or {}, out, LocalEngine(2), state=root / ".hearsight")


def make_boundary(
    root: Path,
    stage: str,
    shards: Sequence[Sequence[dict[str, Any]]],
    dataset: str = "english",
    media: Sequence[dict[str, bytes]] = (),
) -> Boundary:
    """A finished boundary whose shards hold these rows, every one of them kept."""
    job = make_stage(root, stage, dataset)
    for number, rows in enumerate(shards):
        table = pa.Table.from_pylist(list(rows), schema=BOUNDARIES[stage][1])
        job.write_shard(f"{number:05d}", table, ledger_table(kept(r["key"]) for r in rows), media[number] if media else None)
    job.finish()
    return Boundary(job.out)
