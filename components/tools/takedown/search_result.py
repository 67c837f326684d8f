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
    in_ledger: dict[str, int] = field(default_factory=dict)
    """The same for a ledger's text columns, until :meth:`resolve_ledger_text` decides between hits and mentions."""
    mentions: int = 0
    bytes: int = 0
    """Size of the file."""

    def add_hit(self, part: str, count: int = 1) -> None:
        """Count hits in a part of the file."""
        self.hits[part] = self.hits.get(part, 0) + count

    def resolve_ledger_text(self, is_crawl: bool) -> SearchResult:
        """Count matches in a ledger's text columns as hits in the crawl's ledger, as mentions in others; return self."""
        for part, count in self.in_ledger.items():
            if is_crawl:
                self.add_hit(part, count)
            else:
                self.mentions += count
        self.in_ledger = {}
        return self


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
