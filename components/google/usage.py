"""What was asked of Google, counted: requests and billed units by feature, in files that several workers append to.

The folder is scratch of one run of one stage; :func:`spent` adds it all up. A line is written with each answer, so a
killed worker's count is there as well.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

REQUESTS = "requests"


class Usage:
    """One process's counts."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{os.uname().nodename}-{os.getpid()}.jsonl"

    def add(self, counts: Mapping[str, int]) -> None:
        """Count one request, and the units of what it answered."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(counts, sort_keys=True) + "\n")


def clear(folder: Path) -> None:
    """Begin at zero."""
    shutil.rmtree(folder, ignore_errors=True)


def spent(folder: Path) -> Counter[str]:
    """The counts of every process; a line cut short by a kill is left out."""
    total: Counter[str] = Counter()
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                total.update({str(name): int(value) for name, value in json.loads(line).items()})
            except (ValueError, TypeError, AttributeError):
                continue
    return total
