"""Progress bars: live on a terminal, a line every half minute in a log."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

from components.core.printing import escape_controls

T = TypeVar("T")


def progress(iterable: Iterable[T], total: int | None = None, desc: str = "") -> Iterator[T]:
    """Yield the items of ``iterable`` and show a progress bar on standard error."""
    # Without tqdm's monitor thread: in a worker forked meanwhile, glibc's loader could wait for it for ever.
    tqdm.monitor_interval = 0
    live = sys.stderr.isatty()
    yield from tqdm(
        iterable, total=total, desc=escape_controls(desc), unit="", mininterval=0.2 if live else 30, dynamic_ncols=live
    )
