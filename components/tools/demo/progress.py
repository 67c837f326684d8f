"""Show the overall progress of ``dvc repro``, read from its output, as lines or a bar."""

from __future__ import annotations

import re
import sys
import time
from typing import TextIO

from tqdm import tqdm

from components.core.graph import Graph

_RUNS = re.compile(r"^Running stage '(.+)':$")
_SKIPS = re.compile(r"^Stage '(.+)' (?:didn't change|is cached)")


def count_stages(graph: Graph) -> int:
    """Count what ``dvc repro`` visits: every stage of every dataset, each with its check."""
    return 2 * sum(len(takers) for takers in graph.chain.values())


class Progress:
    """Show which stage of how many runs, and the time since the start.

    On a terminal this is a bar that is redrawn by :meth:`tick`; elsewhere each stage that runs is a line.
    """

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total, self.stream = total, stream or sys.stderr
        self.ran, self.current = 0, ""
        self._seen: set[str] = set()
        self._start = time.monotonic()
        self._bar = None
        if self.stream.isatty():
            form = "{desc} |{bar}| {elapsed}"
            self._bar = tqdm(total=total, file=self.stream, bar_format=form, dynamic_ncols=True, desc="starting dvc")

    def add_line(self, line: str) -> None:
        """Process one line of dvc's output."""
        runs = _RUNS.match(line)
        if (match := runs or _SKIPS.match(line)) is None:
            return
        self._seen.add(match[1])
        if runs:
            self.current, self.ran = runs[1], self.ran + 1
            self._show()

    @property
    def visited(self) -> int:
        """Number of stages that dvc has run or skipped as up to date."""
        return len(self._seen)

    def tick(self) -> None:
        """Redraw the clock of the bar."""
        if self._bar is not None:
            self._bar.refresh()

    def close(self) -> None:
        """End the bar; the cursor is on a new line afterwards."""
        if self._bar is not None:
            self._bar.n = self.visited
            self._bar.close()

    def elapsed(self) -> str:
        """Return the time since the start as minutes:seconds."""
        seconds = int(time.monotonic() - self._start)
        return f"{seconds // 60}:{seconds % 60:02d}"

    def _show(self) -> None:
        text = f"stage {self.visited} of {max(self.total, self.visited)}: {self.current}"
        if self._bar is None:
            print(f"[{self.elapsed():>5}] {text}", file=self.stream, flush=True)
        else:
            self._bar.n = self.visited - 1
            self._bar.set_description_str(text)
