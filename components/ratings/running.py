"""Running ratings of a project: their database, which datasets have items, and the campaign that follows them."""

from __future__ import annotations

import os
from pathlib import Path

from components.core.errors import HearsightError
from components.core.private import keep_private, write_private
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
    """Return who the owner is as a rater, in the terminal and in the application; a new rater at the first time."""
    path = root / FILE.with_name(f"{dataset}.rater")
    keep_private(path)
    rater = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    if rater not in store.raters(dataset, invited=True):
        rater = store.invite(dataset)[0]
        write_private(path, f"{rater}\n".encode())
    return rater
