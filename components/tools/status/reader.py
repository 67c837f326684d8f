"""Reading of the stage logs for ``hearsight logs``: events of one or all outputs by time, and those that are still written."""

from __future__ import annotations

import heapq
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from components.core.errors import HearsightError
from components.core.graph import Graph, load_graph
from components.core.params import did_you_mean
from components.core.progress import duration
from components.execution.run_log import log_file
from components.tools.status.history import Event, read_events

POLL = 0.5
"""Seconds between two looks at the files that are followed."""
SHOWN = ("seconds", "items", "records_in", "records_out", "bytes", "cached", "warnings", "error")
"""Fields of an event that a terminal shows."""


@dataclass(frozen=True)
class Wanted:
    """What to print."""

    output: str = ""
    failed: bool = False
    run: str = ""

    def takes(self, event: Event) -> bool:
        """Return whether the event is to be printed."""
        if self.failed and event.get("level") != "error":
            return False
        return not self.run or self.run in (event.get("run"), event.get("flow_run"))

    def files(self, graph: Graph) -> list[Path]:
        """Return the logs to read; raises HearsightError if there is no such stage."""
        state = graph.root / ".hearsight"
        outputs = {f"{dataset}/{stage}": log_file(state, dataset, stage) for stage, dataset, _ in graph.outputs()}
        if self.output and self.output not in outputs:
            hint = did_you_mean(self.output, list(outputs))
            raise HearsightError(f"there is no output '{self.output}'", where="hearsight logs", hint=hint)
        return [outputs[self.output]] if self.output else list(outputs.values())


def select_events(root: Path, wanted: Wanted, *, last: int = 0, follow: bool = False) -> Iterator[Event]:
    """Yield the events in order of time; with ``follow`` also new ones, without end.

    Args:
        last: at most this many of the events that there are; 0 for all.
    """
    files = wanted.files(load_graph(root))
    ends = {file: _end(file) for file in files}  # before reading: an event between both is printed twice rather than lost
    found = [event for event in heapq.merge(*map(read_events, files), key=_time) if wanted.takes(event)]
    yield from found[-last:] if last else found
    while follow:
        for file in files:
            for event in _new(file, ends):
                if wanted.takes(event):
                    yield event
        time.sleep(POLL)


def _time(event: Event) -> str:
    return str(event["time"])


def _end(file: Path) -> tuple[int, int]:
    """Return the number of a file, which changes when another one takes its name, and its size."""
    try:
        about = file.stat()
    except FileNotFoundError:
        return 0, 0
    return about.st_ino, about.st_size


def _new(file: Path, ends: dict[Path, tuple[int, int]]) -> Iterator[Event]:
    """Yield the whole lines that were added since the last call."""
    inode, position = ends[file]
    now, size = _end(file)
    if now != inode:  # replaced at its limit: the rest of the old one, then the new one
        if inode:
            yield from _lines(file.with_name(f"{file.name}.1"), position)[0]
        position = 0
    if size > position:
        events, position = _lines(file, position)
        yield from events
    ends[file] = (now, position)


def _lines(file: Path, position: int) -> tuple[list[Event], int]:
    """Return the events of whole lines from a position on, and the position behind the last one."""
    try:
        with file.open("rb") as handle:
            handle.seek(position)
            data = handle.read()
    except FileNotFoundError:
        return [], position
    whole = data[: data.rfind(b"\n") + 1]
    events = []
    for line in whole.splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            continue
    return events, position + len(whole)


def event_text(event: Event) -> str:
    """Return an event as a line for a terminal."""
    name = f"{event.get('dataset')}/{event.get('stage')}"
    at = " ".join(str(event[field]) for field in ("step", "shard") if field in event)
    shown = []
    for field in SHOWN:
        if field in event:
            value = event[field]
            shown.append(duration(value) if field == "seconds" and value >= 60 else f"{field} {_plain(value)}")
    clock = str(event["time"])[:19].replace("T", " ")
    return "  ".join(filter(None, [clock, name, str(event["event"]), at, ", ".join(shown)]))


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{step} {share}" for step, share in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
