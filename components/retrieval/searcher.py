"""A folder to search in: the index, the model that made it, small pictures. What ``hearsight search`` and the MLflow model open.

| in the folder | what |
|---|---|
| ``search.json`` | which model, which crop, which splits, and where the speech lies |
| ``index/`` | embeddings and INDEXED items (docs/search.md) |
| ``model/`` | ``weights.safetensors`` and ``config.json``, as they were trained |
| ``pictures/`` | a small JPEG of each picture, where ``prepare`` kept one |
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.retrieval.search_items import thumbnail_path
from components.search.files import EMBEDDINGS
from components.search.index import SearchIndex

if TYPE_CHECKING:
    import pyarrow as pa

    from components.retrieval.query_encoder import QueryEncoder

SEARCH, INDEX, MODEL, ABOUT = "search", "index", "model", "search.json"
WEIGHTS = "weights.safetensors"
KINDS = ("image", "speech")
VERIFIED_BYTES = 1 << 28
"""An index up to here is read whole and held to its digests when it is opened; of a larger one only the sizes are compared,
and ``hearsight check build_search_index`` compares the rest."""


@dataclass(frozen=True)
class SearchResult:
    """One result."""

    rank: int
    """From 1, among those of its kind."""
    score: float
    """The dot product of the embeddings: with the model's scale above 0, that times the cosine."""
    item: dict[str, Any]
    """The INDEXED record."""


@dataclass(frozen=True)
class Searcher:
    """An opened folder."""

    folder: Path
    index: SearchIndex
    about: dict[str, Any]
    """``search.json``."""
    weights: Path | None = None
    """Of the frozen image encoder, where no package has them."""

    @classmethod
    def open(cls, folder: Path, weights: Path | None = None) -> Searcher:
        """Open a folder.

        Raises:
            HearsightError: it is none, a file is missing or damaged, or index and model are not of each other.
        """
        try:
            about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            crop, size = about["crop"], (folder / INDEX / EMBEDDINGS).stat().st_size
            model = sha256_file(folder / MODEL / WEIGHTS)
        except FileNotFoundError as error:
            missing = Path(error.filename).relative_to(folder) if error.filename else ABOUT
            raise HearsightError(f"is no folder to search in: {missing} is missing", where=folder, hint=_again(folder)) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise HearsightError("is damaged: it cannot be read", where=folder / ABOUT, hint=_again(folder)) from error
        if crop not in ("centre", "whole"):
            raise HearsightError(f"is damaged: crop is {crop!r}", where=folder / ABOUT, hint=_again(folder))
        index = SearchIndex.open(folder / INDEX, model, verify=size <= VERIFIED_BYTES)
        for sha256, thumbnail in zip(*(index.items[name].to_pylist() for name in ("image_sha256", "thumbnail")), strict=True):
            # A folder may come from anybody, and what it names is read and shown: nothing outside it.
            if thumbnail and (thumbnail != thumbnail_path(sha256) or not sha256.isalnum()):
                what = f"names a picture that is not its own ({thumbnail[:80]!r})"
                raise HearsightError(what, where=folder / INDEX, hint=_again(folder))
        return cls(folder, index, about, weights)

    @cached_property
    def encoder(self) -> QueryEncoder:
        """What embeds queries; loads torch."""
        from components.retrieval.query_encoder import QueryEncoder

        return QueryEncoder(self.folder / MODEL, self.about["crop"], self.weights)

    def find(
        self,
        vector: NDArray[np.float32],
        k: int,
        kinds: tuple[str, ...] = KINDS,
        *,
        language: str = "",
        split: str = "",
        without: tuple[int, ...] = (),
    ) -> dict[str, list[SearchResult]]:
        """The ``k`` nearest of each kind, the nearest first; fewer where the filters leave fewer.

        Args:
            vector: the query's embedding, D.
            kinds: image, speech or both: each is ranked for itself.
            language, split: only items with a caption in it, or of it; empty for all.
            without: rows not to find.

        Raises:
            HearsightError: k is out of range, there is no such language or split, or nothing is left of any kind.
        """
        if not 1 <= k <= len(self.index):
            what = f"cannot give {k} results: the index holds {len(self.index)}"
            raise HearsightError(what, where="-k", hint=f"ask for 1 to {len(self.index)}")
        mask = np.ones(len(self.index), bool)
        for column, wanted in (("languages", language), ("splits", split)):
            if wanted:
                mask &= items_having(self.index.items, column, wanted)
        mask[list(without)] = False
        found: dict[str, list[SearchResult]] = {}
        for kind in kinds:
            rows = np.flatnonzero(mask & self._of_kind[kind])
            found[kind] = []
            if len(rows):
                best, scores = self.index.search(vector[None], min(k, len(rows)), rows=rows)
                found[kind] = [
                    SearchResult(place + 1, float(score), self.index.item(int(row)))
                    for place, (row, score) in enumerate(zip(best[0], scores[0], strict=True))
                ]
        if not any(found.values()):
            asked = " and ".join(f"{name} {value}" for name, value in (("language", language), ("split", split)) if value)
            what = f"nothing is left: no {' or '.join(kinds)} of {asked}" if asked else f"the index holds no {' or '.join(kinds)}"
            raise HearsightError(what, where=self.folder, hint="ask for less")
        return found

    @cached_property
    def _of_kind(self) -> dict[str, NDArray[np.bool_]]:
        kinds = np.asarray(self.index.items["kind"].to_pylist())
        return {kind: kinds == kind for kind in KINDS}


def items_having(items: pa.Table, column: str, value: str) -> NDArray[np.bool_]:
    """Which items have ``value`` in the lists of ``column``.

    Raises:
        HearsightError: none has.
    """
    import pyarrow.compute as pc

    lists = items[column].combine_chunks()
    values, rows = pc.list_flatten(lists), np.asarray(pc.list_parent_indices(lists))
    mask = np.zeros(items.num_rows, bool)
    mask[rows[np.asarray(pc.equal(values, value))]] = True
    if not mask.any():
        known = ", ".join(sorted(pc.unique(values).to_pylist()))
        raise HearsightError(f"no item has '{value}' among its {column}", where="the filter", hint=f"known are {known}")
    return mask


def _again(folder: Path) -> str:
    return "name a dataset with an index, or the folder search/ of one" if not folder.exists() else "run the stage index again"
