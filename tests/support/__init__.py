"""Helpers of several test packages: stages, finished outputs from rows, and waiting."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.addresses import lineage_path
from components.core.check_warnings import CheckWarning, warnings_bytes
from components.core.ledger import kept, ledger_table
from components.core.manifest import WARNINGS, Manifest
from components.core.params import Settings, check_settings
from components.core.records import OUTPUT_SCHEMAS
from components.core.result_files import sqlite_backend
from components.core.stage_output import StageOutput
from components.core.stored_files import keep_output
from components.execution.engine import Engine, LocalEngine, call_item
from components.execution.resources import CORE, Accelerator, Device, Resources, choose_device
from components.execution.stage import Stage

PROJECT = Path(__file__).resolve().parents[2]

THOROUGH = os.environ.get("HEARSIGHT_TESTS") == "thorough"
"""Whether `make test-all` runs: all kill points and examples instead of a sample."""

HANG = 300.0
"""Seconds after which a wait fails; many times what a slow machine needs."""


def until(condition: Callable[[], Any], within: float = HANG) -> Any:
    """Wait until ``condition()`` is true and return its value; fail after ``within`` seconds."""
    deadline = time.monotonic() + within
    while not (value := condition()):
        assert time.monotonic() < deadline, f"the condition was not met within {within:.0f} s"
        time.sleep(0.02)
    return value


def alive(pid: int) -> bool:
    """Whether the process runs. One that has ended is not alive, also while nobody has asked for its exit code."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:  # it may also end between the opening of the file and its reading
        return False


FILLERS: dict[Any, Any] = {pa.string(): "", pa.int32(): 1, pa.int64(): 1, pa.float32(): 0.0, pa.float64(): 0.0}


def row(stage: str, **values: Any) -> dict[str, Any]:
    """Return a record of the stage's schema with ``values``; other columns get neutral values."""
    schema = OUTPUT_SCHEMAS[stage][1]
    unknown = set(values) - set(schema.names)
    assert not unknown, unknown
    structs = {field.name: None for field in schema if pa.types.is_struct(field.type)}
    fillers = {field.name: FILLERS.get(field.type, []) for field in schema} | structs
    return {field.name: values.get(field.name, fillers[field.name]) for field in schema}


def leave_warning(output: StageOutput) -> str:
    """Give an output a warning, as if its check had found one, and return its line."""
    warning = CheckWarning(output.name, "by_voice", "rate", "expect_x", "found <0.7>", "a measured figure")
    data, old = warnings_bytes([warning]), output.digest
    (output.path / WARNINGS).write_bytes(data)
    output.manifest.with_warnings(data).write(output.path)
    del output.__dict__["manifest"]
    if (lineage := lineage_path(output.path)).is_file():
        lineage.write_text(lineage.read_text().replace(old, output.digest))
    return warning.text


class InlineEngine:
    """Runs items in this process, one after the other.

    A forked worker would load its models in every step; this process loads them once for all tests. Tests of workers use
    :data:`WORKERS`.
    """

    name = "local"
    opener = staticmethod(sqlite_backend)

    def open(self, project: Path, lock: Path, folders: Sequence[Path]) -> AbstractContextManager[None]:
        return nullcontext()

    def device(self, accelerator: Accelerator) -> Device:
        return choose_device(accelerator)

    def run(self, work: Callable[[Any], Any], items: Sequence[Any], resources: Resources = CORE) -> Iterator[tuple[int, Any]]:
        for index, item in enumerate(items):
            succeeded, result = call_item(work, item)
            if not succeeded:
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
    """Return a Stage as the runner makes it, under ``root``, with an engine that runs in this process by default."""
    if isinstance(params, Settings):
        check_settings(params, f"params.yaml: {dataset}.{stage}")
    out = root / "data" / dataset / stage
    out.mkdir(parents=True, exist_ok=True)
    state = root / ".hearsight"
    return Stage(stage, dataset, params, root, inputs or {}, out, engine or InlineEngine(), state, code="the code of tests")


def make_output(
    root: Path,
    stage: str,
    shards: Sequence[Sequence[dict[str, Any]]],
    dataset: str = "english",
    media: Sequence[dict[str, bytes]] = (),
) -> StageOutput:
    """Write and return a finished output whose shards hold these rows, all kept."""
    job = make_stage(root, stage, dataset)
    for number, rows in enumerate(shards):
        table = pa.Table.from_pylist(list(rows), schema=OUTPUT_SCHEMAS[stage][1])
        job.write_shard(f"{number:05d}", table, ledger_table(kept(r["key"]) for r in rows), media[number] if media else None)
    publish(job)
    return StageOutput(job.out)


def publish(job: Stage) -> Manifest:
    """Finish an output and store its files, as the runner does after the check."""
    manifest = job.finish()
    keep_output(job.out, manifest)
    return manifest
