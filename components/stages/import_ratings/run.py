"""Run import_ratings: read the files, refuse names, and keep each rater's last rating of each item."""

from __future__ import annotations

import logging
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from components.core.digests import digest_value, sha256_bytes
from components.core.errors import HearsightError
from components.execution.stage import Stage
from components.ratings.formats import csv
from components.ratings.formats.readings import BY_MODEL, PSEUDONYM
from components.ratings.joining import UNKNOWN, join_ratings

FOLDER = "ratings"
"""The folder of the files, in the project; one folder a dataset."""
SHARD = 250_000
"""Ratings of a shard."""
log = logging.getLogger(__name__)


def run(stage: Stage) -> None:
    """Write the ratings in shards; metrics: ratings by file format, raters, and what was left out."""
    items = stage.inputs["input"]
    folder = stage.project / FOLDER / stage.dataset
    files: list[tuple[str, pa.Table]] = []
    digests: list[tuple[str, str]] = []
    for path in rating_files(folder):
        data = _read(path)
        ratings = csv.read(data, str(path))
        require_pseudonyms(ratings, path)
        files.append((path.name, ratings))
        digests.append((path.name, sha256_bytes(data)))
    ratings, ledger = join_ratings(files, items.table(["key", "crop", "raters", "uses"]))
    left_out = pc.value_counts(ledger["rule"].filter(pc.not_equal(ledger["rule"], ""))).to_pylist()
    counts = {row["values"]: row["counts"] for row in left_out}
    _require_some(ratings, counts, items.name, folder)
    _write(stage, ratings, ledger)
    stage.note_parent("ratings", digest_value(digests))
    people = ratings.filter(pc.not_equal(ratings["source"], BY_MODEL))
    stage.metric("ratings", people.num_rows)
    stage.metric("raters", pc.count_distinct(people["rater"]).as_py())
    stage.metric("items_rated", pc.count_distinct(people["item"]).as_py())
    if by_models := ratings.num_rows - people.num_rows:
        stage.metric("ratings_by_models", by_models)
    for rule, number in sorted(counts.items()):
        stage.metric(f"left_out_{rule}", number)


def rating_files(folder: Path) -> list[Path]:
    """Return the files of a folder of ratings by name; hidden ones are left out.

    Raises:
        HearsightError: there is none.
    """
    paths = sorted(path for path in folder.glob("*") if path.is_file() and not path.name.startswith("."))
    if not paths:
        hint = f"rate items and run `hearsight ratings export --dataset {folder.name}`, or put a file of ratings there"
        raise HearsightError("holds no file of ratings", where=folder, hint=hint)
    return paths


def require_pseudonyms(ratings: pa.Table, path: Path) -> None:
    """Raise HearsightError for a rater with a space or an @; the message does not repeat the name."""
    first = pc.index(pc.match_substring_regex(ratings["rater"], PSEUDONYM), False).as_py()
    if first >= 0:
        what = f"rating {first + 1} (row {ratings['row'][first]}) names its rater by name or e-mail"
        hint = f"move the file elsewhere and run `hearsight ratings import FILE --dataset {path.parent.name}`"
        raise HearsightError(what, where=path, hint=hint)


def _require_some(ratings: pa.Table, counts: dict[str, int], items: str, folder: Path) -> None:
    unknown = counts.get(UNKNOWN, 0)
    if not ratings.num_rows:
        what = f"holds no rating of an item of {items} ({', '.join(f'{rule} {n:,}' for rule, n in sorted(counts.items()))})"
        raise HearsightError(what, where=folder, hint="were other items rated? import the ratings of these")
    if unknown:
        log.warning("import_ratings: %s: %s ratings are of items that %s does not hold", folder.name, f"{unknown:,}", items)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise HearsightError(f"cannot be read ({error.strerror})", where=path, hint="fix its permissions") from None


def _write(stage: Stage, ratings: pa.Table, ledger: pa.Table) -> None:
    """Write shards; the ledger has the kept ratings first and in the same order, and its other rows are in the first shard."""
    kept, others = ledger.slice(0, ratings.num_rows), ledger.slice(ratings.num_rows)
    for number, start in enumerate(range(0, ratings.num_rows, SHARD)):
        rows = kept.slice(start, SHARD)
        rows = pa.concat_tables([rows, others]) if number == 0 else rows
        stage.write_shard(f"{number:05d}", ratings.slice(start, SHARD), rows.combine_chunks())
