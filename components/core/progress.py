"""Progress on standard error: bars on a terminal, whole lines in a log, one every half minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from tqdm import tqdm

from components.core.printing import escape_controls

T = TypeVar("T")
EVERY = 30.0
"""Seconds between two lines of one task in a log."""


def progress(iterable: Iterable[T], total: int | None = None, desc: str = "") -> Iterator[T]:
    """Yield the items of ``iterable`` and show how many there were."""
    if sys.stderr.isatty():
        yield from progress_bar(total, desc, iterable=iterable)
        return
    begun = last = time.monotonic()
    count = 0
    try:
        for count, item in enumerate(iterable, start=1):
            yield item
            if (now := time.monotonic()) - last >= EVERY:
                last = now
                print_progress(_line(desc, count, total, now - begun))
    finally:  # a consumer that needs no further item does not come back
        print_progress(_line(desc, count, total, time.monotonic() - begun))


def progress_bar(total: int | None, desc: str, **settings: Any) -> tqdm[Any]:
    """Return a bar for a terminal, with further arguments of tqdm."""
    # Without tqdm's monitor thread: in a worker forked meanwhile, glibc's loader could wait for it for ever.
    tqdm.monitor_interval = 0
    return tqdm(total=total, desc=escape_controls(desc), unit="", mininterval=0.2, dynamic_ncols=True, **settings)


def print_progress(line: str) -> None:
    """Print a line in one write, above this process's bars."""
    tqdm.write(escape_controls(line), file=sys.stderr)


def duration(seconds: float) -> str:
    """Return a time as ``1:02:03`` or ``2:03``."""
    return str(tqdm.format_interval(seconds))


def _line(desc: str, count: int, total: int | None, seconds: float) -> str:
    share = f" of {total} ({100 * count // total} %)" if total else ""
    return f"{desc}: {count}{share}, {duration(seconds)}"
