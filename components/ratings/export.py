"""Export of a running rating to the CSV that the stage ``import_ratings`` reads: no names, only random identifiers."""

from __future__ import annotations

import csv
from pathlib import Path

from components.core.csv_text import csv_text
from components.core.errors import HearsightError
from components.core.files import publish
from components.ratings.formats.csv import COLUMNS
from components.ratings.items import RatingItems
from components.ratings.store import RatingStore

SOURCE = "hearsight"


def export_path(root: Path, dataset: str) -> Path:
    """Return the file of a dataset's ratings by this application."""
    return root / "ratings" / dataset / f"{SOURCE}.csv"


def export_ratings(store: RatingStore, dataset: str, items: RatingItems, path: Path) -> int:
    """Write the valid ratings of these items atomically, and return how many there are.

    A rating is the last verdict of one rater on one item that was not undone. Query, candidate and rank are those of the item's
    first use. The order is that of rating, so the file grows at its end.

    Raises:
        HearsightError: there is no rating, or the file holds something else, which would be lost: those of another database.
    """
    if unknown := _raters_in(path) - store.raters(dataset):
        what = f"holds ratings of {len(unknown)} raters that are not in this database"
        raise HearsightError(what, where=path, hint="rename the file, which is imported all the same, and export again")
    uses = dict(zip(items.keys, items.column("uses"), strict=True))
    rows = []
    for rating in store.final_ratings(dataset):
        if (key := rating["item"]) in uses:
            use = uses[key][0] if uses[key] else {"query": "", "candidate": "", "rank": 0}
            place = (use["query"], use["candidate"], use["rank"])
            rows.append((key, *place, rating["rater"], rating["verdict"], rating["time"], f"{rating['seconds']:.2f}", SOURCE))
    if not rows:
        raise HearsightError(
            "there is no rating to export", where=dataset, hint=f"run `hearsight rate -d {dataset}`, or invite raters"
        )

    def write(temporary: Path) -> None:
        temporary.write_bytes(csv_text(COLUMNS, rows).encode())
        store.note_export(dataset, len(rows))  # where this fails, no file is left

    publish(path, write)
    return len(rows)


def _raters_in(path: Path) -> set[str]:
    if not path.exists():
        return set()
    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            return {row["rater"] for row in csv.DictReader(file)}
    except (KeyError, csv.Error, IsADirectoryError):
        raise HearsightError("is no export of ratings", where=path, hint="rename it, and export again") from None
