"""Progress a person can watch: a live bar on a terminal, a line every half minute in a log."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def progress(iterable: Iterable[T], total: int | None = None, desc: str = "") -> Iterator[T]:
    """Pass ``iterable`` through a progress bar on standard error."""
    from tqdm import tqdm

    from components.core.printing import escape_controls

    # Its monitor is a thread that starts as workers are forked. glibc's loader may count that thread as busy in the child for
    # ever, and the child's first import of a library then waits for it.
    tqdm.monitor_interval = 0
    live = sys.stderr.isatty()
    yield from tqdm(
        iterable, total=total, desc=escape_controls(desc), unit="", mininterval=0.2 if live else 30, dynamic_ncols=live
    )
