"""The effective settings of a stage as a list: each with its value, its default, its meaning and the default's source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from components.core.params import Settings, tags_of

_SOURCE = re.compile(r"(?:^|(?<=[.?)] ))(?:CC|CC12M|CSC|PCV|AoANet|Huang|Rennie|No paper|Ours)\b.*")
"""The end of a field's docstring: where its default is from."""


class Listed(NamedTuple):
    """One setting of a stage."""

    name: str
    """With dots for nested settings, as below the stage in the dataset's file."""
    value: Any
    default: Any
    """None where the block itself is absent by default."""
    changed: bool
    """Whether the value is not the default."""
    source: str
    """Origin of the default: a section of a paper, or "Ours" (chosen by this project); empty if not stated."""
    meaning: str
    rules: tuple[str, ...] = ()
    """The rules of the stage that read it."""

    def text(self) -> str:
        """The setting as two lines for a terminal."""
        said = f"changed from {_spelled(self.default)}" if self.changed else "default"
        said += f"; read by {', '.join(self.rules)}" if self.rules else ""
        return f"{self.name}: {_spelled(self.value)}   ({said})\n    {self.meaning}{f' [{self.source}]' if self.source else ''}"


def listed(settings: Settings, rules: Mapping[str, Sequence[str]] | None = None) -> list[Listed]:
    """List every setting, in the order of the classes, with the rules that read it; ``rules``: rule → its settings."""
    kind = type(settings)
    parent: Any = kind.__base__
    # A setting may select the stage's class (``split.by``): its default is the parent's, not that of the selected class.
    selected = {name: parent.model_fields[name].default for name in tags_of(kind) if name in getattr(parent, "model_fields", {})}
    rows = [_against(row, selected, "") for row in _walk(settings, kind(), "")]
    return [row._replace(rules=tuple(rule for rule, names in (rules or {}).items() if row.name in names)) for row in rows]


def _walk(settings: Settings, default: Settings | None, prefix: str) -> Iterator[Listed]:
    plain = settings.model_dump(mode="json")
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        usual = getattr(default, name) if default is not None else None
        if not isinstance(value, Settings):
            meaning, source = _described(field.description or "")
            usual = usual.model_dump(mode="json") if isinstance(usual, Settings) else usual
            yield Listed(prefix + name, plain[name], usual, value != usual, source, meaning)
        elif usual is None or type(usual) is type(value):
            yield from _walk(value, usual, f"{prefix}{name}.")
        else:  # another class of a union: its own defaults apply, and the setting that selects it is changed
            inside = f"{prefix}{name}."
            yield from (_against(row, tags_of(type(usual)), inside) for row in _walk(value, type(value)(), inside))


def _against(row: Listed, selected: Mapping[str, Any], prefix: str) -> Listed:
    """Return the row; if its setting selects the class, with the default in ``selected`` (name → default)."""
    name = row.name.removeprefix(prefix)
    return row._replace(default=selected[name], changed=row.value != selected[name]) if name in selected else row


def _described(text: str) -> tuple[str, str]:
    """(meaning, source) of a field's docstring."""
    line = " ".join(text.split()).replace("``", "`")
    found = _SOURCE.search(line)
    return (line[: found.start()].strip(), found[0].strip()) if found else (line, "")


def _spelled(value: Any) -> str:
    """A value as YAML spells it on one line."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (bool, list, dict)) or value in ("", None) else str(value)
