"""The object that a stage's ``run`` gets: parameters, inputs, and the methods that write its output.

A stage maps pure functions over shards (:meth:`Stage.map`), makes files in jobs (:meth:`Stage.jobs`), or writes a shard directly
(:meth:`Stage.write_shard`). Caching, workers, ledgers and the manifest are handled here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from components.core.addresses import STATE
from components.core.digests import sha256_file
from components.core.files import link_or_copy, publish_bytes
from components.core.manifest import Manifest
from components.core.params import Settings, place
from components.core.progress import progress
from components.core.records import OUTPUT_SCHEMAS
from components.core.result_cache import ResultCache
from components.core.shard_cache import ShardCache
from components.core.shards import write_table, write_tar
from components.core.stage_output import ShardRef, StageOutput
from components.core.stored_files import store_of
from components.execution import shard_worker
from components.execution.engine import Engine
from components.execution.main_figures import MainFigures
from components.execution.measure import measure
from components.execution.output_manifest import make_manifest
from components.execution.resources import CORE, Resources
from components.execution.run_log import RunLog
from components.execution.shard_worker import ItemWork, ShardOut, Task

__all__ = ["Job", "ShardOut", "Stage", "Task"]


class Job(NamedTuple):
    """A unit of work that makes files: its name and its specification (JSON values)."""

    name: str
    spec: Any
    content_addressed: bool = False
    """Whether ``spec`` names all it reads by content. The cache key then omits the inputs' digests."""


@dataclass
class Stage:
    """One run of one stage for one dataset."""

    name: str
    dataset: str
    params: Any
    project: Path
    """The folder that holds params.yaml, ``data`` and ``reports``."""
    inputs: dict[str, StageOutput]
    out: Path
    engine: Engine
    state: Path
    """The folder of the caches; see :func:`components.core.addresses.state_folder`."""
    code: str
    """The digest of the code that dvc.yaml lists for the stage; part of the key of each step without a version."""
    parents: list[dict[str, str]] = field(default_factory=list)
    metrics: list[tuple[str, float, int | None]] = field(default_factory=list)
    scores: list[tuple[str, dict[str, float]]] = field(default_factory=list)
    main_figures: MainFigures = field(default_factory=MainFigures)
    cached: dict[str, int] = field(default_factory=dict)
    """Step → number of cached items."""
    done: dict[str, int] = field(default_factory=dict)
    """Step → number of items."""
    log: RunLog | None = None
    cpu_seconds: float = 0.0
    """Processor time of the items so far."""
    peak_bytes: int = 0
    """The most memory of a worker so far."""
    _written: list[str] = field(default_factory=list)
    _files: list[str] = field(default_factory=list)

    @property
    def work(self) -> Path:
        """The stage's scratch folder, which survives kills and reruns."""
        folder = self.project / STATE / "work" / self.dataset / self.name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def annotations(self) -> ResultCache:
        """The cache of expensive results, shared by all stages and datasets."""
        return ResultCache(self.state / "annotations", self.engine.opener)

    @property
    def cache(self) -> ShardCache:
        """The cache of the results of steps."""
        return ShardCache(self.state / "cache", store_of(self.project))

    def place(self, *names: str) -> str:
        """Return where a setting of this stage is written, for messages: ``datasets/english.yaml: filter.min_words``."""
        return place(self.project, self.dataset, self.name, *names)

    def map(
        self,
        function: Callable[[pa.Table, Task], ShardOut],
        shards: Sequence[ShardRef],
        *,
        step: str,
        params: Settings | Mapping[str, Any],
        shared: Any = None,
        publish: bool = True,
        conserve: bool = True,
        version: int | None = None,
        resources: Resources = CORE,
    ) -> list[ShardRef]:
        """Run ``function(table, task)`` on each shard, in workers, through the shard cache.

        Args:
            function: module-level and deterministic; its random draws are keyed by record.
            shards: shards of an input, or the result of an earlier map.
            params: the settings that the function reads; part of the cache key.
            shared: JSON values common to all shards, e.g. counts of a reduce step; part of the cache key.
            publish: write the result into the stage's output. Otherwise it stays in the cache for a later map, whose ledger then
                includes the rows dropped here.
            conserve: verify that the ledger has one row for each record that entered.
            version: as in :meth:`jobs`.
            resources: what one shard needs; no part of the cache key.

        Returns:
            The resulting shards, in order.
        """
        base = self._base(step, params, shared, version)
        specs = [
            shard_worker.ShardSpec(
                **base,
                shard=shard.name,
                path=shard.path,
                sha256=shard.sha256,
                earlier=shard.ledger if shard.intermediate else None,
                conserve=conserve,
                output=self.name if publish else "",
            )
            for shard in shards
        ]
        results: list[ShardRef] = []
        folders = self._run(partial(shard_worker.run_shard, function), specs, step, resources)
        for spec, folder in zip(specs, folders, strict=True):
            table, media = folder / "table.parquet", folder / "media.tar"
            ref = ShardRef(
                spec.shard, table, sha256_file(table), folder / "ledger.parquet", media if media.exists() else None, True
            )
            results.append(ref)
            if publish:
                link_or_copy(ref.path, self.out / "shards" / f"{ref.name}.parquet")
                link_or_copy(ref.ledger, self.out / "ledger" / f"{ref.name}.parquet")
                if ref.media:
                    link_or_copy(ref.media, self.out / "media" / f"{ref.name}.tar")
                self._written.append(ref.name)
        return results

    def jobs(
        self,
        function: Callable[[Any, Task, Path], None],
        jobs: Sequence[Job],
        *,
        step: str,
        params: Settings | Mapping[str, Any],
        shared: Any = None,
        version: int | None = None,
        resources: Resources = CORE,
    ) -> list[Path]:
        """Run ``function(spec, task, folder)`` for each job, in workers, through the shard cache; return the jobs' folders.

        A job may read any input, so the inputs' digests are part of the key unless the job is content-addressed.

        Args:
            version: of an expensive result, raised by hand when it changes; the key holds it instead of the code's digest.
                ``tests/core/test_annotators.py`` enforces it.
            resources: what one job needs; no part of the cache key. On several nodes every rank calls the function, and all end
                with the same files.
        """
        base = self._base(step, params, shared, version)
        digests = {name: output.manifest.data_digest for name, output in self.inputs.items()}
        specs = [
            shard_worker.JobSpec(**base, name=job.name, spec=job.spec, inputs_digest={} if job.content_addressed else digests)
            for job in jobs
        ]
        return self._run(partial(shard_worker.run_job, function), specs, step, resources)

    def map_uncached(
        self, function: ItemWork, items: Sequence[Any], *, step: str, shared: Any = None, resources: Resources = CORE
    ) -> Iterator[Any]:
        """Run ``function(item, task)`` for each item, in workers, without the shard cache; yield results in order of completion.

        For work that stores its results in ``task.annotations``: items may then be split differently in each run. The order of an
        output must not depend on the order of the results.
        """
        self.cache.sweep()
        base = self._base(step, {}, shared)
        specs = [shard_worker.UncachedSpec(**base, name=f"{number:06d}", item=item) for number, item in enumerate(items)]
        for _, result in self._items(partial(shard_worker.run_uncached, function), specs, step, resources):
            yield result

    def _base(self, step: str, params: Settings | Mapping[str, Any], shared: Any, version: int | None = None) -> dict[str, Any]:
        return {
            "step": f"{self.name}.{step}" if step != self.name else step,
            "code": self.code if version is None else f"version {version}",
            "params": params,
            "shared": shared,
            "project": self.project,
            "state": self.state,
            "work": self.work,
            "dataset": self.dataset,
            "inputs": {name: output.path for name, output in self.inputs.items()},
            "store": store_of(self.project),
            "opener": self.engine.opener,
        }

    def _run(self, work: Callable[[Any], tuple[Path, bool]], specs: Sequence[Any], step: str, resources: Resources) -> list[Path]:
        cache = self.cache
        cache.sweep()
        folders: dict[int, Path] = {}
        for index, (folder, hit) in self._items(work, specs, step, resources):
            folders[index] = cache.local(folder)
            self.cached[step] = self.cached.get(step, 0) + hit
        self.done[step] = self.done.get(step, 0) + len(specs)
        return [folders[index] for index in range(len(specs))]

    def _items(
        self, work: Callable[[Any], Any], specs: Sequence[Any], step: str, resources: Resources = CORE
    ) -> Iterator[tuple[int, Any]]:
        """Run the items, show their progress and log each; yield (index, result) in order of completion."""
        began = time.monotonic()
        if self.log:
            self.log.write("step_started", step=step, items=len(specs))
        done = self.engine.run(partial(measure, work), specs, resources)
        for index, item in self.progress(done, total=len(specs), desc=f"{self.name} {step}"):
            self.cpu_seconds += item.cpu_seconds
            self.peak_bytes = max(self.peak_bytes, item.peak_bytes)
            if self.log:
                self.log.item(step, specs[index], item)
            yield index, item.result
        if self.log:
            self.log.write("step_finished", step=step, items=len(specs), seconds=round(time.monotonic() - began, 3))

    def write_shard(self, name: str, table: pa.Table, ledger: pa.Table, media: Mapping[str, bytes] | None = None) -> None:
        """Write one shard of the output; the table is cast to the output's schema."""
        write_table(self.out / "shards" / f"{name}.parquet", table.cast(OUTPUT_SCHEMAS[self.name][1]))
        write_table(self.out / "ledger" / f"{name}.parquet", ledger)
        if media is not None:
            write_tar(self.out / "media" / f"{name}.tar", media)
        self._written.append(name)

    def write_file(self, relative: str, data: bytes | Path) -> None:
        """Write a file of the output, or link an existing one; the manifest lists it."""
        if isinstance(data, Path):
            link_or_copy(data, self.out / relative)
        else:
            publish_bytes(self.out / relative, data)
        self._files.append(relative)

    def export(self, name: str, data: bytes) -> None:
        """Write ``reports/<dataset>/<name>``, a table or a plot of DVC."""
        publish_bytes(self.project / "reports" / self.dataset / name, data)

    def note_parent(self, name: str, digest: str) -> None:
        """Add an input from outside the graph (a snapshot of the web) to the lineage."""
        self.parents.append({"name": name, "digest": digest})

    def metric(self, name: str, value: float, step: int | None = None) -> None:
        """Add a metric for the experiment tracker."""
        self.metrics.append((name, float(value), step))

    def score(self, model: str, scores: Mapping[str, float]) -> None:
        """Add scores of a model for the experiment tracker, which writes them to the model's own run.

        Args:
            model: named as in tables: ``<training set>-<network>-<seed>`` or ``<row>-<seed>``; '' for the dataset that was rated.
        """
        self.scores.append((model, {name: float(value) for name, value in scores.items()}))

    def progress(self, iterable: Iterable[Any], total: int | None = None, desc: str = "") -> Iterator[Any]:
        """Yield the items with a progress bar; see :func:`components.core.progress.progress`."""
        return progress(iterable, total, desc)

    def cache_summary(self) -> dict[str, str]:
        """Return step → how many of its items were cached, e.g. ``7 of 8``."""
        return {step: f"{self.cached.get(step, 0)} of {total}" for step, total in sorted(self.done.items())}

    def finish(self) -> Manifest:
        """Write the manifest of all files written so far, and the main figures of a stage that DVC compares."""
        self.cache.sweep()  # entries of workers that were killed in this run
        manifest = make_manifest(self.out, self.name, self._written, self._files)
        manifest.write(self.out)
        self.main_figures.write(self.project, self.dataset, self.name, manifest)
        return manifest
