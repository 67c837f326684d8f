"""``reports/days/<dataset>.jsonl``: a line of counts for each snapshot, in the order in which they were first measured.

Lines hold counts only: no text, address or name of an owner. DVC keeps the file before a run (``persist``), and a stage replaces
it at once, so a killed or repeated run leaves either the old line or the new one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from components.core.digests import canonical_json
from components.core.errors import HearsightError
from components.core.files import publish_bytes

SCHEMA = 1


@dataclass(frozen=True)
class Family:
    """Counts of one subject: how many there are in all, and of these by label."""

    of: int = 0
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Day:
    """The counts of one snapshot."""

    snapshot: str
    base: str
    settings: str
    """Digest of the crawl's settings."""
    last: str
    """The last shard of the crawl."""
    new: bool
    """Whether records are those that the base lacks; otherwise all."""
    families: dict[str, Family]
    """``<group>/<subject>`` → counts."""

    def plain(self) -> dict[str, Any]:
        """Return the JSON object of its line."""
        return {"schema": SCHEMA, **asdict(self)}


def history_path(root: Path, dataset: str) -> Path:
    """Return the history of a dataset."""
    return root / "reports" / "days" / f"{dataset}.jsonl"


def read_history(path: Path) -> list[Day]:
    """Return the lines of a history; none without the file.

    Raises:
        HearsightError: a line is damaged, of another version, or repeats a snapshot (two branches were merged).
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    days: list[Day] = []
    for number, line in enumerate(lines, 1):
        try:
            content = json.loads(line)
            if content.pop("schema") != SCHEMA:
                raise ValueError("another version")
            content["families"] = {name: Family(**family) for name, family in content["families"].items()}
            days.append(Day(**content))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise HearsightError(
                f"is not the line of a day ({error})", where=f"{path}:{number}", hint="restore the file with git"
            ) from None
    names = [day.snapshot for day in days]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise HearsightError(f"has two lines of '{min(repeated)}'", where=path, hint="keep one of them")
    return days


def before(history: Sequence[Day], snapshot: str) -> list[Day]:
    """Return the lines above that of ``snapshot``; all lines if it has none."""
    names = [day.snapshot for day in history]
    return list(history[: names.index(snapshot)] if snapshot in names else history)


def comparable(past: Sequence[Day], today: Day, since: str = "") -> list[Day]:
    """Return the days that a day can be compared with: of its kind, new records or all, and from the snapshot ``since`` on.

    Raises:
        HearsightError: neither a line nor the day itself has the name ``since``.
    """
    names = [day.snapshot for day in [*past, today]]
    if since and since not in names:
        raise HearsightError(f"there is no day '{since}'", where="drift.since", hint=f"name a snapshot, as {names[-1]}, or none")
    return [day for day in past[names.index(since) if since else 0 :] if day.new == today.new]


def write_history(path: Path, history: Sequence[Day], day: Day) -> None:
    """Replace the line of a day, or append it."""
    days = [day if known.snapshot == day.snapshot else known for known in history]
    if day not in days:
        days.append(day)
    publish_bytes(path, "".join(canonical_json(each.plain()) + "\n" for each in days).encode())
