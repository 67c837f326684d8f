"""The runner of one stage for one dataset, used by ``dvc repro``, Prefect flows and the command line.

It takes the lock, clears the output, runs the stage into a draft, has the draft checked, writes the lineage and hands the result
to the tracker. Only then the draft becomes the output, by a rename: however a run ends, it leaves no output, or a whole one that
has passed its check. A draft that failed stays until the next run.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from components.core.addresses import draft_path, lineage_path, lock_path, share_state, state_folder
from components.core.check_warnings import CheckWarning, warnings_bytes
from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.files import move_into_place, publish_bytes, publish_json, remove_abandoned
from components.core.graph import Graph, load_graph
from components.core.manifest import NAME, WARNINGS, Manifest
from components.core.params import Amount, NotNegative, PositiveAmount, Settings, parse_settings, place, stage_params
from components.core.stage_output import StageOutput
from components.core.storage import parse_storage
from components.core.stored_files import forget_match, keep_lineage, keep_output
from components.execution.engine import Engine, LocalEngine, limit_threads
from components.execution.input_watch import InputWatch
from components.execution.measure import RunMeter
from components.execution.process import sole_writer
from components.execution.run_log import CHECKED, FINISHED, STARTED, RunLog, logged_run
from components.execution.stage import Stage


class LocalSettings(Settings):
    """``params.yaml:engine`` of kind local: processes on this machine. Outputs do not depend on the engine."""

    kind: Literal["local", "ray"] = "local"
    """``local`` or ``ray``. Ours."""
    workers: NotNegative = 0
    """Worker processes; 0 takes one for each core. Ours."""


class RaySettings(LocalSettings):
    """``params.yaml:engine`` of kind ray: tasks on a Ray cluster."""

    workers: NotNegative = 0
    """Concurrent tasks; 0 takes the cluster's capacity. Ours."""
    address: str = "auto"
    """``auto``, ``host:port``, ``ray://host:port``, or ``local`` for a cluster of this machine alone. Ours."""
    cpus: PositiveAmount = 1.0
    """Cores of one task at least. Ours."""
    wait: Amount = 120.0
    """Seconds to wait for nodes that a run needs and the cluster lacks, e.g. until an autoscaler has started them. Ours."""


@dataclass(frozen=True)
class StageResult:
    """The result of a finished stage, for the tracker and the summary line."""

    root: Path
    dataset: str
    stage: str
    out: Path
    manifest: Manifest
    lineage: dict[str, Any]
    metrics: list[tuple[str, float, int | None]]
    cached: dict[str, str]
    """Step → share of its items that were cached, e.g. ``7 of 8``."""
    scores: list[tuple[str, dict[str, float]]] = field(default_factory=list)
    """Model → its scores; see :meth:`components.execution.stage.Stage.score`."""
    started: float = 0.0
    """Start time in seconds since the epoch, for the tracker only."""
    usage: dict[str, float] = field(default_factory=dict)
    """Figures of the run: seconds, records, memory, cost ... (:class:`components.execution.measure.RunMeter`)."""
    warnings: Sequence[CheckWarning] = ()
    """The warnings of its check."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """The settings that the dataset's file gives; the others have their defaults."""


Check = Callable[[Path, str, str], Sequence[CheckWarning]]
"""Checks the draft of an output, given root, dataset and stage; returns its warnings. Raises HearsightError when it fails."""


class Tracker(Protocol):
    """Records stages that begin, finish and fail: ``components.tracking.recorder``, or another experiment tracker."""

    def record_start(self, root: Path, dataset: str, stage: str, params: Mapping[str, Any]) -> object: ...

    def record_run(self, result: StageResult) -> object: ...

    def record_failure(self, root: Path, dataset: str, stage: str, params: Mapping[str, Any], message: str) -> object: ...


def make_engine(params_path: Path, content: Mapping[str, Any]) -> Engine:
    """Return the engine of ``params.yaml:engine``; raises HearsightError for invalid settings."""
    block, where = content.get("engine", {}), f"{params_path}: engine"
    kind = block.get("kind") if isinstance(block, Mapping) else None
    settings = parse_settings(RaySettings if kind == "ray" else LocalSettings, block, where)
    assert isinstance(settings, LocalSettings)
    if isinstance(settings, RaySettings):
        from components.execution.ray_engine import RayEngine  # here: runs with the local engine start without it

        return RayEngine(settings.address, settings.workers, settings.cpus, settings.wait)
    return LocalEngine(settings.workers)


def run_stage(root: Path, stage: str, dataset: str, tracker: Tracker | None = None, check: Check | None = None) -> StageResult:
    """Run ``stage`` for ``dataset``, write its output and return the result.

    Args:
        tracker: records the run; None records nothing.
        check: checks what the stage has made before it becomes the output; None checks nothing.

    Raises:
        HearsightError: parameters are invalid, an input is missing or damaged or changed meanwhile, another process writes this
            output, the check failed, or the disk is full. Finished items stay in the caches.
    """
    graph = load_graph(root)
    graph.require(stage, dataset)
    share_state(root)
    with logged_run(root / ".hearsight", dataset, stage) as log:
        return _run_stage(graph, stage, dataset, tracker, check, log)


def _run_stage(graph: Graph, stage: str, dataset: str, tracker: Tracker | None, check: Check | None, log: RunLog) -> StageResult:
    started, meter, root = time.time(), RunMeter.start(), graph.root
    limit_threads()
    params_file = root / "params.yaml"
    module = importlib.import_module(f"components.stages.{stage}.run")
    params = stage_settings(graph, stage, dataset)
    engine = make_engine(params_file, graph.params)
    parse_storage(params_file, graph.params)  # before work that could not be stored
    out = graph.output(stage, dataset)
    state, lock = state_folder(root), lock_path(root, dataset, stage)
    with sole_writer(lock, f"{dataset}/{stage}"):
        try:
            code = graph.code_digest(stage)
            watch = InputWatch(graph, stage, dataset, stage_settings)
            inputs = open_inputs(graph, stage, dataset)
            clear(out)
            draft = draft_path(out)
            job = Stage(stage, dataset, params, root, inputs, draft, engine, state, code, log=log)
            log.write(STARTED, pid=os.getpid(), engine=engine.name)
            if tracker:
                tracker.record_start(root, dataset, stage, params.plain())
            with engine.open(root, lock, (state, root / "data")):
                module.run(job)
            manifest, warnings = _check(root, job, job.finish(), check)
            keep_output(draft, manifest)
            lineage = write_lineage(job, params.plain(), digest_value(params.plain()))
            usage = meter.figures(job, manifest)
            cached = job.cache_summary()
            result = StageResult(
                root, dataset, stage, draft, manifest, lineage, job.metrics, cached, job.scores, started, usage, warnings,
                _given(graph, stage, dataset),
            )  # fmt: skip
            if tracker:
                tracker.record_run(result)
            watch.require_unchanged(code == graph.code_digest(stage))
            move_into_place(draft, out)
            ended: dict[str, Any] = {**usage, "cached": job.cache_summary(), "digest": manifest.digest[:12]}
            log.write(FINISHED, **ended)
            result = replace(result, out=out)
        except Exception as error:  # defects of ours as well: whoever looks at the runs sees them all
            if tracker:
                message = str(error) if isinstance(error, HearsightError) else f"{type(error).__name__}: {error}"
                tracker.record_failure(root, dataset, stage, params.plain(), message)
            raise
    return result


def _check(root: Path, job: Stage, manifest: Manifest, check: Check | None) -> tuple[Manifest, Sequence[CheckWarning]]:
    """Check the draft of a stage; return its manifest, which lists the file of warnings, and the warnings."""
    if check is None:
        return manifest, ()
    began = time.monotonic()
    warnings = check(root, job.dataset, job.name)
    if warnings:
        data = warnings_bytes(warnings)
        publish_bytes(job.out / WARNINGS, data)
        manifest = manifest.with_warnings(data)
        manifest.write(job.out)
    if job.log:
        job.log.write(CHECKED, seconds=round(time.monotonic() - began, 3), warnings=len(warnings))
    return manifest, warnings


def stage_settings(graph: Graph, stage: str, dataset: str) -> Any:
    """Return the effective settings of one stage for one dataset, defaults included: its ``Params``.

    Raises:
        HearsightError: the stage is not in the dataset's chain, or its settings are not valid.
    """
    graph.require(stage, dataset)
    content, block = graph.block(stage, dataset)
    module = importlib.import_module(f"components.stages.{stage}")
    try:
        return stage_params(graph.root / "params.yaml", content, block, stage, module.Params)
    except HearsightError as error:
        if cell := graph.cells.get(dataset):  # the file has the settings of all networks
            of_network = place(graph.root, block, stage, "network")
            error.where = re.sub(rf"^{re.escape(of_network)}(?=\.|$)", f"{of_network}s.{cell.network}", error.where)
        raise


def _given(graph: Graph, stage: str, dataset: str) -> Mapping[str, Any]:
    content, block = graph.block(stage, dataset)
    return (content[block] or {}).get(stage) or {}


@contextmanager
def lock_all_outputs(graph: Graph) -> Iterator[None]:
    """Hold the writer's lock of every output; raises HearsightError when a stage is running."""
    with ExitStack() as locks:
        for stage, dataset, _ in graph.outputs():
            locks.enter_context(sole_writer(lock_path(graph.root, dataset, stage), f"{dataset}/{stage}"))
        yield


def open_inputs(graph: Graph, stage: str, dataset: str) -> dict[str, StageOutput]:
    """Return a stage's inputs by name; raises HearsightError unless each is finished and what its stage published."""
    inputs = {name: StageOutput(path) for name, path in graph.inputs(stage, dataset).items()}
    for stage_output in inputs.values():
        _ = stage_output.manifest  # raises when there is none
        stage_output.require_unchanged()
    return inputs


def clear(out: Path) -> None:
    """Remove an output, manifest first: without one, a partly cleared folder is unfinished; make its draft anew, empty."""
    draft = draft_path(out)
    for folder in (out, draft):
        (folder / NAME).unlink(missing_ok=True)
    forget_match(out)
    for folder in (out, draft):
        shutil.rmtree(folder, ignore_errors=True)
    draft.mkdir(parents=True, exist_ok=True)


def summary(result: StageResult) -> dict[str, Any]:
    """Return the command's summary of a finished stage."""
    counts = result.manifest.counts
    return {
        "stage": result.stage,
        "dataset": result.dataset,
        "digest": result.manifest.digest[:12],
        "shards": len(result.manifest.shards),
        "rows": sum(shard.rows for shard in result.manifest.shards),
        "dropped": {kind: sum(bucket["dropped"].values()) for kind, bucket in sorted(counts.items()) if bucket["dropped"]},
        "cached": result.cached,
    }


def write_lineage(stage: Stage, params: dict[str, Any], params_digest: str) -> dict[str, Any]:
    """Write and return the lineage of a finished output: digests of output and parents, parameters, code digest, engine."""
    digest = StageOutput(stage.out).digest
    content = {
        "stage": stage.name,
        "dataset": stage.dataset,
        "manifest_sha256": digest,
        "parents": [
            {"name": name, "output": output.name, "manifest_sha256": output.digest}
            for name, output in sorted(stage.inputs.items())
        ]
        + stage.parents,
        "params": params,
        "params_sha256": params_digest,
        "code_sha256": stage.code,
        "engine": stage.engine.name,
    }
    path = lineage_path(stage.out)
    remove_abandoned(path.parent, path.name)
    publish_json(path, content)
    keep_lineage(stage.out, digest, path.read_bytes())
    return content
