"""What the stages of a flow run know of each other, its progress (a bar on a terminal, lines elsewhere), and its log."""

from __future__ import annotations

import logging
import statistics
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from prefect.logging.formatters import PrefectFormatter

from components.core.files import read_json_lines
from components.core.progress import duration, print_progress, progress_bar
from components.execution.run_log import FINISHED, runs_file
from flows.graph import StageTask

LOG = Path(".hearsight") / "logs" / "flow.log"
"""Below the project's root: the log of the last run, with all that its stages printed."""
ENOUGH = 3
"""Finished stages from which the time left is estimated."""
USUAL = {
    "crawl": 60.0, "filter": 150.0, "hypernymize": 20.0, "extract_descriptions": 12.0, "dedup": 85.0, "cluster": 75.0,
    "synthesize": 20.0, "evaluate_speech": 45.0, "extract_features": 30.0, "train_captioner": 20.0, "evaluate_captioners": 20.0,
    "pretrain_retrieval": 35.0, "finetune_retrieval": 55.0, "posts_report": 30.0,
}  # fmt: skip
"""Seconds of a stage that never ran, as in the demo on two cores; others take 5."""
OVERHEAD = 10.0
"""Seconds of DVC for each stage."""


def expected_seconds(root: Path, stage: StageTask, told: Mapping[str, float]) -> float:
    """Return how long a stage takes: the median of its earlier runs, else as told (address → s), else as in the demo."""
    dataset, _, name = stage.output.rpartition("/")
    ends = read_json_lines(runs_file(root / ".hearsight", dataset, name), {"event", "seconds"}) if name else []
    earlier = [end["seconds"] for end in ends if end["event"] == FINISHED]
    return OVERHEAD + (statistics.median(earlier) if earlier else told.get(stage.address, USUAL.get(name, 5.0)))


class Progress:
    """The state of a run, and its display on standard error."""

    def __init__(self, changed: set[str], stages: Collection[StageTask], expected: Mapping[str, float]) -> None:
        """Begin a run of ``stages``; ``expected`` has the seconds of those that have changed or need one that has."""
        self.changed = changed
        """Addresses that ``dvc status`` reported as changed when the flow started."""
        self.files = [path for stage in stages for path in stage.files]
        """Small outputs of all stages, which DVC leaves to git."""
        self.ran: set[str] = set()
        """Addresses that DVC has run in this flow."""
        self._total, self._to_do, self._expected = len(stages), len(expected), expected
        self._begun, self._done = dict[str, float](), set[str]()
        self._running: list[str] = []
        self._start, self._lock, self._closed = time.monotonic(), threading.Lock(), threading.Event()
        self._bar = None
        if expected and sys.stderr.isatty():
            self._bar = progress_bar(len(stages), "", bar_format="{desc} |{bar}|")
            threading.Thread(target=self._tick, daemon=True, name="progress").start()

    def may_differ(self, stage: StageTask) -> bool:
        """Return whether DVC has to be asked about the stage: it was changed, or one that it needs has run since."""
        return stage.address in self.changed or not self.ran.isdisjoint(stage.upstream)

    @contextmanager
    def running(self, stage: StageTask) -> Iterator[None]:
        """Show that a stage runs during the block; a further attempt is not counted again."""
        with self._lock:
            self._running.append(stage.address)
            self._begun[stage.address] = time.monotonic()
            if self._bar is None:
                left = self._time_left()
                print_progress(f"[{self.elapsed():>5}] stage {self._number()} of {self._total}: {stage.address}{left}")
        try:
            yield
        finally:
            with self._lock:
                self._running.remove(stage.address)

    def done(self, stage: StageTask) -> None:
        """Count a stage as finished."""
        with self._lock:
            self._done.add(stage.address)

    def close(self) -> None:
        """End the display; a further call has no effect."""
        if not self._closed.is_set():
            self._closed.set()
            with self._lock:
                if self._bar is not None:
                    self._bar.close()
            up_to_date = self._total - self._to_do + len(self._done - self.ran)
            print_progress(f"[{self.elapsed():>5}] {len(self.ran)} stages ran, {up_to_date} were up to date")

    def elapsed(self) -> str:
        """Return the time since the start as minutes:seconds."""
        return duration(time.monotonic() - self._start)

    def _number(self) -> int:
        return self._total - self._to_do + len(self._begun.keys() | self._done)

    def _time_left(self) -> str:
        """Return the time left, if what is left takes as much longer or shorter than expected as what ran."""
        if len(self._done) < ENOUGH:
            return ""
        now = time.monotonic()
        done = sum(self._expected[address] for address in self._done)
        done += sum(min(now - self._begun[address], self._expected[address]) for address in set(self._running) - self._done)
        left = (now - self._start) * (sum(self._expected.values()) - done) / done
        return f" (about {duration(left)} left)"

    def _tick(self) -> None:
        while not self._closed.wait(1):
            with self._lock:
                if self._bar is not None and not self._closed.is_set():
                    self._bar.n = self._total - self._to_do + len(self._done)
                    text = (
                        f"{self.elapsed()} stage {self._number()} of {self._total}{self._time_left()}: {', '.join(self._running)}"
                    )
                    self._bar.set_description_str(text)


@contextmanager
def run_log(root: Path) -> Iterator[None]:
    """Write the lines of Prefect's loggers to the run's log during the block, besides where Prefect sends them."""
    path = root / LOG
    path.parent.mkdir(parents=True, exist_ok=True)
    form = "%(asctime)s | %(message)s"
    handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    handler.setFormatter(
        PrefectFormatter(
            form, datefmt="%H:%M:%S", flow_run_fmt=form, task_run_fmt="%(asctime)s | %(task_run_name)s | %(message)s"
        )
    )
    logger = logging.getLogger("prefect")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()
