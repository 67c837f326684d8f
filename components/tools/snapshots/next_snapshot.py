"""Write the next snapshot of a dataset into its settings: named after a day, with the last complete one as its base.

The caller (a person, a schedule) gives the day; no stage reads a clock.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

from components.core.graph import load_graph
from components.core.params import dataset_file
from components.core.yaml_edit import edited_yaml
from components.execution.runner import stage_settings
from components.stages.crawl import Params
from components.stages.crawl.snapshot_builder import STORE

_DAY = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def next_snapshot(root: Path, dataset: str, day: date) -> dict[str, Any]:
    """Set ``<dataset>.crawl.snapshot`` to that of ``day``, with the present snapshot as its base.

    An incomplete snapshot has to be finished first, so it is kept. A second call for one day changes nothing.

    Returns:
        The snapshot and base that the settings name now, and whether they are new.

    Raises:
        HearsightError: the dataset takes no crawl, or its parameters are not valid.
    """
    params: Params = stage_settings(load_graph(root), "crawl", dataset)
    name = f"{_DAY.sub('', params.snapshot)}-{day.isoformat()}"
    now = {"dataset": dataset, "snapshot": params.snapshot, "base": params.base}
    if not (root / STORE / params.snapshot / "COMPLETE").is_file():
        return {**now, "moved": False, "why": "it is not complete yet"}
    if name == params.snapshot:
        return {**now, "moved": False, "why": "it is of this day"}
    with edited_yaml(dataset_file(root, dataset)) as content:
        content["crawl"] |= {"snapshot": name, "base": params.snapshot}
    return {"dataset": dataset, "snapshot": name, "base": params.snapshot, "moved": True}
