"""The ledger: every record that enters a stage leaves in exactly one state, kept or dropped, and why.

The funnel and ``hearsight explain`` are read from here and from nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from components.core.errors import HearsightError
from components.core.records import LEDGER

KEPT, DROPPED = "kept", "dropped"


def kept(key: str, *, kind: str = "record", detail: str = "") -> dict[str, str]:
    """A ledger row for what goes on to the next stage."""
    return {"kind": kind, "key": key, "verdict": KEPT, "rule": "", "value": "", "threshold": "", "detail": detail}


def dropped(key: str, rule: str, value: Any, threshold: Any, *, kind: str = "record", detail: str = "") -> dict[str, str]:
    """A ledger row for what stops here: the rule, what it measured, and what it allows."""
    return {
        "kind": kind,
        "key": key,
        "verdict": DROPPED,
        "rule": rule,
        "value": format_value(value),
        "threshold": format_value(threshold),
        "detail": detail,
    }


def format_value(value: Any) -> str:
    """A value as ledger text: numbers to four significant decimals, lists joined, everything else as itself."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".")
    if isinstance(value, (list, tuple)):
        return ", ".join(format_value(item) for item in value)
    return str(value)


def ledger_table(rows: Iterable[Mapping[str, str]]) -> pa.Table:
    """Ledger rows as a table of :data:`components.core.records.LEDGER`, in the order given."""
    return pa.Table.from_pylist(list(rows), schema=LEDGER)


def check_conserved(entered: Iterable[str], table: pa.Table, ledger: pa.Table, where: str) -> None:
    """Hold a step to its promise: each key that entered is in the ledger once, and the kept ones are the table's.

    Raises:
        HearsightError: a key was lost, invented or counted twice. That is a defect of the step, named in ``where``.
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
    stays = {k for k, verdict in zip(keys, ledger.column("verdict").to_pylist(), strict=True) if verdict == KEPT}
    if "key" in table.column_names and stays != set(table.column("key").to_pylist()):
        raise HearsightError("the kept rows of the ledger are not the rows of the shard", where=where, hint="report this defect")
