"""Counts of what a paid service is asked for.

Counts are in one file per worker; the folder is scratch of one run of one stage, and :func:`total_usage` sums it. A line is
written with each answer, so the counts of a killed worker are complete.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

REQUESTS = "requests"


class Usage:
    """The counts of one process."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{os.uname().nodename}-{os.getpid()}.jsonl"

    def add(self, counts: Mapping[str, int]) -> None:
        """Add counts to this process's file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(counts, sort_keys=True) + "\n")


def total_usage(folder: Path) -> Counter[str]:
    """Return the summed counts of all processes; a line cut short by a kill is ignored."""
    total: Counter[str] = Counter()
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                total.update({str(name): int(value) for name, value in json.loads(line).items()})
            except (ValueError, TypeError, AttributeError):
                continue
    return total
