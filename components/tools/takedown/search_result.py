"""What the search of one file found.

A **hit** has to be deleted. A **mention** is a listed name inside someone else's page, caption or address: it belongs to a
record that stays, so it is counted and kept. Text in a ledger is one or the other, depending on the stage that wrote it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class SearchResult:
    """The hits and mentions of one file."""

    hits: dict[str, int] = field(default_factory=dict)
    """Part of the file → number of hits."""
    mentions: int = 0
    bytes: int = 0
    """Size of the file."""

    def add_hit(self, part: str, count: int = 1) -> None:
        """Count hits in a part of the file."""
        self.hits[part] = self.hits.get(part, 0) + count


def may_hold_crawl_addresses(path: Path) -> bool:
    """Return whether a ledger at a path relative to the project may hold record addresses: false for later stages' files."""
    match path.parts:
        case ("data", _, stage, _, *_):
            return stage == "crawl"
        case (".hearsight", "cache", step, _, *_):
            return step.partition(".")[0] == "crawl"
        case (".hearsight", "work", _, stage, *_):
            return stage == "crawl"
    return True
