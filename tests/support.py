"""What several test areas need: finished outputs made from rows, without running the stages before."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.check_warnings import CheckWarning, warnings_bytes, warnings_path
from components.core.ledger import kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.execution.engine import Engine, LocalEngine, call_item
from components.execution.stage import Stage

PROJECT = Path(__file__).resolve().parent.parent

THOROUGH = os.environ.get("HEARSIGHT_TESTS") == "thorough"
"""Whether `make test-all` runs: every kill point and all examples, where `make test` takes a sample."""

HANG = 300.0
"""Seconds after which something that a test waits for is taken for hung; many times what a slow machine needs."""


def until(come: Callable[[], Any], within: float = HANG) -> Any:
    """Wait for ``come`` to return something true, and return it; fails after ``within`` seconds."""
    deadline = time.monotonic() + within
    while not (found := come()):
        assert time.monotonic() < deadline, f"it did not come within {within:.0f} s"
        time.sleep(0.02)
    return found


FILLERS: dict[Any, Any] = {pa.string(): "", pa.int32(): 1, pa.int64(): 1, pa.float32(): 0.0, pa.float64(): 0.0}


def row(stage: str, **values: Any) -> dict[str, Any]:
    """A record of the stage's schema; what is not given is filled with something harmless."""
    schema = OUTPUT_SCHEMAS[stage][1]
    unknown = set(values) - set(schema.names)
    assert not unknown, unknown
    return {field.name: values.get(field.name, FILLERS.get(field.type, [])) for field in schema}


def leave_warning(output: StageOutput) -> str:
    """Leave a warning beside an input, as its check would; returns its line."""
    warning = CheckWarning(output.name, "by_voice", "rate", "expect_x", "found <0.7>", "a measured figure")
    name = Path(output.name)
    path = warnings_path(output.path.parents[len(name.parts)], str(name.parent), name.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(warnings_bytes(output.name, [warning]))
    return warning.text


class InlineEngine:
    """Runs the work items in this process, one after the other.

    A forked worker loads its models again in every step of every run; this process loads them once for all tests.
    Tests of workers pass :data:`WORKERS`.
    """

    name = "local"

    def open(self, lock: Path, folders: Sequence[Path]) -> AbstractContextManager[None]:
        return nullcontext()

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for index, item in enumerate(items):
            good, result = call_item(work, item)
            if not good:
                raise result
            yield index, result


WORKERS = LocalEngine(2)
"""The engine of real runs, with two worker processes."""


def make_stage(
    root: Path,
    stage: str,
    dataset: str = "english",
    params: Any = None,
    inputs: dict[str, StageOutput] | None = None,
    engine: Engine | None = None,
) -> Stage:
    """A Stage as the runner would hand it over, under a root of the test's own; it runs in this process unless told otherwise."""
    out = root / "data" / dataset / stage
    out.mkdir(parents=True, exist_ok=True)
    return Stage(stage, dataset, params, PROJECT, inputs or {}, out, engine or InlineEngine(), state=root / ".hearsight")


def make_output(
    root: Path,
    stage: str,
    shards: Sequence[Sequence[dict[str, Any]]],
    dataset: str = "english",
    media: Sequence[dict[str, bytes]] = (),
) -> StageOutput:
    """A finished output whose shards hold these rows, every one of them kept."""
    job = make_stage(root, stage, dataset)
    for number, rows in enumerate(shards):
        table = pa.Table.from_pylist(list(rows), schema=OUTPUT_SCHEMAS[stage][1])
        job.write_shard(f"{number:05d}", table, ledger_table(kept(r["key"]) for r in rows), media[number] if media else None)
    job.finish()
    return StageOutput(job.out)
