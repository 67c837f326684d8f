"""A table in parts of bounded size, for expectations that are validated part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

ROWS = 50_000
"""Rows of a part, about 100 MB with all columns; one shard is one part at least."""


@dataclass(frozen=True)
class Parts:
    """A table whose parts can be read again and again."""

    count: int
    """Rows of the table."""
    read: Callable[[], Iterator[pd.DataFrame]]
    """Reads the parts in order."""
    single: pd.DataFrame | None = None
    """The whole table if it is one part."""

    def __iter__(self) -> Iterator[pd.DataFrame]:
        return iter([self.single]) if self.single is not None else self.read()

    def whole(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return ``columns`` of all rows, about 100 bytes for each row and column of different texts."""
        if self.single is not None:
            return self.single
        return pd.concat([part[[name for name in columns if name in part]] for part in self], ignore_index=True)


def of_frame(frame: pd.DataFrame) -> Parts:
    """Return a table of one part."""
    return Parts(len(frame), lambda: iter([frame]), frame)
