"""What tests run on a node that does not see the project's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.ledger import kept, ledger_table
from components.execution.shard_worker import ShardOut, Task


class Length:
    """Counts the bytes of an image."""

    name, version, model, codec = "length", 1, "none", "json"

    def compute(self, payload: bytes) -> int:
        return len(payload)


def require_hidden(root: str) -> None:
    """Fail where the project can be seen."""
    assert not Path(root, "params.yaml").exists() and not Path(root, "data").exists(), "the node sees the project's folder"


def measure(table: pa.Table, task: Task) -> ShardOut:
    """Read images of the input, and keep results in the cache of the driver."""
    require_hidden(task.shared["root"])
    note = (task.work / "note.txt").read_text()
    rows = table.select(["key", "media"]).to_pylist()
    images = {row["key"]: task.inputs["input"].read_media(row["media"]) for row in rows}
    lengths = task.annotations.annotate(Length(), images)
    assert not task.annotations.find_missing(Length(), list(images))
    alts = [f"{note} {lengths[key]}" for key in table["key"].to_pylist()]
    table = table.set_column(table.schema.get_field_index("alt"), table.schema.field("alt"), pa.array(alts))
    return ShardOut(table, ledger_table(kept(key) for key in table["key"].to_pylist()))


def again(table: pa.Table, task: Task) -> ShardOut:
    """Take what the first map left in the shard cache."""
    require_hidden(task.shared["root"])
    return ShardOut(table, ledger_table(kept(key) for key in table["key"].to_pylist()))


def count(spec: Any, task: Task, folder: Path) -> None:
    """Job: count the input's records, and the lines of an earlier job's result, which the spec names by its folder."""
    require_hidden(task.shared["root"])
    lines = (task.work.parents[2] / spec["earlier"] / "count.txt").read_text() if spec["earlier"] else ""
    (folder / "count.txt").write_text(f"{lines}{task.inputs['input'].table(['key']).num_rows}\n")
