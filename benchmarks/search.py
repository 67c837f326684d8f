"""The exact search beside faiss's IndexFlatIP, and the approximate one beside the exact: ``python -m benchmarks.search``.

Input: unit vectors of 1,536 numbers, half drawn evenly, half in clusters, one in fifty a copy of an earlier one; queries the same
way, half of them near a stored vector. Both sides read the same file, stay loaded in processes of their own and are asked in
turns; a figure is the ratio of medians of the times by the clock, with a bootstrap interval over pairs of turns. ``--equal``
holds 20,000 of the vectors to brute force in float64; ``--approximate`` measures the graph.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.harness import PEERS, ROOT, WORK, environment
from components.search.index import SearchIndex, build_index, graph_file

DIMENSION = 1536
QUERIES = 1000
CENTRES = 2000
PIECE = 10_000


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each divided by its norm."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def noise(draw: np.random.Generator, rows: int, rank: int) -> NDArray[np.float32]:
    """Vectors of about norm 1, drawn evenly; with a rank, nine tenths of each in a subspace of so many dimensions."""
    found = draw.standard_normal((rows, DIMENSION), dtype=np.float32) / np.float32(math.sqrt(DIMENSION))
    if not rank:
        return found
    span = np.random.default_rng(3).standard_normal((rank, DIMENSION), dtype=np.float32) / np.float32(math.sqrt(DIMENSION))
    within = draw.standard_normal((rows, rank), dtype=np.float32) / np.float32(math.sqrt(rank))
    return np.float32(0.9) * (within @ span) + np.float32(0.1) * found


def vectors(rows: int, rank: int) -> Iterator[NDArray[np.float32]]:
    """The stored vectors, a piece at a time."""
    around = unit(noise(np.random.default_rng(0), CENTRES, rank))
    for number in range(0, rows, PIECE):
        draw = np.random.default_rng((1, number))
        piece = noise(draw, min(PIECE, rows - number), rank)
        piece[::2] = around[draw.integers(0, CENTRES, len(piece[::2]))] + piece[::2]
        copies = np.arange(25, len(piece), 50)
        piece[copies] = piece[draw.integers(0, 25, len(copies))]
        yield unit(piece)


def made(rows: int, rank: int = 0) -> tuple[Path, Path]:
    """The index and the queries, made once."""
    name = f"{rows}-rank-{rank}" if rank else str(rows)
    folder, asked = WORK / "search" / name, WORK / "search" / f"queries-{name}.npy"
    if not (folder / "index.json").exists():
        start = time.perf_counter()
        table = pa.table({"key": pa.array(range(rows)).cast(pa.string()), "kind": ["image", "speech"] * (rows // 2)})
        build_index(folder, vectors(rows, rank), table, "drawn")
        print(json.dumps({"what": "drawing and building", "rows": rows, "s": round(time.perf_counter() - start, 1)}), flush=True)
        stored = np.load(folder / "embeddings.npy", mmap_mode="r")
        draw = np.random.default_rng(2)
        drawn = noise(draw, QUERIES, rank)
        drawn[::2] = stored[np.sort(draw.integers(0, rows, QUERIES // 2))] + np.float32(0.5) * drawn[::2]
        np.save(asked, unit(drawn))
    return folder, asked


class Side:
    """A loaded process that is asked line by line."""

    def __init__(self, *command: Any) -> None:
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.ready = self._line()

    def ask(self, **what: Any) -> dict[str, float]:
        """One search."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return self._line()

    def _line(self) -> dict[str, float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args} ended")
        return dict(json.loads(line))

    def end(self) -> None:
        """Let it go, and its memory."""
        self.process.communicate()


def interval(ours: list[float], theirs: list[float]) -> list[float]:
    """The 95 % bootstrap interval of the ratio of medians, pairs of turns drawn together."""
    draw = np.random.default_rng(0).integers(0, len(ours), (2000, len(ours)))
    ratios = np.median(np.array(theirs)[draw], axis=1) / np.median(np.array(ours)[draw], axis=1)
    return [round(float(each), 3) for each in np.quantile(ratios, (0.025, 0.975))]


def beside(rows: int, count: int, k: int, threads: int, runs: int, sides: dict[str, Side]) -> None:
    """A JSON line: medians of both, their ratio and its interval, and our memory as a multiple of the matrix."""
    spent: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
    for number in range(-1, runs):
        order = list(sides)[:: 1 if number % 2 else -1]
        for name in order:
            first = (number + 1) % QUERIES if count == 1 else 0
            answer = sides[name].ask(first=first, count=count, k=k, threads=threads)
            # One query at first wakes threads and maps pages; a thousand take long enough to do without.
            if number >= 0:
                spent[name].append(answer)
            elif count > 1:
                break
    line: dict[str, Any] = {"rows": rows, "queries": count, "k": k, "threads": threads, "runs": runs}
    for clock in ("wall", "cpu"):
        ours, theirs = ([each[clock] for each in spent[name]] for name in ("ours", "faiss"))
        one, other = statistics.median(ours), statistics.median(theirs)
        line[clock] = {"ours s": round(one, 4), "faiss s": round(other, 4), "ratio": round(other / one, 3)}
        line[clock]["interval"] = interval(ours, theirs)
    line["ours' memory / matrix"] = round(spent["ours"][-1]["peak"] / (rows * DIMENSION * 4), 3)
    line["faiss's"] = round(spent["faiss"][-1]["peak"] / (rows * DIMENSION * 4), 3)
    print(json.dumps(line, ensure_ascii=False), flush=True)


def equal(rows: int, asked: int, k: int) -> None:
    """A JSON line: positions of ranks that differ from brute force, as defined and as float64 sums in a fixed order."""
    folder, queries = made(rows)
    index, wanted = SearchIndex.open(folder), np.load(queries)[:asked]
    found, scores = index.search(wanted, k)
    wide = index.embeddings.astype(np.float64)
    differing, defined, tied = 0, 0, 0
    for number, query in enumerate(wanted.astype(np.float64)):
        products = wide * query
        plain = np.add.reduce(products, axis=1)
        differing += int((np.lexsort((np.arange(rows), -plain))[:k] != found[number]).sum())
        if number < asked // 10:
            exact = np.array([math.fsum(row) for row in products.tolist()])
            order = np.lexsort((np.arange(rows), -exact))[:k]
            defined += int((order != found[number]).sum() + (exact[order] != scores[number]).sum())
        tied += int((np.diff(scores[number]) == 0).sum())
    print(
        json.dumps(
            {
                "what": "equal to brute force",
                "rows": rows,
                "queries": asked,
                "k": k,
                "ties among the found": tied,
                "ranks that differ from float64 sums in one order": differing,
                f"ranks or scores that differ from the definition ({asked // 10} queries)": defined,
            }
        ),
        flush=True,
    )


def approximate(rows: int, runs: int, rank: int) -> None:
    """A JSON line: the graph's size, time to build and search, and recall; the exact search's time beside it."""
    folder, queries = made(rows, rank)
    exact, wanted = SearchIndex.open(folder, verify=False), np.load(queries)
    wall, cpu = time.perf_counter(), time.process_time()
    build_index(folder.with_name(f"{folder.name}-graph"), exact.embeddings, exact.items, "drawn", approximate=True)
    index = SearchIndex.open(folder.with_name(f"{folder.name}-graph"), verify=False)
    line: dict[str, Any] = {"what": "approximate", "rows": rows, "rank": rank or DIMENSION}
    line["build s"], line["build CPU s"] = round(time.perf_counter() - wall, 1), round(time.process_time() - cpu, 1)
    line["graphs / matrix"] = round(
        sum((index.folder / graph_file(kind)).stat().st_size for kind in index.of_kind) / (rows * DIMENSION * 4), 3
    )
    images = index.of_kind["image"]
    best = exact.search(wanted, 100, images)[1]
    for name, part in (
        ("all 1,000 queries", slice(None)),
        ("near a stored one", slice(0, None, 2)),
        ("drawn evenly", slice(1, None, 2)),
    ):
        line[f"recall, {name}"] = {
            k: round(float(np.mean([
                (index.search_graph(query, k, "image")[1] >= scores[k - 1]).sum() / k
                for query, scores in zip(wanted[part], best[part], strict=True)
            ])), 4)
            for k in (1, 10, 100)
        }  # fmt: skip
    for k in (10, 100):
        times: dict[str, list[float]] = {"approximate": [], "exact": []}
        for number in range(-1, runs):
            query = wanted[number + 1]
            for name, search in (
                ("approximate", lambda query=query, k=k: index.search_graph(query, k, "image")),
                ("exact", lambda query=query, k=k: exact.search(query[None], k, images)),
            ):
                start = time.perf_counter()
                search()
                if number >= 0:
                    times[name].append(time.perf_counter() - start)
        line[f"one query, k {k}, ms"] = {name: round(statistics.median(each) * 1e3, 2) for name, each in times.items()}
    print(json.dumps(line), flush=True)


def main() -> None:
    """Print a line a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000, help="rows, an even number (a million: 6.1 GB, 14 GiB of memory)")
    parser.add_argument("--runs", type=int, default=5, help="turns with 1,000 queries; five times as many with one")
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--queries", type=int, nargs="+", default=[1, QUERIES], help="at most 1,000")
    parser.add_argument("--k", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--equal", action="store_true", help="only hold 20,000 vectors to brute force")
    parser.add_argument("--approximate", action="store_true", help="only the approximate index")
    parser.add_argument("--rank", type=int, default=0, help="with --approximate: vectors mostly of a subspace")
    options = parser.parse_args()
    if options.equal:
        return equal(20_000, 200, 100)
    if options.approximate:
        return approximate(options.size, 4 * options.runs, options.rank)
    folder, queries = made(options.size)
    peer = (environment("faiss"), PEERS / "faiss" / "run.py", folder / "embeddings.npy", queries)
    ours = (sys.executable, "-m", "benchmarks.search_ours", folder, queries)
    sides = {"ours": Side(*ours), "faiss": Side(*peer)}
    try:
        for count in options.queries:
            for threads in options.threads:
                for k in options.k:
                    beside(options.size, count, k, threads, options.runs * (5 if count == 1 else 1), sides)
    finally:
        for side in sides.values():
            side.end()


if __name__ == "__main__":
    main()
