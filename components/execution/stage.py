"""What a stage's ``run`` is given: its parameters and inputs, and the only ways to write.

A stage maps pure functions over shards (:meth:`Stage.map`), makes files in jobs (:meth:`Stage.jobs`), or writes a
shard it computed from small columns (:meth:`Stage.write_shard`). Caching, workers, ledgers and the manifest are
looked after here, so a stage holds nothing but its own idea.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from components.core.addresses import lineage_path
from components.core.code_digest import code_digest
from components.core.digests import sha256_file
from components.core.files import link_or_copy, publish_bytes
from components.core.manifest import FileEntry, Manifest, ShardEntry
from components.core.params import Settings
from components.core.progress import progress
from components.core.records import OUTPUT_SCHEMAS
from components.core.result_cache import ResultCache
from components.core.shard_cache import ShardCache
from components.core.shards import TarReader, read_table, write_table, write_tar
from components.core.stage_output import ShardRef, StageOutput
from components.execution import shard_worker as workfloor
from components.execution.engine import Engine
from components.execution.shard_worker import ShardOut, Task

__all__ = ["Job", "ShardOut", "Stage", "Task"]


class Job(NamedTuple):
    """A piece of work that makes files: its name, and what it needs to know (JSON-able)."""

    name: str
    spec: Any
    content_addressed: bool = False
    """Its spec names all it reads by content, so that it stays done whatever else its inputs hold."""


@dataclass
class Stage:
    """One run of one stage for one dataset."""

    name: str
    dataset: str
    params: Any
    root: Path
    inputs: dict[str, StageOutput]
    out: Path
    engine: Engine
    state: Path
    """Where caches and scratch lie: ``.hearsight`` in the root."""
    parents: list[dict[str, str]] = field(default_factory=list)
    metrics: list[tuple[str, float, int | None]] = field(default_factory=list)
    rows: list[tuple[str, dict[str, str], dict[str, float]]] = field(default_factory=list)
    cached: dict[str, int] = field(default_factory=dict)
    """How many pieces of each step came from the cache."""
    done: dict[str, int] = field(default_factory=dict)
    """How many pieces each step had."""
    _written: list[str] = field(default_factory=list)
    _files: list[str] = field(default_factory=list)

    @property
    def work(self) -> Path:
        """Scratch of this stage that survives kills and reruns."""
        folder = self.state / "work" / self.dataset / self.name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def annotations(self) -> ResultCache:
        """The expensive results, shared by every stage and dataset."""
        return ResultCache(self.state / "annotations")

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
    ) -> list[ShardRef]:
        """Run ``function(table, task)`` on each shard, in workers, through the shard cache.

        Args:
            function: module-level and deterministic; its draws are keyed by record.
            shards: of an input, or what an earlier map returned.
            step: a name for the cache and the progress bar.
            params: the settings the function reads: another value computes again.
            shared: JSON-able, the same for every shard (counts of a reduce step, say); part of the key.
            publish: write the result into the stage's output; otherwise it stays in the cache for a later map,
                whose ledger then carries on the rows dropped here.
            conserve: hold the function to one ledger row for each record that entered.

        Returns:
            The resulting shards, in order.
        """
        base = self._base(function, step, params, shared)
        specs = [
            workfloor.ShardSpec(
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
        for spec, folder in zip(specs, self._run(partial(workfloor.run_shard, function), specs, step), strict=True):
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
    ) -> list[Path]:
        """Run ``function(spec, task, folder)`` for each job through the same cache; the folder holds what it made.

        The inputs' digests are part of the key, since a job may read any input, unless the job says that its spec is enough.
        """
        base = self._base(function, step, params, shared)
        digests = {name: output.digest for name, output in self.inputs.items()}
        specs = [
            workfloor.JobSpec(**base, name=job.name, spec=job.spec, inputs_digest={} if job.content_addressed else digests)
            for job in jobs
        ]
        return self._run(partial(workfloor.run_job, function), specs, step)

    def each(
        self, function: Callable[[Any, Task], Any], pieces: Sequence[Any], *, step: str, shared: Any = None
    ) -> Iterator[Any]:
        """Run ``function(piece, task)`` for each piece, in workers and past the cache, and yield results as they come.

        For expensive work whose results lie among the annotations: pieces may be cut anew in each run, since what a piece
        finds there is not done again. Nothing of what is yielded may decide an output's order.
        """
        ShardCache(self.state / "cache").sweep()
        base = self._base(function, step, {}, shared)
        specs = [workfloor.PieceSpec(**base, name=f"{number:06d}", piece=piece) for number, piece in enumerate(pieces)]
        done = self.engine.run(partial(workfloor.run_piece, function), specs)
        for _, result in self.progress(done, total=len(specs), desc=f"{self.name} {step}"):
            yield result

    def _base(self, function: Callable[..., Any], step: str, params: Settings | Mapping[str, Any], shared: Any) -> dict[str, Any]:
        return {
            "step": f"{self.name}.{step}" if step != self.name else step,
            # What a step is run by, and the class of its settings, whose methods it may call, reach it without an import.
            "code": code_digest(
                self.root,
                function.__module__,
                workfloor.__name__,
                executed=[type(params).__module__] if isinstance(params, Settings) else [],
            ),
            "params": params,
            "shared": shared,
            "state": self.state,
            "work": self.work,
            "dataset": self.dataset,
            "inputs": {name: output.path for name, output in self.inputs.items()},
        }

    def _run(self, work: Callable[[Any], tuple[Path, bool]], specs: Sequence[Any], step: str) -> list[Path]:
        ShardCache(self.state / "cache").sweep()
        folders: dict[int, Path] = {}
        for index, (folder, hit) in self.progress(self.engine.run(work, specs), total=len(specs), desc=f"{self.name} {step}"):
            folders[index] = folder
            self.cached[step] = self.cached.get(step, 0) + hit
        self.done[step] = self.done.get(step, 0) + len(specs)
        return [folders[index] for index in range(len(specs))]

    def write_shard(self, name: str, table: pa.Table, ledger: pa.Table, media: Mapping[str, bytes] | None = None) -> None:
        """Write one shard of the output directly (for reduce steps); the table must have the output's schema."""
        write_table(self.out / "shards" / f"{name}.parquet", table.cast(OUTPUT_SCHEMAS[self.name][1]))
        write_table(self.out / "ledger" / f"{name}.parquet", ledger)
        if media is not None:
            write_tar(self.out / "media" / f"{name}.tar", media)
        self._written.append(name)

    def write_file(self, relative: str, data: bytes | Path) -> None:
        """Write an extra file of the output (or take over one that lies elsewhere); the manifest lists it."""
        if isinstance(data, Path):
            link_or_copy(data, self.out / relative)
        else:
            publish_bytes(self.out / relative, data)
        self._files.append(relative)

    def export(self, name: str, data: bytes) -> None:
        """Write ``reports/<dataset>/<name>``: what DVC shows as a metric or a plot."""
        publish_bytes(self.root / "reports" / self.dataset / name, data)

    def note_parent(self, name: str, digest: str) -> None:
        """Name an input from outside (a snapshot of the web) for the lineage."""
        self.parents.append({"name": name, "digest": digest})

    def metric(self, name: str, value: float, step: int | None = None) -> None:
        """Report a figure to the experiment tracker (and nowhere else)."""
        self.metrics.append((name, float(value), step))

    def row(self, name: str, params: Mapping[str, str], metrics: Mapping[str, float]) -> None:
        """Report one line of a table to the experiment tracker: a run below this stage's, compared with the other lines there."""
        self.rows.append((name, dict(params), {metric: float(value) for metric, value in metrics.items()}))

    def progress(self, iterable: Iterable[Any], total: int | None = None, desc: str = "") -> Iterator[Any]:
        """See :func:`components.core.progress.progress`."""
        return progress(iterable, total, desc)

    def from_cache(self) -> dict[str, str]:
        """step → how many of its pieces came from the cache."""
        return {step: f"{self.cached.get(step, 0)} of {total}" for step, total in sorted(self.done.items())}

    def finish(self) -> Manifest:
        """List everything written in the manifest and publish it: from here on the output is finished."""
        shards = [self._shard_entry(name) for name in sorted(set(self._written))]
        files = [
            FileEntry(name, (self.out / name).stat().st_size, sha256_file(self.out / name)) for name in sorted(set(self._files))
        ]
        manifest = Manifest(self.name, OUTPUT_SCHEMAS[self.name][0], shards, files, self._counts(shards))
        manifest.write(self.out)
        return manifest

    def _shard_entry(self, name: str) -> ShardEntry:
        table, ledger = self.out / "shards" / f"{name}.parquet", self.out / "ledger" / f"{name}.parquet"
        tar = self.out / "media" / f"{name}.tar"
        media = dict(members=len(TarReader(tar)), **_measure(tar)) if tar.exists() else None
        rows = read_table(table).num_rows
        return ShardEntry(
            name, rows, **_measure(table), ledger=dict(rows=read_table(ledger).num_rows, **_measure(ledger)), media=media
        )

    def _counts(self, shards: Sequence[ShardEntry]) -> dict[str, Any]:
        counts: dict[str, Any] = {}
        for shard in shards:
            ledger = read_table(self.out / "ledger" / f"{shard.name}.parquet")
            for kind, verdict, rule in zip(*(ledger.column(c).to_pylist() for c in ("kind", "verdict", "rule")), strict=True):
                bucket = counts.setdefault(kind, {"kept": 0, "dropped": {}})
                if verdict == "kept":
                    bucket["kept"] += 1
                else:
                    bucket["dropped"][rule] = bucket["dropped"].get(rule, 0) + 1
        return counts


def _measure(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": sha256_file(path)}


def write_lineage(stage: Stage, params: dict[str, Any], params_digest: str) -> dict[str, Any]:
    """Write the finished output's lineage: its digest, the parents' digests, the parameters, the code, the engine."""
    content = {
        "stage": stage.name,
        "dataset": stage.dataset,
        "manifest_sha256": StageOutput(stage.out).digest,
        "parents": [
            {"name": name, "output": output.name, "manifest_sha256": output.digest}
            for name, output in sorted(stage.inputs.items())
        ]
        + stage.parents,
        "params": params,
        "params_sha256": params_digest,
        "code_sha256": code_digest(stage.root, f"components.stages.{stage.name}"),
        "engine": stage.engine.name,
    }
    publish_bytes(lineage_path(stage.out), (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode())
    return content
