"""The ledger: one row for every record that enters a stage, kept or dropped, with rule, value and threshold.

The funnel and ``hearsight explain`` read ledgers only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from components.core.errors import HearsightError
from components.core.records import LEDGER

KEPT, DROPPED = "kept", "dropped"
OUTCOME = ["kind", "verdict", "rule"]
"""The columns that say what became of a record."""


def kept(key: str, *, kind: str = "record", detail: str = "") -> dict[str, str]:
    """Return the ledger row of a record that goes on to the next stage."""
    return {"kind": kind, "key": key, "verdict": KEPT, "rule": "", "value": "", "threshold": "", "detail": detail}


def dropped(key: str, rule: str, value: Any, threshold: Any, *, kind: str = "record", detail: str = "") -> dict[str, str]:
    """Return the ledger row of a dropped record: the rule, the measured value and the threshold."""
    why = {"verdict": DROPPED, "rule": rule, "value": format_value(value), "threshold": format_value(threshold)}
    return kept(key, kind=kind, detail=detail) | why


def format_value(value: Any) -> str:
    """Return a value as ledger text: floats to four decimals, booleans as yes and no, lists joined by commas."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".")
    if isinstance(value, (list, tuple)):
        return ", ".join(format_value(item) for item in value)
    return str(value)


def ledger_table(rows: Iterable[Mapping[str, str]]) -> pa.Table:
    """Return ledger rows as a table of :data:`components.core.records.LEDGER`, in the given order."""
    return pa.Table.from_pylist(list(rows), schema=LEDGER)


def count_outcomes(ledger: pa.Table) -> Counter[tuple[str, str]]:
    """Return (kind, rule) → rows of a ledger with the columns :data:`OUTCOME`; the rule of kept records is ``kept``."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in ledger.group_by(OUTCOME, use_threads=False).aggregate([([], "count_all")]).to_pylist():
        counts[row["kind"], KEPT if row["verdict"] == KEPT else row["rule"]] += row["count_all"]
    return counts


def check_conserved(entered: Iterable[str], table: pa.Table, ledger: pa.Table, where: str) -> None:
    """Verify that each key that entered has one ledger row and that the kept keys are those of the table.

    Raises:
        HearsightError: a key is lost, unknown or counted twice: a defect of the step that ``where`` names.
    """
    keys = ledger.column("key").to_pylist()
    entered = list(entered)
    if sorted(keys) != sorted(entered):
        lost = sorted(set(entered) - set(keys))[:3]
        extra = sorted(set(keys) - set(entered))[:3]
        raise HearsightError(
            f"the ledger has {len(keys)} rows for {len(entered)} records (lost {lost}, unknown {extra})",
            where=where,
            hint="this is a defect of the stage: report it with the shard's name",
        )
    kept_keys = {key for key, verdict in zip(keys, ledger.column("verdict").to_pylist(), strict=True) if verdict == KEPT}
    if "key" in table.column_names and kept_keys != set(table.column("key").to_pylist()):
        raise HearsightError("the kept rows of the ledger are not the rows of the shard", where=where, hint="report this defect")
