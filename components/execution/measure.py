"""Measures of a run: time, processor time and memory of each item in its worker, and the figures of the whole run.

They go to the log and the tracker, never into an output or a cache key.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow.parquet as pq

from components.core.manifest import Manifest
from components.execution.engine import Engine

MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes of a unit of ``ru_maxrss``."""


class Measured(NamedTuple):
    """The result of an item with what it cost its worker."""

    result: Any
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    """The most memory that the worker has had so far."""
    counts: dict[str, int]
    """``records_in``, ``records_out`` and ``bytes`` of a shard; empty for other items."""


def measure(work: Callable[[Any], Any], item: Any) -> Measured:
    """Run ``work(item)`` in a worker and return its result with its costs."""
    began, cpu = time.monotonic(), _cpu()
    result = work(item)
    return Measured(result, time.monotonic() - began, _cpu() - cpu, peak_bytes(), _counts(item, result))


def _cpu() -> float:
    return sum(
        used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def peak_bytes() -> int:
    """Return the most memory that this process, or a child that has ended, has had."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) * MAXRSS_UNIT


def _counts(item: Any, result: Any) -> dict[str, int]:
    """Return the counts of an item whose result is a folder of the shard cache; nothing if its files cannot be read."""
    folder = result[0] if isinstance(result, tuple) and result and isinstance(result[0], Path) else None
    try:
        if folder is None:
            return {}
        counts = {"bytes": sum(file.stat().st_size for file in os.scandir(folder) if file.is_file())}
        if (folder / "ledger.parquet").exists():
            counts["records_in"] = pq.read_metadata(item.path).num_rows
            counts["records_out"] = pq.read_metadata(folder / "table.parquet").num_rows
        return counts
    except (OSError, ValueError):
        return {}


class Ran(Protocol):
    """What is measured of :class:`components.execution.stage.Stage`."""

    engine: Engine
    metrics: list[tuple[str, float, int | None]]
    cached: dict[str, int]
    done: dict[str, int]
    cpu_seconds: float
    peak_bytes: int


@dataclass
class RunMeter:
    """The meter of one run, from its creation to :meth:`figures`."""

    began: float
    cpu: float

    @classmethod
    def start(cls) -> RunMeter:
        """Return a meter that begins now."""
        return cls(time.monotonic(), _cpu())

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self.began

    def figures(self, stage: Ran, manifest: Manifest) -> dict[str, float]:
        """Return the figures of a finished run, by name. Names are the same for every stage."""
        seconds, counts = self.seconds, manifest.counts
        kept = sum(bucket["kept"] for bucket in counts.values())
        entered = kept + sum(sum(bucket["dropped"].values()) for bucket in counts.values())
        items, cached = sum(stage.done.values()), sum(stage.cached.values())
        # Local workers are children, whose processor time this process gets when they end.
        remote = 0.0 if stage.engine.name == "local" else stage.cpu_seconds
        figures = {
            "seconds": seconds,
            "cpu_seconds": _cpu() - self.cpu + remote,
            "peak_bytes": max(peak_bytes(), stage.peak_bytes),
            "records_in": entered,
            "records_out": kept,
            "records_per_second": entered / max(seconds, 1e-3),
            "bytes": manifest.size,
            "cost_usd": sum(value for name, value, _ in stage.metrics if name.endswith("_usd")),
        }
        if entered:
            figures["yield"] = kept / entered
        if items:
            figures |= {"items": items, "cached_share": cached / items}
        return {name: round(float(value), 6) for name, value in figures.items()}
