"""Describe the images of a folder, one JSON line each, so that a second run describes only new and changed ones.

Names of files that results are written to overwrite no input, nor the result of another input.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.files import disk_error, publish_bytes, read_json_lines
from components.core.printing import json_line
from components.model_server.client import ModelServerError
from components.tools.describe.describer import Describer
from components.tools.describe.settings import SERVER
from components.vision.image_files import read_image_file

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
                str(line["result"]): str(line["input"]) for line in read_json_lines(self._folder / INDEX, {"result", "input"})
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


def append_line(path: Path, line: dict[str, Any]) -> None:
    """Append a line to a JSON lines file; raise HearsightError if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as handle:
            handle.write(json_line(line) + "\n")
    except OSError as error:
        raise disk_error(error, path) from error


RESULTS = "descriptions.jsonl"
_FIELDS = {"file", "sha256", "model", "version", "language", "caption", "source"}
SUFFIXES = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff")


@dataclass(frozen=True)
class ImageResult:
    """The result for one file."""

    file: str
    """Path below the folder."""
    line: dict[str, Any]
    """``file``, ``sha256`` and the description as JSON values; empty for a file without one."""
    error: str = ""
    reused: bool = False
    """Whether it is of an earlier run."""


def find_images(folder: Path) -> list[str]:
    """Return the paths of image files below a folder by their endings, sorted; hidden files and folders are left out."""
    files = []
    for path in folder.rglob("*"):
        relative = path.relative_to(folder)
        if path.suffix.lower() in SUFFIXES and not any(part.startswith(".") for part in relative.parts) and path.is_file():
            files.append(relative.as_posix())
    return sorted(files)


def describe_folder(
    describer: Describer,
    folder: Path,
    path: Path,
    files: Sequence[str],
    *,
    timed: bool = False,
) -> Iterator[ImageResult]:
    """Yield the result of each file, and keep the descriptions in the JSON lines file ``path``.

    Each description is stored at once, so a run that is ended continues where it was. One is reused if the file's content and
    the model are the same. At the end the file holds the described files alone, in order.

    Args:
        files: of :func:`find_images`.
        timed: add to a new line the ``seconds`` that the description took.
    """
    stored = {(line["file"], line["sha256"]): line for line in read_json_lines(path, _FIELDS) if _is_of(line, describer)}
    by_content = {sha256: line for (_, sha256), line in stored.items()}
    lines = []
    for file in files:
        started = time.perf_counter()
        result = _describe(describer, folder, file, stored, by_content)
        if timed and not result.error:
            result.line.setdefault("seconds", round(time.perf_counter() - started, 3))
        if not result.error:
            if not result.reused:
                append_line(path, result.line)
            by_content[result.line["sha256"]] = result.line
            lines.append(result.line)
        yield result
    publish_bytes(path, "".join(json_line(line) + "\n" for line in lines).encode())


def _is_of(line: dict[str, Any], describer: Describer) -> bool:
    found, made = describer.found, (describer.language, describer.interface, describer.threshold, describer.reader)
    of = (line["language"], line.get("interface"), line.get("threshold"), line.get("reader"))
    # A server that had no answer may have one now; the answers that it gave are stored.
    lasting = line["caption"] or line["source"] != SERVER
    return bool(lasting) and (line["model"], line["version"]) == (found.name, found.version) and of == made


def _describe(
    describer: Describer, folder: Path, file: str, stored: dict[tuple[str, str], dict[str, Any]], known: dict[str, dict[str, Any]]
) -> ImageResult:
    try:
        data = read_image_file(folder / file, file)
        sha256 = sha256_bytes(data)
        if line := stored.get((file, sha256)):
            return ImageResult(file, line, reused=True)
        if line := known.get(sha256):  # the same image under another name
            return ImageResult(file, line | {"file": file})
        description = describer.describe(data, file)
    except ModelServerError:
        raise  # no other image would be answered
    except HearsightError as error:
        return ImageResult(file, {}, str(error))
    settings = {"interface": describer.interface, "threshold": describer.threshold, "reader": describer.reader}
    line = {"file": file, "sha256": sha256} | description.plain() | settings
    return ImageResult(file, line)
