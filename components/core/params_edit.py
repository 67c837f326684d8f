"""Changing a setting of ``params.yaml`` in place: its text is exchanged where it stands, all else stays as it was written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.params import read_params_file


def replace_values(path: Path, block: Sequence[str], values: Mapping[str, str]) -> None:
    """Give settings of one block new texts; comments, order and spelling of everything else stay.

    Args:
        path: a ``params.yaml``.
        block: the keys down to the block, e.g. ``["english", "crawl"]``.
        values: setting → its new text; each must be there already.

    Raises:
        HearsightError: the file or a setting is missing or is no plain text, or the file cannot be written; it is then
            as it was.
    """
    content = read_params_file(path)
    text = path.read_text(encoding="utf-8")
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    wanted: Any = content
    for name in block:
        node, wanted = _child(node, name, path, block), wanted[name]
    changes = []
    for name, value in values.items():
        old = _child(node, name, path, block)
        if not isinstance(old, yaml.ScalarNode):
            raise HearsightError("is not a plain text", where=f"{path}: {'.'.join(block)}.{name}", hint="write one 'name: value'")
        changes.append((old.start_mark.index, old.end_mark.index, _spelled(value)))
        wanted[name] = value
    for start, end, new in sorted(changes, reverse=True):
        text = f"{text[:start]}{new}{text[end:]}"
    try:
        as_meant = yaml.safe_load(text) == content
    except yaml.YAMLError:
        as_meant = False
    if not as_meant:  # an anchor, say, whose text stands for more than one setting
        raise HearsightError("cannot be changed by itself", where=f"{path}: {'.'.join(block)}", hint="change it by hand")
    publish_bytes(path, text.encode("utf-8"))


def _child(node: Any, name: str, path: Path, block: Sequence[str]) -> Any:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    for key, value in pairs:
        if key.value == name:
            return value
    raise HearsightError("is missing", where=f"{path}: {'.'.join(block)} ({name})", hint="restore it with git")


def _spelled(value: str) -> str:
    """A text as YAML, quoted where it would be read as something else (a date, a number, nothing)."""
    try:
        plain = yaml.safe_load(f"x: {value}  # y") == {"x": value}
    except yaml.YAMLError:
        plain = False
    return value if plain else json.dumps(value, ensure_ascii=False)
