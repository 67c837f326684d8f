"""Execution of one shard or one job in a worker process, through the shard cache.

Specs and functions can be pickled, so they run on this machine or on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from components.core.digests import sha256_file
from components.core.ledger import DROPPED, check_conserved
from components.core.params import Settings
from components.core.records import OUTPUT_SCHEMAS
from components.core.result_cache import ResultCache
from components.core.result_files import Opener
from components.core.shard_cache import ShardCache
from components.core.shards import read_table, write_table, write_tar
from components.core.stage_output import StageOutput, verify

if TYPE_CHECKING:
    from components.core.object_store import ObjectStore


class ShardOut(NamedTuple):
    """A step's result for one shard: the kept records, one ledger row for each record, and media by member name."""

    table: pa.Table
    ledger: pa.Table
    media: Mapping[str, bytes] | None = None


@dataclass
class Task:
    """The context of a mapped function: parameters, shared values, caches and inputs."""

    params: Any
    shared: Any
    annotations: ResultCache
    inputs: dict[str, StageOutput]
    work: Path
    dataset: str
    project: Path
    """The folder that holds params.yaml and ``data``; on a node that shares no folder, a folder of that node."""
    state: Path
    """The folder of the caches."""
    shard: str = ""
    code: str = ""
    """What the step's key says about its code: a digest, or the step's version."""


@dataclass(frozen=True)
class _Spec:
    """Fields that all specs share."""

    step: str
    code: str
    params: Settings | Mapping[str, Any]
    shared: Any
    project: Path
    state: Path
    work: Path
    dataset: str
    inputs: dict[str, Path] = field(repr=False)
    store: ObjectStore | None = field(repr=False)
    opener: Opener = field(repr=False)

    def key(self, **specific: Any) -> dict[str, Any]:
        """Return the cache key: everything that the result depends on."""
        settings = self.params.plain() if isinstance(self.params, Settings) else dict(self.params)
        return {"step": self.step, "code": self.code, "params": settings, "shared": self.shared, **specific}

    def task(self, shard: str) -> Task:
        """Return the function's context."""
        return Task(
            params=self.params,
            shared=self.shared,
            annotations=ResultCache(self.state / "annotations", self.opener),
            inputs={name: StageOutput(path, self.store) for name, path in self.inputs.items()},
            work=self.work,
            dataset=self.dataset,
            project=self.project,
            state=self.state,
            shard=shard,
            code=self.code,
        )

    @property
    def cache(self) -> ShardCache:
        return ShardCache(self.state / "cache", self.store)


@dataclass(frozen=True)
class ShardSpec(_Spec):
    """One shard to map."""

    shard: str
    path: Path
    sha256: str
    earlier: Path | None
    """The ledger of the previous map of the same stage; its dropped rows are copied to the new ledger."""
    conserve: bool
    output: str
    """The stage whose schema the records are cast to; empty for an intermediate table."""


@dataclass(frozen=True)
class JobSpec(_Spec):
    """One job to run."""

    name: str
    spec: Any
    inputs_digest: dict[str, str]


ItemWork = Callable[[Any, Task], Any]
"""Maps an item and its task to a result."""


@dataclass(frozen=True)
class UncachedSpec(_Spec):
    """One item to run without the shard cache."""

    name: str
    item: Any = field(repr=False)


def run_uncached(function: ItemWork, spec: UncachedSpec) -> Any:
    """Run one item; the function stores its own results."""
    return function(spec.item, spec.task(spec.name))


def run_shard(function: Callable[[pa.Table, Task], ShardOut], spec: ShardSpec) -> tuple[Path, bool]:
    """Run one shard through the cache; return the entry's folder and whether it was cached."""

    def fill(folder: Path) -> None:
        verify(spec.path, spec.sha256, spec.store)
        table = read_table(spec.path)
        out = function(table, spec.task(spec.shard))
        if spec.conserve:
            check_conserved(table.column("key").to_pylist(), out.table, out.ledger, f"{spec.step}, shard {spec.shard}")
        ledger = out.ledger
        if spec.earlier is not None:
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
    """Run one job through the cache; return the entry's folder and whether it was cached."""
    return spec.cache.get(
        spec.step,
        spec.key(job=spec.name, spec=spec.spec, inputs=spec.inputs_digest),
        lambda folder: function(spec.spec, spec.task(spec.name), folder),
    )
