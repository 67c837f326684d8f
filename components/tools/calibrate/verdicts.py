"""Compare every rule with people's verdicts: precision and recall of each, alone and beside the others (``--labelled``).

Precision is the share of the kept texts that a person would keep, recall the share of these that is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from components.core.files import publish_bytes
from components.core.text_encoding import csv_text
from components.stages.filter.cascade import GROUPS, PAGE_GROUPS, RULES
from components.tools.calibrate.sweep import SWEPT, Swept

if TYPE_CHECKING:
    import pyarrow as pa

MEASURED = tuple(rule.name for group in PAGE_GROUPS for rule in GROUPS[group])
COLUMNS = ("rule", "setting", "value", "present", "kept", "precision", "recall", "all_kept", "all_precision", "all_recall")


def compare_rules(tables: Sequence[pa.Table], keep: Sequence[bool], params: Any) -> list[dict[str, Any]]:
    """Return a row for all rules together, one for each rule, and one for each threshold of a swept rule.

    ``kept``, ``precision`` and ``recall`` are those of the rule alone, ``all_...`` those of all rules with this threshold.

    Args:
        tables: measured values of the labelled texts (:func:`components.tools.calibrate.run.measured_schema`), in order.
        keep: the verdicts, in the same order.
        params: the present settings.
    """
    verdicts = np.array(keep, bool)
    failing = [broken for table in tables for broken in table.column("failing").to_pylist()]
    passing = np.array([not broken for broken in failing], bool)
    rows = [_row("", "", "", True, passing, passing, verdicts)]
    swept = {each.rule: each for each in SWEPT}
    for name in MEASURED:
        others = np.array([not set(broken) - {name} for broken in failing], bool)
        alone = np.array([name not in broken for broken in failing], bool)
        if name not in swept:
            rows.append(_row(name, ", ".join(RULES[name].settings), "", True, alone, alone & others, verdicts))
            continue
        values = np.array([np.nan if v is None else v for table in tables for v in table.column(name).to_pylist()], float)
        rows += _thresholds(swept[name], values, others, verdicts, float(getattr(params, swept[name].setting)))
    return rows


def _thresholds(
    swept: Swept, values: np.ndarray, others: np.ndarray, verdicts: np.ndarray, present: float
) -> Iterator[dict[str, Any]]:
    for threshold in swept.samples_at(present):
        alone = swept.allows(values, threshold)
        yield _row(swept.rule, swept.setting, f"{threshold:g}", threshold == present, alone, alone & others, verdicts)


def _row(
    rule: str, setting: str, value: str, present: bool, alone: np.ndarray, together: np.ndarray, verdicts: np.ndarray
) -> dict[str, Any]:
    figures = (*_figures(alone, verdicts), *_figures(together, verdicts))
    return dict(zip(COLUMNS, (rule, setting, value, "yes" if present else "no", *figures), strict=True))


def _figures(kept: np.ndarray, verdicts: np.ndarray) -> tuple[int, float | None, float | None]:
    """Return how many texts are kept, and precision and recall; None where there is nothing to divide by."""
    right, count, wanted = int((kept & verdicts).sum()), int(kept.sum()), int(verdicts.sum())
    return count, right / count if count else None, right / wanted if wanted else None


def write_verdicts(rows: Sequence[dict[str, Any]], path: Path) -> Path:
    """Write the rows as TSV, atomically; return the path."""
    lines = ([f"{row[name]:.4f}" if isinstance(row[name], float) else row[name] for name in COLUMNS] for row in rows)
    publish_bytes(path, csv_text(COLUMNS, lines, "\t").encode())
    return path
