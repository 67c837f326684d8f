"""The report of ``hearsight status``: what runs by the locks, what failed last, what would run next and why, and how long."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from components.core.addresses import lock_path, parse_output_name, stage_address
from components.core.errors import HearsightError
from components.core.graph import Graph, load_graph
from components.core.machine import process_exists
from components.core.params import did_you_mean
from components.core.progress import duration
from components.execution.run_log import FAILED
from components.tools.status.history import History, seconds_of
from components.tools.status.reasons import Locked
from components.training.progress import parse_events, progress_folder

TAIL = 8192
"""Bytes of a training's progress that are read, from its end."""


@dataclass(frozen=True)
class Running:
    """A stage or a command of DVC that runs now."""

    name: str
    """The name for ``dvc repro``, or the command of DVC."""
    pid: int
    alive: bool
    """Whether the process runs; a stage's workers may outlive it for a moment."""
    seconds: float | None = None
    """Since it has begun."""
    expected: float | None = None
    """Duration of earlier runs."""
    progress: str = ""
    run: str = ""
    flow_run: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the known fields as JSON values."""
        return {name: value for name, value in asdict(self).items() if value not in ("", None)}


def running_stages(graph: Graph, history: History) -> list[Running]:
    """Return the stages whose lock is held, in the order of the graph."""
    found = []
    for stage, dataset, _ in graph.outputs():
        pid = _holder(lock_path(graph.root, dataset, stage))
        if pid is None:
            continue
        begun, progress = history.last_begun(stage, dataset), ""
        if begun and begun.ended:  # it has the lock and has not begun
            begun = None
        if begun:
            progress = training_progress(graph.root, dataset, stage) or (
                f"{begun.step}: {begun.done} of {begun.total}" if begun.step else ""
            )
        found.append(
            Running(
                stage_address(dataset, stage),
                pid,
                process_exists(pid),
                round(time.time() - seconds_of(begun.started), 1) if begun else None,
                history.expected_seconds(stage, dataset),
                progress,
                str(begun.started.get("run", "")) if begun else "",
                str(begun.started.get("flow_run", "")) if begun else "",
            )
        )
    return found


def _holder(lock: Path) -> int | None:
    """Return the pid that a held lock names (0 if it names none); None when the lock is free.

    A writer that starts at this moment tries again: see :func:`components.execution.process.sole_writer`.
    """
    try:
        with lock.open("rb") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                text = handle.read().strip()
                return int(text) if text.isdigit() else 0
    except OSError:
        pass
    return None


def training_progress(root: Path, dataset: str, stage: str) -> str:
    """Return the last step and epoch of a stage's trainings as text; empty for a stage that trains nothing."""
    folder, texts = progress_folder(root, dataset, stage), []
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL))
            events = parse_events(file.read())
        last = {name: one[name] for one in events if isinstance(one, dict) for name in ("epoch", "step") if name in one}
        if last and events[-1].get("event") not in ("finished", "failed"):
            texts.append(f"{path.stem.rpartition('-')[0]}: {', '.join(f'{name} {value}' for name, value in last.items())}")
    return "; ".join(texts)


@dataclass(frozen=True)
class Failed:
    """A stage whose last attempt failed."""

    name: str
    when: float
    """Seconds since the epoch; 0 if unknown."""
    error: str
    run: str = ""
    flow_run: str = ""


@dataclass(frozen=True)
class Next:
    """A stage that ``dvc repro`` would run."""

    name: str
    why: tuple[str, ...]
    expected: float | None
    """Seconds of earlier runs; None without any in the logs."""
    runs: bool = False
    """Whether it runs at this moment."""


@dataclass(frozen=True)
class Status:
    """The state of a project."""

    running: list[Running] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    next: list[Next] = field(default_factory=list)
    perhaps: list[str] = field(default_factory=list)
    """What runs afterwards, if the outputs before it change."""
    in_sequence: float = 0.0
    """Expected seconds of ``next`` one after the other, as ``dvc repro`` runs them."""
    unknown: int = 0
    """Number of stages of ``next`` without an expected duration."""

    def plain(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        values = asdict(self)
        values["running"] = [each.plain() for each in self.running]
        return values


def project_status(root: Path, dataset: str = "") -> Status:
    """Return the state of a project, from its files.

    Args:
        dataset: only its stages, and those of its cells if it is a matrix; '' for all.

    Raises:
        HearsightError: dvc.yaml, params.yaml or dvc.lock cannot be read, or there is no such dataset.
    """
    graph = load_graph(root)
    chosen = _addresses(graph, dataset)
    history, locked = History(graph), Locked(graph)
    running = running_stages(graph, history)
    busy = {each.name for each in running}
    due = list(_next(graph, locked, history, busy))
    addresses = {each.name for each in due}
    following = [each for each in due if each.name in chosen]
    known = [each.expected for each in following if each.expected is not None]
    return Status(
        [each for each in running if each.name in chosen],
        # DVC's run cache repairs a failed stage without a run: what need not run has no failure.
        [each for each in _failures(graph, history, busy) if each.name in chosen & addresses],
        following,
        [address for address in _downstream(graph, addresses) if address in chosen],
        sum(known),
        len(following) - len(known),
    )


def _addresses(graph: Graph, dataset: str) -> set[str]:
    """Return the addresses of the stages of a dataset, or of all for ''; raises HearsightError without any."""
    names = {each: each.partition("/")[0] for each in graph.datasets}
    chosen = [each for each, parent in names.items() if dataset in ("", each, parent)]
    if not chosen:
        raise HearsightError(
            f"there is no dataset '{dataset}'", where=graph.root / "params.yaml", hint=did_you_mean(dataset, list(names))
        )
    return {stage_address(each, stage) for each in chosen for stage in graph.stages_of(each)}


def _next(graph: Graph, locked: Locked, history: History, busy: set[str]) -> Iterable[Next]:
    """Yield what has a reason to run, in the order of the graph."""
    for name in graph.reads:
        dataset, stage = parse_output_name(name)
        address = stage_address(dataset, stage)
        if why := locked.why_run(stage, dataset):
            yield Next(address, tuple(why), history.expected_seconds(stage, dataset), address in busy)


def _downstream(graph: Graph, direct: set[str]) -> list[str]:
    """Return the addresses of what reads, at any distance, the output of something in ``direct``, and is not in it."""
    moved, found = set[str](), []
    for name, read in graph.reads.items():
        address = stage_address(*parse_output_name(name))
        if address in direct:
            moved.add(name)
        elif moved.intersection(read):
            moved.add(name)
            found.append(address)
    return found


def _failures(graph: Graph, history: History, busy: set[str]) -> list[Failed]:
    """Return the outputs whose last run failed or was killed, the newest first."""
    found = []
    for stage, dataset, _ in graph.outputs():
        address = stage_address(dataset, stage)
        if address in busy:
            continue
        runs, begun = history.runs(stage, dataset), history.last_begun(stage, dataset)
        if begun and not begun.ended:
            at = f", in {begun.step} after {begun.done} of {begun.total}" if begun.step else ""
            ids = {name: str(begun.started.get(name, "")) for name in ("run", "flow_run")}
            found.append(Failed(address, seconds_of(begun.started), f"killed{at}; the next run continues", **ids))
        elif runs and runs[-1]["event"] == FAILED:
            ids = {name: str(runs[-1].get(name, "")) for name in ("run", "flow_run")}
            found.append(Failed(address, seconds_of(runs[-1]), str(runs[-1].get("error", "")), **ids))
    return sorted(found, key=lambda failed: -failed.when)


def text_of(status: Status, *, now: float | None = None) -> str:
    """Return the report as text for a terminal."""
    now = time.time() if now is None else now
    lines = ["running" if status.running else "running: nothing"]
    for each in status.running:
        since = f", for {duration(each.seconds)}" if each.seconds is not None else ""
        of = f" of about {duration(each.expected)}" if each.expected is not None else ""
        alive = "" if each.alive else " (ended; its workers still run)"
        flow = f", flow run {each.flow_run}" if each.flow_run else ""
        lines.append(f"  {each.name}: process {each.pid}{alive}{since}{of}{flow}")
        lines += [f"    {each.progress}"] if each.progress else []
    lines.append("failed" if status.failed else "failed: nothing")
    for failure in status.failed:
        lines.append(f"  {failure.name}, {duration(max(0.0, now - failure.when))} ago: {failure.error}")
    lines.append("would run" if status.next else "would run: nothing; everything is up to date")
    for planned in status.next:
        takes = f" (about {duration(planned.expected)})" if planned.expected is not None else ""
        lines.append(f"  {planned.name}{takes}{' (runs now)' if planned.runs else ''}: {', '.join(planned.why)}")
    if status.perhaps:
        lines.append(f"and, if its input changes: {' '.join(status.perhaps)}")
    if status.next:
        unknown = f"; {status.unknown} of them have no earlier run in the logs" if status.unknown else ""
        lines.append(f"expected: {duration(status.in_sequence)} one after the other{unknown}")
    return "\n".join(lines)
