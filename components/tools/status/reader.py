"""Reading of the stage logs for ``hearsight logs``: events of one or all outputs by time."""

from __future__ import annotations

from pathlib import Path

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import did_you_mean
from components.core.progress import duration
from components.execution.run_log import log_file
from components.tools.status.history import Event, read_events

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
