"""What is shown, the places of tables that it fills, and merging: one item per distinct pair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from components.ratings.items import item_key

TABLES = ("dataset", "model", "retrieval", "truth")
"""The order of an item's uses: the first names its query."""


class Shown(NamedTuple):
    """What a rater sees or hears."""

    image_sha256: str
    crop: str
    caption: str
    language: str
    audio_sha256: str = ""
    audio: str = ""
    """Place of the speech in the output of ``speech``; empty where the text is shown."""

    @property
    def key(self) -> str:
        """The item's key."""
        return item_key(self.image_sha256, self.crop, self.caption, self.audio_sha256)


class Use(NamedTuple):
    """A place of a table, as in RATING_USES."""

    table: str
    source: str
    direction: str
    query: str
    candidate: str
    rank: int
    known: bool


@dataclass(frozen=True)
class Place:
    """A place of a table, and what is shown for it; or why nothing is."""

    use: Use
    ledger_key: str
    raters: int
    shown: Shown | None
    rule: str = ""
    """Rule of the ledger by which nothing is shown."""


@dataclass
class Item:
    """A pair that is rated."""

    shown: Shown
    raters: int = 0
    uses: set[Use] = field(default_factory=set)

    def record(self, image: str, audio: str) -> dict[str, Any]:
        """Return the RATING_ITEM record with the places of its media in this output."""
        uses = sorted(self.uses, key=lambda use: (TABLES.index(use.table), *use[1:]))
        shown = {name: value for name, value in self.shown._asdict().items() if name != "audio"}
        media = {"image": image, "audio": audio}
        return {"key": self.shown.key, **shown, **media, "raters": self.raters, "uses": [use._asdict() for use in uses]}


def merge(places: Iterable[Place]) -> dict[str, Item]:
    """Return key → item of what is shown at the places: the uses of equal pairs together, and the most raters of any."""
    items: dict[str, Item] = {}
    # Sorted, since of texts heard in equal speech, or of languages of equal texts, the first is kept.
    for use, shown, raters in sorted((place.use, place.shown, place.raters) for place in places if place.shown is not None):
        item = items.setdefault(shown.key, Item(shown))
        item.raters = max(item.raters, raters)
        item.uses.add(use)
    return items
