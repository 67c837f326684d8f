"""Which stages run now, by their locks."""

from __future__ import annotations

import fcntl
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from components.core.addresses import lock_path, stage_address
from components.core.graph import Graph
from components.core.machine import process_exists
from components.tools.status.history import History, seconds_of
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
