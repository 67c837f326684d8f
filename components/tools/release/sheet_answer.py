"""What an answer of a datasheet is, and all it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from components.tools.release.post_facts import PostFacts
from components.tools.release.publisher import Publisher


@dataclass
class Answer:
    """Paragraphs, then a table: its first row is the head."""

    paragraphs: list[str] = field(default_factory=list)
    table: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class Told:
    """All that answers are made of."""

    dataset: str
    facts: PostFacts
    settings: Mapping[str, Mapping[str, Any]]
    publisher: Publisher
    mask_mentions: bool
    software: str


def share(part: float, whole: float) -> str:
    """A share in per cent; of nothing, none."""
    return f"{part / whole:.1%}" if whole else "none"
