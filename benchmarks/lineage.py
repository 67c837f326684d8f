"""``python -m benchmarks.lineage``: seconds of lineage queries against an MLflow store of 1,000 runs.

Run in a project that has run. A copy of its ``mlflow.db`` gets further runs: copies of those of stages, with all their rows,
other ids and other digests. Imports (5 s of MLflow) and the migration check of the first connection are not counted.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import statistics
import tempfile
import time
import uuid
from pathlib import Path

from components.core.errors import HearsightError
from components.core.graph import find_root
from components.tracking.lineage import trace_lineage
from components.tracking.record import connect

RUNS, REPEATS = 1000, 5
TABLES = ("tags", "params", "metrics", "latest_metrics")


def grow(database: Path, runs: int) -> int:
    """Copy runs of stages until the store has ``runs`` runs; return how many it had."""
    with sqlite3.connect(database) as store:
        had = int(store.execute("select count(*) from runs").fetchone()[0])
        made = [row[0] for row in store.execute("select run_uuid from tags where key = 'hearsight.output_digest'")]
        columns = {
            table: [row[1] for row in store.execute(f"pragma table_info({table})") if row[1] != "run_uuid"]
            for table in ("runs", *TABLES)
        }
        for number in range(max(0, runs - had)):
            old, new = made[number % len(made)], uuid.uuid4().hex
            for table, names in columns.items():
                listed = ", ".join(f'"{name}"' for name in names)
                store.execute(
                    f"insert into {table} (run_uuid, {listed}) select ?, {listed} from {table} where run_uuid = ?", (new, old)
                )
            other = hashlib.sha256(new.encode()).hexdigest()
            store.execute("update tags set value = ? where run_uuid = ? and key = 'hearsight.output_digest'", (other, new))
            store.execute("update tags set value = ? where run_uuid = ? and key = 'hearsight.identity'", (other, new))
    return had


def main() -> None:
    """Print one JSON line for each query."""
    root = find_root()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "mlflow.db"
        shutil.copy(root / "mlflow.db", database)
        print(json.dumps({"runs": RUNS, "of them copied": RUNS - grow(database, RUNS)}), flush=True)
        os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{database}"
        client = connect(root)
        model = next((f"{each.name}@{alias}" for each in client.search_registered_models() for alias in each.aliases), "")
        for target in filter(None, (str(root / "dvc.lock"), model)):
            seconds, steps = [], 0
            for _ in range(REPEATS):
                began = time.perf_counter()
                try:
                    steps = len(trace_lineage(root, target))
                except HearsightError as error:
                    print(json.dumps({"query": Path(target).name, "refused": str(error)}), flush=True)
                    break
                seconds.append(time.perf_counter() - began)
            else:
                print(
                    json.dumps(
                        {"query": Path(target).name, "steps": steps, "median seconds": round(statistics.median(seconds), 3)}
                    ),
                    flush=True,
                )


if __name__ == "__main__":
    main()
