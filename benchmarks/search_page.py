"""The path of a search after the query is encoded, over 100,000 items of 256 numbers: ``python -m benchmarks.search_page``.

What the page and the command do: filters, the exact search of each kind, and the records of the results. Vectors and items are
synthetic; a third of the items are images, each with two spoken captions. Printed are the median and the 95th
percentile of 100 searches by the clock, and their median CPU time.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from components.core.records import SEARCH_ITEM
from components.search.index import SearchIndex, build_index
from components.search.searcher import Searcher

DIMENSION = 256
SEARCHES = 100


def items(count: int) -> pa.Table:
    """Synthetic records as in a real index: every image, then every utterance, two of each image."""
    images = count // 3
    rows = []
    for number in range(count):
        place, spoken = (number, 0) if number < images else ((number - images) // 2 % images, 1 + (number - images) % 2)
        languages = [("fr", "es")[spoken - 1]] if spoken else ["fr", "es"]
        captions = [{"language": each, "caption": f"caption {place} in {each}"} for each in languages]
        rows.append(
            {
                "key": f"{number:016x}", "kind": "speech" if spoken else "image", "image_sha256": f"{place:064x}",
                "caption": captions[0]["caption"], "captions": captions, "languages": languages,
                "splits": ["train"], "origin": "human" if spoken else "", "voice": "v" if spoken else "", "seconds": 1.0,
                "audio_sha256": "", "media": f"00000/{number}.flac" if spoken else "", "thumbnail": "",
            }
        )  # fmt: skip
    return pa.Table.from_pylist(rows, schema=SEARCH_ITEM)


def measure(search: Callable[[np.ndarray], object], queries: np.ndarray) -> str:
    """Return median and 95th percentile by the clock, and the median CPU time, in ms."""
    search(queries[0])  # maps the pages
    times, spent = [], []
    for query in queries:
        start, cpu = time.perf_counter(), time.process_time()
        search(query)
        times.append(1000 * (time.perf_counter() - start))
        spent.append(1000 * (time.process_time() - cpu))
    return f"{statistics.median(times):6.1f} {np.percentile(times, 95):6.1f} {statistics.median(spent):6.1f}"


def main() -> None:
    """Build the index and print a line for each kind of search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    count = parser.parse_args().items
    draw = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        vectors = draw.standard_normal((count, DIMENSION), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        build_index(Path(folder), vectors, items(count), "0" * 64)
        searcher = Searcher(Path(folder), SearchIndex.open(Path(folder)), {})
        queries = draw.standard_normal((SEARCHES, DIMENSION), dtype=np.float32)
        print(f"{count:,} items of {DIMENSION} numbers; ms        median    p95    CPU")
        for name, options in (("both kinds", {}), ("one language", {"language": "es"})):
            print(f"{name:<40} {measure(lambda query, options=options: searcher.find(query, 5, **options), queries)}")


if __name__ == "__main__":
    main()
