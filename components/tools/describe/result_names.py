"""Name the files that results are written to: none overwrites an input, or the result of another input."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from components.core.files import disk_error
from components.core.printing import json_line

INDEX = ".inputs.jsonl"
"""File beside the results that names the input of each."""


class ResultNames:
    """The names of results in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._inputs: dict[str, str] = {}

    def path(self, name: str, source: str | Path) -> Path:
        """Return where the result ``name`` of an input is written: where it was before, or a new file, numbered if necessary.

        Args:
            source: the input: a path, or an address.

        Raises:
            HearsightError: the folder cannot be written.
        """
        source = str(source.resolve()) if isinstance(source, Path) else source
        if not self._inputs:
            self._inputs = {
                str(line["result"]): str(line["input"]) for line in read_lines(self._folder / INDEX, {"result", "input"})
            }
        first, number = Path(name), 1
        while self._inputs.get(name) != source and (name in self._inputs or os.path.lexists(self._folder / name)):
            number += 1
            name = str(first.with_name(f"{first.stem}-{number}{first.suffix}"))
        path = self._folder / name
        if name not in self._inputs:
            self._inputs[name] = source
            append_line(self._folder / INDEX, {"result": name, "input": source})
        return path


def read_lines(path: Path, names: set[str]) -> list[dict[str, Any]]:
    """Return the objects of a JSON lines file that have these names; a torn line, as a killed run leaves it, is left out."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    lines = []
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and names <= set(value):
            lines.append(value)
    return lines


def append_line(path: Path, line: dict[str, Any]) -> None:
    """Append a line to a JSON lines file; raise HearsightError if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as handle:
            handle.write(json_line(line) + "\n")
    except OSError as error:
        raise disk_error(error, path) from error
