"""Write the next snapshot of a dataset into ``params.yaml``: named after a day, with the last complete one as its base.

The caller (a person, a schedule) gives the day; no stage reads a clock.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import load_graph
from components.core.params import read_params_file
from components.execution.runner import stage_settings
from components.stages.crawl import Params
from components.stages.crawl.snapshot_builder import STORE

_DAY = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def next_snapshot(root: Path, dataset: str, day: date) -> dict[str, Any]:
    """Set ``<dataset>.crawl.snapshot`` to that of ``day``, with the present snapshot as its base.

    An incomplete snapshot has to be finished first, so it is kept. A second call for one day changes nothing.

    Returns:
        The snapshot and base that ``params.yaml`` names now, and whether they are new.

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
    replace_values(root / "params.yaml", [dataset, "crawl"], {"snapshot": name, "base": params.snapshot})
    return {"dataset": dataset, "snapshot": name, "base": params.snapshot, "moved": True}


def replace_values(path: Path, block: Sequence[str], values: Mapping[str, str]) -> None:
    """Replace string settings of one block; comments, order and format of everything else stay.

    Args:
        block: the keys down to the block, e.g. ``["english", "crawl"]``.
        values: setting → new value; a missing setting, whose default applied, is inserted before the others.

    Raises:
        HearsightError: the file or the block is missing, a setting is not a scalar, or the file cannot be written. The file is
            then unchanged.
    """
    content = read_params_file(path)
    text = path.read_text(encoding="utf-8")
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    settings: Any = content
    for name in block:
        node, settings = _child(node, name, path, block), settings[name]
    changes = []
    for name, value in values.items():
        if name not in settings and isinstance(node, yaml.MappingNode) and node.value:
            first = node.value[0][0].start_mark
            after = ", " if node.flow_style else f"\n{' ' * first.column}"
            changes.append((first.index, first.index, f"{name}: {_format_yaml(value)}{after}"))
            settings[name] = value
            continue
        old = _child(node, name, path, block)
        if not isinstance(old, yaml.ScalarNode):
            raise HearsightError("is not a plain text", where=f"{path}: {'.'.join(block)}.{name}", hint="write one 'name: value'")
        changes.append((old.start_mark.index, old.end_mark.index, _format_yaml(value)))
        settings[name] = value
    for start, end, new in sorted(changes, reverse=True):
        text = f"{text[:start]}{new}{text[end:]}"
    try:
        correct = yaml.safe_load(text) == content
    except yaml.YAMLError:
        correct = False
    if not correct:  # e.g. an anchor, whose text belongs to several settings
        raise HearsightError("cannot be edited in place", where=f"{path}: {'.'.join(block)}", hint="change it by hand")
    publish_bytes(path, text.encode("utf-8"))


def _child(node: Any, name: str, path: Path, block: Sequence[str]) -> Any:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    for key, value in pairs:
        if key.value == name:
            return value
    raise HearsightError("is missing", where=f"{path}: {'.'.join(block)} ({name})", hint="restore it with git")


def _format_yaml(value: str) -> str:
    """Return a string as YAML, quoted where YAML would read another type (a date, a number, null)."""
    try:
        plain = yaml.safe_load(f"x: {value}  # y") == {"x": value}
    except yaml.YAMLError:
        plain = False
    return value if plain else json.dumps(value, ensure_ascii=False)
