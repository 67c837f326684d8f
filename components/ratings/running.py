"""Running ratings of a project: their database, which datasets have items, the campaign that follows them, and their export."""

from __future__ import annotations

import csv
import os
from pathlib import Path

from components.core.errors import HearsightError
from components.core.files import keep_private, publish, write_private
from components.core.text_encoding import csv_text
from components.ratings.formats.csv import COLUMNS
from components.ratings.items import STAGE, RatingItems
from components.ratings.store import RatingStore

ADDRESS = "HEARSIGHT_RATINGS_DB"
"""Environment variable with the URL of the database; without it, SQLite in :data:`FILE`."""
FILE = Path(".hearsight") / "ratings" / "ratings.sqlite"


def database_url(root: Path) -> str:
    """Return the URL of the database of a project's running ratings, and make the folder of the default one."""
    if url := os.environ.get(ADDRESS):
        return url
    (root / FILE).parent.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{root / FILE}"


def items_folder(root: Path, dataset: str) -> Path:
    """Return the folder of a dataset's rating items."""
    return root / "data" / dataset / STAGE


def datasets_with_items(root: Path) -> list[str]:
    """Return the datasets of a project with a finished output of ``build_rating_items``."""
    return sorted(path.parent.parent.name for path in (root / "data").glob(f"*/{STAGE}/manifest.json"))


def open_items(root: Path, dataset: str) -> RatingItems:
    """Return a dataset's rating items.

    Raises:
        HearsightError: the dataset has no finished ones.
    """
    known = datasets_with_items(root)  # a name from a form or a command is no path: only these are opened
    if dataset not in known:
        hint = f"run `dvc repro {STAGE}@{dataset}`" + (f", or name one of {', '.join(known)}" if known else "")
        raise HearsightError("has no rating items", where=dataset, hint=hint)
    return RatingItems.open(items_folder(root, dataset))


def follow(store: RatingStore, dataset: str, items: RatingItems) -> dict[str, int]:
    """Open the dataset's campaign with these items, or replace its items by them; see :meth:`RatingStore.open_campaign`."""
    wanted = dict(zip(items.keys, items.column("raters"), strict=True))
    return store.open_campaign(dataset, items.digest, wanted)


def own_rater(root: Path, store: RatingStore, dataset: str) -> str:
    """Return who the owner is as a rater; a new rater at the first time."""
    path = root / FILE.with_name(f"{dataset}.rater")
    keep_private(path)
    rater = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    if rater not in store.raters(dataset, invited=True):
        rater = store.invite(dataset)[0]
        write_private(path, f"{rater}\n".encode())
    return rater


SOURCE = "hearsight"


def export_path(root: Path, dataset: str) -> Path:
    """Return the file of a dataset's ratings by this application."""
    return root / "ratings" / dataset / f"{SOURCE}.csv"


def export_ratings(store: RatingStore, dataset: str, items: RatingItems, path: Path) -> int:
    """Write the valid ratings of these items atomically as the CSV that ``import_ratings`` reads; return how many there are.

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
        raise HearsightError("there is no rating to export", where=dataset, hint="rate in `hearsight app`, or invite raters")

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
