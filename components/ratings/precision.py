"""Judgements of a random sample of a dataset's kept captions, and the precision that follows from them.

A person looks at :data:`SAMPLE` captions with their images, and says which are wrong. The verdicts are a CSV in ``ratings/kept``;
one counts as long as the record has the caption that was judged.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from math import sqrt
from pathlib import Path
from typing import Any

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.stage_output import StageOutput
from components.core.text_encoding import csv_text, decode_text

SAMPLE = 40
"""Captions that a person judges; three minutes."""
FOLDER = "kept"
"""Folder of the verdicts below ``ratings``."""
_COLUMNS = ("key", "caption_sha256", "verdict")
_GOOD, _WRONG = "good", "wrong"
_SHOWN = ["key", "alt", "caption", "page_url", "image_sha256", "media"]
_Z = 1.959964
"""Standard deviations on each side of a 95 % interval."""


@dataclass(frozen=True)
class Precision:
    """The share of judged captions that are right, with its 95 % interval (Wilson's score interval)."""

    good: int
    judged: int

    @property
    def value(self) -> float:
        """The share, 0 to 1."""
        return self.good / self.judged

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the interval, 0 to 1."""
        n, z2 = self.judged, _Z * _Z
        middle = (self.value + z2 / (2 * n)) / (1 + z2 / n)
        half = _Z / (1 + z2 / n) * sqrt(self.value * (1 - self.value) / n + z2 / (4 * n * n))
        return max(0.0, min(middle - half, self.value)), min(1.0, max(middle + half, self.value))  # rounding apart


def draw_kept(output: StageOutput, number: int = SAMPLE) -> list[dict[str, Any]]:
    """Return a random sample of an output's captions: key, alt, caption, page_url, image_sha256, media.

    Each record has its own draw, so a record that is added or removed changes one place at most. One shard is in memory.
    """
    rows: list[tuple[str, dict[str, Any]]] = []
    for shard in output.shards:
        keys = shard.read(["key"])["key"].to_pylist()
        drawn = nsmallest(number, ((_draw(key), at) for at, key in enumerate(keys)))
        table = shard.read(_SHOWN).take([at for _, at in drawn]).to_pylist()
        rows = nsmallest(number, [*rows, *zip((value for value, _ in drawn), table, strict=True)], key=lambda each: each[0])
    return [row for _, row in rows]


def _draw(key: str) -> str:
    return sha256_bytes(f"kept caption {key}".encode())


def verdicts_path(root: Path, dataset: str) -> Path:
    """Return the file of a dataset's verdicts."""
    return root / "ratings" / FOLDER / f"{dataset}.csv"


def read_verdicts(path: Path) -> dict[tuple[str, str], bool]:
    """Return (key, sha256 of the caption) → whether it is right; none if there is no file.

    Raises:
        HearsightError: the file is not a table of verdicts.
    """
    if not path.exists():
        return {}
    verdicts: dict[tuple[str, str], bool] = {}
    rows = csv.reader(io.StringIO(decode_text(path.read_bytes(), "replace")))
    for number, row in enumerate(rows, 1):
        known = tuple(row) == _COLUMNS if number == 1 else len(row) == len(_COLUMNS) and row[-1] in (_GOOD, _WRONG)
        if not known:
            hint = f"write {','.join(_COLUMNS)}, with the verdict {_GOOD} or {_WRONG}, or restore the file with git"
            raise HearsightError("is no verdict on a kept caption", where=f"{path}:{number}", hint=hint)
        if number > 1:
            verdicts[row[0], row[1]] = row[-1] == _GOOD
    return verdicts


def judge(rows: Sequence[Mapping[str, Any]], wrong: Iterable[int], path: Path) -> None:
    """Write the verdicts on all ``rows`` into the file: ``wrong`` has the numbers of the wrong ones, from 1. Others stay.

    Raises:
        HearsightError: a number is not that of a row; or as :func:`read_verdicts`.
    """
    numbers = set(wrong)
    if unknown := sorted(numbers - set(range(1, len(rows) + 1))):
        raise HearsightError(f"there is no caption {unknown[0]}", where="--wrong", hint=f"give numbers from 1 to {len(rows)}")
    verdicts = read_verdicts(path) | {_identity(row): number not in numbers for number, row in enumerate(rows, 1)}
    lines = sorted((key, caption, _GOOD if good else _WRONG) for (key, caption), good in verdicts.items())
    publish_bytes(path, csv_text(_COLUMNS, lines).encode())


def with_verdicts(rows: Sequence[Mapping[str, Any]], verdicts: Mapping[tuple[str, str], bool]) -> list[bool | None]:
    """Return for each row whether its caption was judged right; None if it was not judged."""
    return [verdicts.get(_identity(row)) for row in rows]


def precision_of(verdicts: Iterable[bool | None]) -> Precision | None:
    """Return the precision of judged captions; None if none was judged."""
    judged = [verdict for verdict in verdicts if verdict is not None]
    return Precision(sum(judged), len(judged)) if judged else None


def _identity(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["key"], sha256_bytes(row["caption"].encode())
