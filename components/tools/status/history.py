"""Reading of the stage logs: the ends of earlier runs, and the run that has begun last."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from components.core.graph import Graph
from components.execution.run_log import ENDS, FINISHED, ITEM, KEPT, STARTED, log_file, runs_file

Event = dict[str, Any]
RECENT = 10
"""Number of finished runs whose median is the expected duration."""


def read_events(path: Path) -> list[Event]:
    """Return the events of a log and of its earlier files, oldest first, without lines that a kill has cut short."""
    files = [path.with_name(f"{path.name}.{number}") for number in range(KEPT, 0, -1)]
    return [event for file in (*files, path) for event in _read(file)]


def _read(path: Path) -> Iterator[Event]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "event" in event and "time" in event:
            yield event


def seconds_of(event: Event) -> float:
    """Return the time of an event in seconds since the epoch."""
    return datetime.fromisoformat(str(event["time"])).timestamp()


def median_seconds(runs: Sequence[Event]) -> float | None:
    """Return the median duration of the last finished runs; None without any."""
    finished = [run for run in runs if run["event"] == FINISHED and "seconds" in run]
    return statistics.median(run["seconds"] for run in finished[-RECENT:]) if finished else None


@dataclass(frozen=True)
class Begun:
    """The run of an output that has begun last."""

    started: Event
    step: str = ""
    done: int = 0
    total: int = 0
    ended: bool = False


@dataclass
class History:
    """The logs of all outputs of a project; each file is read once."""

    graph: Graph
    _runs: dict[tuple[str, str], list[Event]] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        """The project's folder ``.hearsight``."""
        return self.graph.root / ".hearsight"

    def runs(self, stage: str, dataset: str) -> list[Event]:
        """Return the ends of an output's runs, oldest first."""
        if (stage, dataset) not in self._runs:
            self._runs[stage, dataset] = read_events(runs_file(self.state, dataset, stage))
        return self._runs[stage, dataset]

    def expected_seconds(self, stage: str, dataset: str) -> float | None:
        """Return how long a run takes: the median of the last ones; None without any in the logs."""
        return median_seconds(self.runs(stage, dataset))

    def last_begun(self, stage: str, dataset: str) -> Begun | None:
        """Return the run that has begun last, with the progress of its last step; None without any."""
        events = read_events(log_file(self.state, dataset, stage))
        starts = [number for number, event in enumerate(events) if event["event"] == STARTED]
        if not starts:
            return None
        run = [event for event in events[starts[-1] :] if event.get("run") == events[starts[-1]].get("run")]
        steps = [number for number, event in enumerate(run) if event["event"] == "step_started"]
        last = run[steps[-1] :] if steps else []
        return Begun(
            run[0],
            step=str(last[0].get("step", "")) if last else "",
            done=sum(event["event"] == ITEM for event in last),
            total=int(last[0].get("items", 0)) if last else 0,
            ended=any(event["event"] in ENDS for event in run),
        )
