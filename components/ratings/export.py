"""Export of a running rating to the CSV that the stage ``import_ratings`` reads: no names, only random identifiers."""

from __future__ import annotations

from pathlib import Path

from components.core.csv_text import csv_text
from components.core.files import publish_bytes
from components.ratings.items import RatingItems
from components.ratings.store import RatingStore

COLUMNS = ("item", "query", "candidate", "rank", "rater", "verdict", "time", "seconds", "source")
SOURCE = "hearsight"


def export_path(root: Path, dataset: str) -> Path:
    """Return the file of a dataset's ratings by this application."""
    return root / "ratings" / dataset / f"{SOURCE}.csv"


def export_ratings(store: RatingStore, dataset: str, items: RatingItems, path: Path) -> int:
    """Write the valid ratings of these items atomically, and return how many there are.

    A rating is the last verdict of one rater on one item that was not undone. Query, candidate and rank are those of the item's
    first use. The order is that of rating, so the file grows at its end.
    """
    uses = dict(zip(items.keys, items.column("uses"), strict=True))
    rows = []
    for rating in store.final_ratings(dataset):
        if (key := rating["item"]) in uses:
            use = uses[key][0] if uses[key] else {"query": "", "candidate": "", "rank": 0}
            place = (use["query"], use["candidate"], use["rank"])
            rows.append((key, *place, rating["rater"], rating["verdict"], rating["time"], f"{rating['seconds']:.2f}", SOURCE))
    path.parent.mkdir(parents=True, exist_ok=True)
    publish_bytes(path, csv_text(COLUMNS, rows).encode())
    store.note_export(dataset, len(rows))
    return len(rows)
