"""Time from a million ratings to all tables: `python -m benchmarks.ratings [--ratings 1000000]`.

The ratings are drawn: items of the dataset, of four models and of ground truth, whole and cropped, and the results of two
retrieval models in both directions. Import and tables run as in the stages, in one process; reading of Parquet is included, pages
are not.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.harness import show
from components.core.records import RATING, RATING_ITEM
from components.core.shards import read_table, write_table
from components.ratings.formats import csv
from components.ratings.formats.readings import BAD, GOOD
from components.ratings.joining import join_ratings
from components.ratings.tables.estimates import Counting
from components.ratings.tables.recall import recall_rows
from components.ratings.tables.shares import share_rows
from components.ratings.tables.uses import all_uses, collect_votes

MODELS = ("english-rnn8x8-0", "english-t2t8x8-0", "cleaned-rnn8x8-0", "cleaned-t2t8x8-0")
ROWS = ("none-100-0", "both-100-0")


def drawn_items(ratings: int) -> pa.Table:
    """Return RATING_ITEM records that ask for about so many ratings: half for captions (3 each), half for retrieval (5 each)."""
    records, queries = ratings // 30, ratings // 100
    uses, raters = [], []
    for number in range(records):
        name = f"{number:016x}"
        uses += [[use("dataset", "english", name)], *([use("model", model, name)] for model in MODELS)]
        raters += [3] * (1 + len(MODELS))
    for number in range(queries):
        row, direction = ROWS[number % 2], ("speech_to_image", "image_to_speech")[number // 2 % 2]
        ranked = [use("retrieval", row, f"q{number}", direction, f"c{number}.{rank}", rank) for rank in range(1, 6)]
        uses += [[result] for result in ranked]
        raters += [5] * 5
    uses += [[use("truth", "english", f"{number:016x}")] for number in range(queries * 5)]
    raters += [5] * (queries * 5)
    count = len(uses)
    constant = {name: [""] * count for name in ("caption", "language", "audio_sha256", "image", "audio", "image_sha256")}
    columns = {
        "key": [f"{number:016x}" for number in range(count)],
        "crop": [("whole", "centre")[number % 2] for number in range(count)],
        "raters": raters,
        "uses": uses,
    } | constant
    return pa.table([pa.array(columns[field.name], field.type) for field in RATING_ITEM], schema=RATING_ITEM)


def use(table: str, source: str, query: str, direction: str = "", candidate: str = "", rank: int = 0) -> dict[str, object]:
    """Return one use."""
    place = {"table": table, "source": source, "direction": direction, "query": query, "candidate": candidate}
    return place | {"rank": rank, "known": rank == 1}


def drawn_ratings(items: pa.Table) -> pa.Table:
    """Return RATING records: all that the items ask for, of twenty raters."""
    asked = items["raters"].to_numpy()
    draw = np.random.default_rng(1)
    item = np.repeat(items["key"].to_numpy(zero_copy_only=False), asked)
    total = len(item)
    rater = (np.arange(total) - np.repeat(np.cumsum(asked) - asked, asked) + np.repeat(np.arange(len(asked)), asked)) % 20
    seconds = np.sort(draw.integers(0, 10**6, total)) + 56 * 365 * 86_400
    columns = {
        "key": item, "item": item, "query": [""] * total, "candidate": [""] * total, "rank": np.zeros(total, np.int32),
        "rater": [f"rater-{number}" for number in rater], "verdict": np.where(draw.random(total) < 0.7, GOOD, BAD),
        "time": [f"{time}Z" for time in np.datetime_as_string(seconds.astype("datetime64[s]"))],
        "seconds": draw.random(total).astype(np.float32) * 9,
        "source": ["csv"] * total,
    }  # fmt: skip
    return pa.table([pa.array(columns[field.name], field.type) for field in RATING], schema=RATING)


def main() -> None:
    """Print the seconds of each step."""
    parser = argparse.ArgumentParser(description="Time from a million ratings to all tables.")
    parser.add_argument("--ratings", type=int, default=1_000_000)
    items = drawn_items(parser.parse_args().ratings)
    ratings = drawn_ratings(items)
    text = csv.write(ratings)
    row: dict[str, float] = {"ratings": ratings.num_rows, "items": items.num_rows, "CSV, MB": round(len(text) / 1e6)}
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        read = csv.read(text, "ratings.csv")
        read_in = time.perf_counter()
        joined, _ = join_ratings([("ratings.csv", read)], items)
        merged = time.perf_counter()
        row |= {"read, s": round(read_in - started, 2), "join, s": round(merged - read_in, 2)}
        write_table(Path(folder) / "items.parquet", items)
        write_table(Path(folder) / "ratings.parquet", joined)
        started = time.perf_counter()
        items, joined = (read_table(Path(folder) / f"{name}.parquet") for name in ("items", "ratings"))
        votes, uses = collect_votes(items, joined), all_uses(items)
        rows = [*share_rows(votes, uses, Counting()), *recall_rows(votes, uses, Counting())]
        show(row | {"rows of tables": len(rows), "all tables, s": round(time.perf_counter() - started, 2)})


if __name__ == "__main__":
    main()
