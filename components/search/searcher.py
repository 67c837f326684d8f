"""A search folder: the index, its model and thumbnails, as opened by ``hearsight search`` and the application.

| in the folder | content |
|---|---|
| ``search.json`` | model, crop, splits, and the output with the speech |
| ``index/`` | embeddings and SEARCH_ITEM items (docs/search.md) |
| ``model/`` | ``weights.safetensors`` and ``config.json`` of the model |
| ``images/`` | a JPEG thumbnail of each image, if ``extract_features`` stored one |
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.search.index import EMBEDDINGS, KINDS, SearchIndex
from components.search.items import thumbnail_path
from components.search.query_encoder import QueryEncoder

SEARCH, INDEX, MODEL, DESCRIPTION = "search", "index", "model", "search.json"
WEIGHTS = "weights.safetensors"
VERIFIED_BYTES = 1 << 28
"""Indexes up to this size are checked against their digests when opened; for larger ones only sizes are compared, and
``hearsight check build_search_index`` compares the rest."""


@dataclass(frozen=True)
class SearchResult:
    """One search result."""

    rank: int
    """From 1, among results of its kind."""
    score: float
    """Dot product of the embeddings; with a model scale above 0, the scaled cosine."""
    item: dict[str, Any]
    """The SEARCH_ITEM record."""


@dataclass(frozen=True)
class Searcher:
    """An opened search folder."""

    folder: Path
    index: SearchIndex
    description: dict[str, Any]
    weights: Path | None = None
    """Weights of the frozen image encoder, if no package contains them."""

    @classmethod
    def open(cls, folder: Path, weights: Path | None = None) -> Searcher:
        """Open a search folder.

        Raises:
            HearsightError: a file is missing or damaged, or index and model do not belong together.
        """
        try:
            description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
            crop, size = description["crop"], (folder / INDEX / EMBEDDINGS).stat().st_size
            model = sha256_file(folder / MODEL / WEIGHTS)
        except FileNotFoundError as error:
            missing = Path(error.filename).relative_to(folder) if error.filename else DESCRIPTION
            raise HearsightError(
                f"is not a search folder: {missing} is missing", where=folder, hint=_repair_hint(folder)
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise HearsightError("is damaged: not readable", where=folder / DESCRIPTION, hint=_repair_hint(folder)) from error
        if crop not in ("centre", "whole"):
            raise HearsightError(f"is damaged: crop is {crop!r}", where=folder / DESCRIPTION, hint=_repair_hint(folder))
        index = SearchIndex.open(folder / INDEX, model, verify=size <= VERIFIED_BYTES)
        for sha256, thumbnail in zip(*(index.items[name].to_pylist() for name in ("image_sha256", "thumbnail")), strict=True):
            # The folder may be untrusted, and named files are read and displayed, so nothing outside it is accepted.
            if thumbnail and (thumbnail != thumbnail_path(sha256) or not sha256.isalnum()):
                what = f"names an image outside its folder ({thumbnail[:80]!r})"
                raise HearsightError(what, where=folder / INDEX, hint=_repair_hint(folder))
        return cls(folder, index, description, weights)

    @cached_property
    def encoder(self) -> QueryEncoder:
        """The query encoder; loads torch."""
        return QueryEncoder(self.folder / MODEL, self.description["crop"], self.weights)

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
        """Return the ``k`` nearest items of each kind, nearest first; fewer if the filters leave fewer.

        Args:
            vector: the query's embedding, D.
            kinds: image, speech or both; each is ranked separately.
            language, split: only items with a caption in this language, or of this split; empty for all.
            without: rows to exclude.

        Raises:
            HearsightError: k is out of range, the language or split is unknown, or no item of any kind is left.
        """
        if not 1 <= k <= len(self.index):
            what = f"cannot give {k} results: the index holds {len(self.index)}"
            raise HearsightError(what, where="-k", hint=f"ask for 1 to {len(self.index)}")
        mask = np.ones(len(self.index), bool)
        for column, required in (("languages", language), ("splits", split)):
            if required:
                mask &= items_having(self.index.items, column, required)
        mask[list(without)] = False
        results: dict[str, list[SearchResult]] = {}
        for kind in kinds:
            rows, results[kind] = mask & self.index.of_kind[kind], []
            if not rows.any():
                continue
            best, scores = (of_queries[0] for of_queries in self.index.search(vector[None], k, rows))
            results[kind] = [
                SearchResult(rank, float(score), self.index.item(int(row)))
                for rank, (row, score) in enumerate(zip(best, scores, strict=True), start=1)
            ]
        if not any(results.values()):
            filters = " and ".join(f"{name} {value}" for name, value in (("language", language), ("split", split)) if value)
            what = (
                f"the filters leave no result: no {' or '.join(kinds)} of {filters}"
                if filters
                else f"the index holds no {' or '.join(kinds)}"
            )
            raise HearsightError(what, where=self.folder, hint="use fewer filters")
        return results

    @cached_property
    def languages(self) -> list[str]:
        """The languages of the captions, the most frequent first."""
        counts = Counter(language for each in self.index.items["languages"].to_pylist() for language in each)
        return sorted(counts, key=lambda language: (-counts[language], language))

    def speech(self, root: Path) -> StageOutput | None:
        """Return the output with the indexed speech; None if the project lacks it or has another."""
        try:
            speech = StageOutput(root / "data" / self.description["speech"]["output"])
            return speech if speech.digest == self.description["speech"]["digest"] else None
        except (HearsightError, KeyError, TypeError):
            return None


def items_having(items: pa.Table, column: str, value: str) -> NDArray[np.bool_]:
    """Return which items have ``value`` in the lists of ``column``; raise HearsightError if no item has it."""
    lists = items[column].combine_chunks()
    values, rows = pc.list_flatten(lists), np.asarray(pc.list_parent_indices(lists))
    mask = np.zeros(items.num_rows, bool)
    mask[rows[np.asarray(pc.equal(values, value))]] = True
    if not mask.any():
        known = ", ".join(sorted(pc.unique(values).to_pylist()))
        raise HearsightError(f"no item has '{value}' among its {column}", where="the filter", hint=f"known are {known}")
    return mask


def _repair_hint(folder: Path) -> str:
    return (
        "name a dataset with an index, or the folder search/ of one"
        if not folder.exists()
        else "run the stage build_search_index again"
    )
