"""The approximate index: an HNSW graph of the usearch library beside the exact index, stored with its measured recall.

The graph finds candidates; their scores and order are exact.

| file | content |
|---|---|
| ``approximate.usearch`` | the graph, as usearch saves it; memory-mapped |
| ``approximate.json`` | version, settings, digests of the graph and of its embeddings, recall; written last |
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from components.core.errors import HearsightError
from components.core.files import publish, publish_bytes
from components.core.machine import usable_cores
from components.core.progress import progress as progress_bar
from components.search import files
from components.search.graph import GraphSettings, empty_graph, extend_to_unit_norm, graph_library
from components.search.index import SearchIndex, check_count, check_queries, drop_excluded
from components.search.products import exact_products, norms_above

__all__ = ["ApproximateContents", "ApproximateIndex", "GraphSettings"]

VERSION = 1
GRAPH, DESCRIPTION = "approximate.usearch", "approximate.json"
REBUILD_HINT = "build the approximate index again, or search exactly"
QUERIES_AT_ONCE = 1024


@dataclass(frozen=True)
class ApproximateContents:
    """Content of ``approximate.json``; ``recall`` has the number of queries, their source, and recall by k."""

    embeddings: str
    graph: dict[str, Any]
    settings: dict[str, Any]
    recall: dict[str, Any] = field(default_factory=dict)
    library: str = ""
    version: int = VERSION


@dataclass(frozen=True)
class ApproximateIndex:
    """A graph over an opened exact index.

    Attributes:
        scale: the largest norm of the embeddings.
    """

    index: SearchIndex
    contents: ApproximateContents
    graph: Any
    scale: float

    @classmethod
    def build(
        cls,
        index: SearchIndex,
        settings: GraphSettings | None = None,
        *,
        queries: ArrayLike | None = None,
        threads: int | None = None,
        progress: bool = False,
    ) -> ApproximateIndex:
        """Build the graph beside the exact index and measure its recall.

        Args:
            queries: q × D, to measure recall; None: rows drawn from the index, each excluding itself.
            threads: number of cores; with 1 the graph is deterministic.

        Raises:
            HearsightError: the extra ``ann`` is not installed, or the disk is full.
        """
        chosen = settings or GraphSettings()
        library = graph_library()
        graph = empty_graph(library, index.dimension, chosen)
        scale = float(index.norms.max()) or 1.0
        starts = range(0, len(index), files.ROWS_AT_ONCE)
        for start in progress_bar(starts, desc="building the graph") if progress else starts:
            block = index.embeddings[start : start + files.ROWS_AT_ONCE]
            graph.add(np.arange(start, start + len(block)), extend_to_unit_norm(block, scale), threads=threads or usable_cores())
        (index.folder / DESCRIPTION).unlink(missing_ok=True)
        publish(index.folder / GRAPH, lambda path: graph.save(str(path)))
        contents = ApproximateContents(
            index.contents.files[files.EMBEDDINGS]["sha256"],
            files.describe(index.folder / GRAPH),
            asdict(chosen) | {"recall_at": list(chosen.recall_at)},
            library=f"usearch {library.__version__}",
        )
        unmeasured = cls(index, contents, graph, scale)
        recall = unmeasured.recall_at(chosen.recall_at, queries, threads=threads, progress=progress)
        contents = replace(contents, recall=recall)
        text = json.dumps(asdict(contents), indent=1, sort_keys=True) + "\n"
        publish_bytes(index.folder / DESCRIPTION, text.encode())
        return cls(index, contents, graph, scale)

    @classmethod
    def open(cls, index: SearchIndex, *, verify: bool = True) -> ApproximateIndex:
        """Open the graph beside ``index``, memory-mapped.

        Raises:
            HearsightError: the graph is missing, damaged or of other embeddings, or the extra ``ann`` is not installed.
        """
        library = graph_library()
        path = index.folder / DESCRIPTION
        try:
            values = json.loads(path.read_bytes())
            contents = ApproximateContents(**values)
            settings = GraphSettings(**contents.settings | {"recall_at": tuple(contents.settings["recall_at"])})
        except FileNotFoundError:
            raise HearsightError("has no approximate index", where=index.folder, hint="build one, or search exactly") from None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise HearsightError("is damaged: not readable as a description", where=path, hint=REBUILD_HINT) from error
        if contents.version != VERSION:
            raise HearsightError(f"has version {contents.version}, not {VERSION}", where=path, hint=REBUILD_HINT)
        if contents.embeddings != index.contents.files[files.EMBEDDINGS]["sha256"]:
            raise HearsightError("is an approximate index of other embeddings", where=path, hint=REBUILD_HINT)
        files.require_whole(index.folder / GRAPH, contents.graph, verify=verify)
        graph = empty_graph(library, index.dimension, settings)
        try:
            graph.view(str(index.folder / GRAPH))
        except RuntimeError as error:
            raise HearsightError("is damaged: not readable as a graph", where=index.folder / GRAPH, hint=REBUILD_HINT) from error
        return cls(index, contents, graph, float(index.norms.max()) or 1.0)

    def search(
        self, queries: ArrayLike, k: int, *, exclude: ArrayLike | None = None, threads: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return rows and scores as :meth:`SearchIndex.search`, among the rows that the graph finds.

        Scores are exact, ties are in the order of the rows; rows may be missed.

        Args:
            queries: q × D.
            k: rows a query; if the graph finds fewer, the rest is −1 and −∞.
            exclude: q × m, rows that each query must not find (−1: none).
            threads: number of cores.

        Raises:
            HearsightError: as in the exact search. Filters are available in the exact index only, which is fast on few rows.
        """
        vectors = check_queries(queries, self.index.dimension, self.index.folder)
        excluded = np.full((len(vectors), 0), -1) if exclude is None else np.asarray(exclude)
        if excluded.ndim != 2 or len(excluded) != len(vectors) or excluded.dtype.kind not in "iu":
            raise HearsightError(
                f"rows to exclude have the shape {excluded.shape}", where="the filter", hint="give a list of row numbers a query"
            )
        count = min(check_count(k), len(self.index))
        candidates = min(len(self.index), max(count + excluded.shape[1], count * int(self.contents.settings["spare"])))
        parts = [slice(start, start + QUERIES_AT_ONCE) for start in range(0, len(vectors), QUERIES_AT_ONCE)]
        results = [self._search(vectors[part], candidates, threads or usable_cores()) for part in parts]
        rows, scores = (
            (np.concatenate([result[side] for result in results]) for side in (0, 1))
            if results
            else (np.empty((0, candidates), np.int64), np.empty((0, candidates)))
        )
        return drop_excluded(rows, scores, excluded, count)

    def recall_at(
        self,
        ks: Sequence[int],
        queries: ArrayLike | None = None,
        *,
        threads: int | None = None,
        progress: bool = False,
    ) -> dict[str, Any]:
        """Return for each k (up to the index's size) the share of the exact k best that the graph finds, averaged over queries.

        A row counts if its score is not below the k-th best: any of several rows that tie for the last place is right.

        Args:
            queries: q × D; None: rows drawn from the index, each excluding itself.
            threads: number of cores.

        Returns:
            ``queries`` (their number), ``of`` ("given" or "drawn"), and ``at``: k as text → recall.
        """
        settings, excluded = self.contents.settings, None
        if queries is None:
            generator = np.random.default_rng(int(settings["seed"]))
            drawn = np.sort(generator.choice(len(self.index), min(int(settings["draws"]), len(self.index)), replace=False))
            queries, excluded = self.index.embeddings[drawn], drawn[:, None]
        available = len(self.index) - (excluded is not None)
        possible = [k for k in ks if k <= available]
        at: dict[str, float] = {}
        if possible:
            _, best = self.index.search(queries, max(possible), exclude=excluded, threads=threads, progress=progress)
            for k in possible:
                _, scores = self.search(queries, k, exclude=excluded, threads=threads)
                at[str(k)] = float((scores >= best[:, k - 1 : k]).mean())
        return {"queries": len(np.asarray(queries)), "of": "given" if excluded is None else "drawn", "at": at}

    def _search(
        self, queries: NDArray[np.float32], candidates: int, threads: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the graph's candidates with exact scores, in order: rows (−1: none) and scores (−∞), q × ``candidates``."""
        norms = norms_above(queries)
        scaled = queries.astype(np.float64) / np.where(norms > 0, norms, 1)[:, None]
        unit_queries = np.concatenate([scaled, np.zeros((len(queries), 1))], axis=1).astype(np.float32)
        # usearch drops the first axis of a single query's result, so a single query is searched twice.
        matches = self.graph.search(
            np.concatenate([unit_queries, unit_queries]) if len(unit_queries) == 1 else unit_queries, candidates, threads=threads
        )
        counts, keys = np.asarray(matches.counts)[: len(unit_queries)], np.asarray(matches.keys)[: len(unit_queries)]
        valid = np.arange(candidates) < counts[:, None]
        query, column = np.nonzero(valid)
        row = keys[query, column].astype(np.int64)
        score = exact_products(queries, self.index.embeddings, query, row, query_norms=norms, norms=self.index.norms)
        rows, scores = np.full(valid.shape, -1, np.int64), np.full(valid.shape, -np.inf)
        order = np.lexsort((row, -score, query))
        rows[query, column], scores[query, column] = row[order], score[order]
        return rows, scores
