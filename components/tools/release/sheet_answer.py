"""An answer of a datasheet, and the data that answers are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from components.tools.release.post_facts import PostFacts
from components.tools.release.publisher import Publisher


@dataclass
class Answer:
    """Paragraphs, then a table whose first row is the head."""

    paragraphs: list[str] = field(default_factory=list)
    table: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class SheetData:
    """The data that answers are made from."""

    dataset: str
    facts: PostFacts
    settings: Mapping[str, Mapping[str, Any]]
    publisher: Publisher
    mask_mentions: bool
    software: str


def share(part: float, whole: float) -> str:
    """Return a share in per cent, or "none" when ``whole`` is 0."""
    return f"{part / whole:.1%}" if whole else "none"
