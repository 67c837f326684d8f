"""Reading of the stage logs: ends of earlier runs, the run that has begun last, and the events that `hearsight logs` prints."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.files import read_json_lines
from components.core.graph import Graph, load_graph
from components.core.params import did_you_mean
from components.core.progress import duration
from components.execution.run_log import ENDS, FINISHED, ITEM, KEPT, STARTED, log_file, runs_file

Event = dict[str, Any]
RECENT = 10
"""Number of finished runs whose median is the expected duration."""


def read_events(path: Path) -> list[Event]:
    """Return the events of a log and of its earlier files, oldest first, without lines that a kill has cut short."""
    files = [path.with_name(f"{path.name}.{number}") for number in range(KEPT, 0, -1)]
    return [event for file in (*files, path) for event in read_json_lines(file, {"event", "time"})]


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


SHOWN = ("seconds", "items", "records_in", "records_out", "bytes", "cached", "warnings", "error")
"""Fields of an event that a terminal shows."""


def select_events(root: Path, output: str = "", *, failed: bool = False, run: str = "", last: int = 0) -> list[Event]:
    """Return events in order of time.

    Args:
        output: only this one's, as ``english/crawl``; '' for all.
        failed: only errors.
        run: only those of this run, or flow run.
        last: at most this many, the last ones; 0 for all.

    Raises:
        HearsightError: there is no such output.
    """
    graph = load_graph(root)
    files = {f"{dataset}/{stage}": log_file(root / ".hearsight", dataset, stage) for stage, dataset, _ in graph.outputs()}
    if output and output not in files:
        raise HearsightError(f"there is no output '{output}'", where="hearsight logs", hint=did_you_mean(output, list(files)))
    chosen = [files[output]] if output else files.values()
    found = sorted((event for file in chosen for event in read_events(file)), key=lambda event: str(event["time"]))
    found = [event for event in found if not run or run in (event.get("run"), event.get("flow_run"))]
    return [event for event in found if not failed or event.get("level") == "error"][-last:]


def event_text(event: Event) -> str:
    """Return an event as a line for a terminal."""
    output = f"{event.get('dataset')}/{event.get('stage')}"
    at = " ".join(str(event[name]) for name in ("step", "shard") if name in event)
    shown = []
    for name in SHOWN:
        if name in event:
            value = event[name]
            shown.append(duration(value) if name == "seconds" and value >= 60 else f"{name} {_plain(value)}")
    clock = str(event["time"])[:19].replace("T", " ")
    return "  ".join(filter(None, [clock, output, str(event["event"]), at, ", ".join(shown)]))


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{step} {share}" for step, share in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
