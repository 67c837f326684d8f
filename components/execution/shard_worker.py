"""The work floor: what runs inside a worker process for one shard or one job.

Everything here is picklable, so that the same pieces run on this machine or on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from components.core.digests import sha256_file
from components.core.ledger import DROPPED, check_conserved
from components.core.params import Settings
from components.core.records import OUTPUT_SCHEMAS
from components.core.result_cache import ResultCache
from components.core.shard_cache import ShardCache
from components.core.shards import read_table, write_table, write_tar
from components.core.stage_output import StageOutput, verify


class ShardOut(NamedTuple):
    """What a step makes of one shard: the kept records, one ledger row a record, and media by member name."""

    table: pa.Table
    ledger: pa.Table
    media: Mapping[str, bytes] | None = None


@dataclass
class Task:
    """What a mapped function may look at besides its table."""

    params: Any
    shared: Any
    annotations: ResultCache
    inputs: dict[str, StageOutput]
    work: Path
    dataset: str
    shard: str = ""


@dataclass(frozen=True)
class _Spec:
    step: str
    code: str
    params: Settings | Mapping[str, Any]
    shared: Any
    state: Path
    work: Path
    dataset: str
    inputs: dict[str, Path] = field(repr=False)

    def key(self, **rest: Any) -> dict[str, Any]:
        settings = self.params.plain() if isinstance(self.params, Settings) else dict(self.params)
        return {"step": self.step, "code": self.code, "params": settings, "shared": self.shared, **rest}

    def task(self, shard: str) -> Task:
        return Task(
            params=self.params,
            shared=self.shared,
            annotations=ResultCache(self.state / "annotations"),
            inputs={name: StageOutput(path) for name, path in self.inputs.items()},
            work=self.work,
            dataset=self.dataset,
            shard=shard,
        )

    @property
    def cache(self) -> ShardCache:
        return ShardCache(self.state / "cache")


@dataclass(frozen=True)
class ShardSpec(_Spec):
    """One shard to map."""

    shard: str
    path: Path
    sha256: str
    earlier: Path | None
    """The ledger of the map before this one inside the same stage, whose dropped rows are carried on."""
    conserve: bool
    output: str
    """The stage whose schema the records must have, or empty for an intermediate table."""


@dataclass(frozen=True)
class JobSpec(_Spec):
    """One job to do."""

    name: str
    spec: Any
    inputs_digest: dict[str, str]


@dataclass(frozen=True)
class UncachedSpec(_Spec):
    """One piece of work that no cache keeps."""

    name: str
    piece: Any = field(repr=False)


def run_uncached(function: Callable[[Any, Task], Any], spec: UncachedSpec) -> Any:
    """Do one piece; its results are the function's to keep."""
    return function(spec.piece, spec.task(spec.name))


def run_shard(function: Callable[[pa.Table, Task], ShardOut], spec: ShardSpec) -> tuple[Path, bool]:
    """Map one shard through the cache; returns the entry's folder and whether it was there already."""

    def fill(folder: Path) -> None:
        verify(spec.path, spec.sha256)
        table = read_table(spec.path)
        out = function(table, spec.task(spec.shard))
        if spec.conserve:
            check_conserved(table.column("key").to_pylist(), out.table, out.ledger, f"{spec.step}, shard {spec.shard}")
        ledger = out.ledger
        if spec.earlier is not None:
            import pyarrow.compute as pc  # a tenth of a second, which most steps do without

            before = read_table(spec.earlier)
            ledger = pa.concat_tables([before.filter(pc.equal(before["verdict"], DROPPED)), ledger])
        table = out.table.cast(OUTPUT_SCHEMAS[spec.output][1]) if spec.output else out.table
        write_table(folder / "table.parquet", table)
        write_table(folder / "ledger.parquet", ledger)
        if out.media is not None:
            write_tar(folder / "media.tar", out.media)

    earlier = sha256_file(spec.earlier) if spec.earlier is not None else None
    return spec.cache.get(spec.step, spec.key(shard=spec.sha256, earlier=earlier, name=spec.shard), fill)


def run_job(function: Callable[[Any, Task, Path], None], spec: JobSpec) -> tuple[Path, bool]:
    """Do one job through the cache; returns the entry's folder and whether it was there already."""
    return spec.cache.get(
        spec.step,
        spec.key(job=spec.name, spec=spec.spec, inputs=spec.inputs_digest),
        lambda folder: function(spec.spec, spec.task(spec.name), folder),
    )
