"""What a training run records of its epochs, as ``history.csv`` beside the weights."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

CAPTIONER = ("epoch", "phase", "loss", "validation", "reward")
"""Columns of a captioner: phase of training, mean training loss, validation metric, mean reward (self-critical phase only)."""
DUAL_ENCODER = ("epoch", "loss", "validation")
"""Columns of a dual encoder: mean training loss, validation metric."""


def history_csv(history: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return a line an epoch with these columns, six digits behind the point; what an epoch does not have is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(name, "")) for name in columns] for row in history)
    return text.getvalue()


def _cell(value: Any) -> Any:
    return value if isinstance(value, (int, str)) else f"{value:.6f}"
