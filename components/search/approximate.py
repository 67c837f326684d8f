"""The approximate index: a graph (HNSW) of the usearch library beside the exact index, its recall measured and kept with it.

The graph finds candidates; their scores, and so their order, are the exact ones.

| file | what |
|---|---|
| ``approximate.usearch`` | the graph, as usearch saves it: mapped into memory |
| ``approximate.json`` | version, settings, digests of the graph and of the embeddings it is of, recall; written last |
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from components.core.errors import HearsightError
from components.core.files import publish, publish_bytes
from components.core.progress import progress as shown
from components.search import files
from components.search.graph import GraphSettings, empty_graph, extend_to_unit_norm, graph_library
from components.search.index import SearchIndex, check_count, check_queries, drop_excluded
from components.search.products import exact_products, norms_above
from components.search.scan import usable_cores

__all__ = ["ApproximateContents", "ApproximateIndex", "GraphSettings"]

VERSION = 1
GRAPH, DESCRIPTION = "approximate.usearch", "approximate.json"
AGAIN = "build the approximate index again, or search exactly"
QUERIES_AT_ONCE = 1024


@dataclass(frozen=True)
class ApproximateContents:
    """What ``approximate.json`` says; ``recall`` has the queries' number, their source, and recall by k."""

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
        index: the exact index.
        contents: what ``approximate.json`` says.
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
        """Make the graph beside the exact index, and measure its recall.

        Args:
            index: the exact index, which is read once.
            settings: of the graph.
            queries: q × D, what recall is measured with; None: rows drawn from the index, each without itself.
            threads: cores to use; with 1 the same index gives the same graph.
            progress: show bars.

        Raises:
            HearsightError: the extra ``ann`` is not installed, or the disk is full.
        """
        chosen = settings or GraphSettings()
        library = graph_library()
        graph = empty_graph(library, index.dimension, chosen)
        scale = float(index.norms.max()) or 1.0
        starts = range(0, len(index), files.ROWS_AT_ONCE)
        for start in shown(starts, desc="building the graph") if progress else starts:
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
        if queries is None:
            recall = unmeasured.recall_at(chosen.recall_at, threads=threads, progress=progress)
        else:
            recall = unmeasured.recall_at(chosen.recall_at, queries, threads=threads, progress=progress)
        contents = ApproximateContents(**asdict(contents) | {"recall": recall})
        text = json.dumps(asdict(contents), indent=1, sort_keys=True) + "\n"
        publish_bytes(index.folder / DESCRIPTION, text.encode())
        return cls(index, contents, graph, scale)

    @classmethod
    def open(cls, index: SearchIndex, *, verify: bool = True) -> ApproximateIndex:
        """Open the graph beside ``index``, mapped into memory.

        Raises:
            HearsightError: there is none, it is damaged or of other embeddings, or the extra ``ann`` is not installed.
        """
        library = graph_library()
        path = index.folder / DESCRIPTION
        try:
            told = json.loads(path.read_bytes())
            contents = ApproximateContents(**told)
            settings = GraphSettings(**contents.settings | {"recall_at": tuple(contents.settings["recall_at"])})
        except FileNotFoundError:
            raise HearsightError("has no approximate index", where=index.folder, hint="build one, or search exactly") from None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise HearsightError("is damaged: it cannot be read as a description", where=path, hint=AGAIN) from error
        if contents.version != VERSION:
            raise HearsightError(f"is of version {contents.version}; this reads {VERSION}", where=path, hint=AGAIN)
        if contents.embeddings != index.contents.files[files.EMBEDDINGS]["sha256"]:
            raise HearsightError("is an approximate index of other embeddings", where=path, hint=AGAIN)
        files.require_whole(index.folder / GRAPH, contents.graph, verify=verify)
        graph = empty_graph(library, index.dimension, settings)
        try:
            graph.view(str(index.folder / GRAPH))
        except RuntimeError as error:
            raise HearsightError("is damaged: it cannot be read as a graph", where=index.folder / GRAPH, hint=AGAIN) from error
        return cls(index, contents, graph, float(index.norms.max()) or 1.0)

    def search(
        self, queries: ArrayLike, k: int, *, exclude: ArrayLike | None = None, threads: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """As :meth:`SearchIndex.search` among the rows the graph finds: exact scores, ties by the lower row; rows may be missed.

        Args:
            queries: q × D.
            k: how many rows a query; where the graph finds fewer, −1 and −∞ at the end.
            exclude: q × m, rows that each query must not find (−1: none).
            threads: cores to use.

        Raises:
            HearsightError: as for the exact search. Filters are the exact index's: among few rows it is fast by itself.
        """
        wanted = check_queries(queries, self.index.dimension, self.index.folder)
        own = np.full((len(wanted), 0), -1) if exclude is None else np.asarray(exclude)
        if own.ndim != 2 or len(own) != len(wanted) or own.dtype.kind not in "iu":
            raise HearsightError(
                f"rows to leave out as {own.shape}", where="the filter", hint="give a list of row numbers a query"
            )
        count = min(check_count(k), len(self.index))
        among = min(len(self.index), max(count + own.shape[1], count * int(self.contents.settings["spare"])))
        parts = [slice(start, start + QUERIES_AT_ONCE) for start in range(0, len(wanted), QUERIES_AT_ONCE)]
        found = [self._search(wanted[part], among, threads or usable_cores()) for part in parts]
        rows, scores = (
            (np.concatenate([each[side] for each in found]) for side in (0, 1))
            if found
            else (np.empty((0, among), np.int64), np.empty((0, among)))
        )
        return drop_excluded(rows, scores, own, count)

    def recall_at(
        self,
        ks: Sequence[int],
        queries: ArrayLike | None = None,
        *,
        threads: int | None = None,
        progress: bool = False,
    ) -> dict[str, Any]:
        """The share of the exact k best that the graph finds, for each k (that the index can give), as the mean over queries.

        A row counts when its score is not below the k-th best: any of several that tie for the last place will do.

        Args:
            ks: the numbers of rows.
            queries: q × D; None: rows drawn from the index, each without itself.
            threads: cores to use.
            progress: show a bar.

        Returns:
            ``queries`` (their number), ``of`` ("given" or "drawn"), and ``at``: k as text → recall.
        """
        settings, own = self.contents.settings, None
        if queries is None:
            draw = np.random.default_rng(int(settings["seed"]))
            drawn = np.sort(draw.choice(len(self.index), min(int(settings["draws"]), len(self.index)), replace=False))
            queries, own = self.index.embeddings[drawn], drawn[:, None]
        there = len(self.index) - (own is not None)
        wanted = [k for k in ks if k <= there]
        at: dict[str, float] = {}
        if wanted:
            _, best = self.index.search(queries, max(wanted), exclude=own, threads=threads, progress=progress)
            for k in wanted:
                _, scores = self.search(queries, k, exclude=own, threads=threads)
                at[str(k)] = float((scores >= best[:, k - 1 : k]).mean())
        return {"queries": len(np.asarray(queries)), "of": "given" if own is None else "drawn", "at": at}

    def _search(self, queries: NDArray[np.float32], among: int, threads: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The graph's candidates with exact scores, in order: rows (−1: none) and scores (−∞), q × ``among``."""
        norms = norms_above(queries)
        scaled = queries.astype(np.float64) / np.where(norms > 0, norms, 1)[:, None]
        asked = np.concatenate([scaled, np.zeros((len(queries), 1))], axis=1).astype(np.float32)
        # One query alone would come back without its first axis.
        found = self.graph.search(np.concatenate([asked, asked]) if len(asked) == 1 else asked, among, threads=threads)
        counts, keys = np.asarray(found.counts)[: len(asked)], np.asarray(found.keys)[: len(asked)]
        there = np.arange(among) < counts[:, None]
        query, place = np.nonzero(there)
        row = keys[query, place].astype(np.int64)
        score = exact_products(queries, self.index.embeddings, query, row, query_norms=norms, norms=self.index.norms)
        rows, scores = np.full(there.shape, -1, np.int64), np.full(there.shape, -np.inf)
        order = np.lexsort((row, -score, query))
        rows[query, place], scores[query, place] = row[order], score[order]
        return rows, scores
