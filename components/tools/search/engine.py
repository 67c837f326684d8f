"""The search engine of a dataset: the registered index by alias, else the project's own, with the speech of its items."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.records import SEARCH_STAGE
from components.core.stage_output import StageOutput
from components.retrieval.queries import Query
from components.retrieval.searcher import INDEX, KINDS, Searcher, SearchResult
from components.search import files
from components.tools.describe.models import FoundModel, Models
from components.tools.describe.speech import default_voice, say
from components.tracking.models import KIND, registered_name
from components.tracking.registered import has_registry


class Sound(NamedTuple):
    """Speech of a caption."""

    flac: bytes
    voice: str
    stored: bool
    """Whether the index was made of it; otherwise it was synthesised now."""


@dataclass(frozen=True)
class SearchEngine:
    """An opened index with its model. Its methods may be called from several threads; one at a time computes."""

    dataset: str
    searcher: Searcher
    found: FoundModel
    note: str
    """Why it is not the registered model; empty if it is."""
    speech: StageOutput | None
    """The output with the indexed speech; None if the project lacks it or has another."""
    stamp: tuple[str, int]
    _lock: RLock = field(default_factory=RLock, repr=False, compare=False)

    @classmethod
    def open(cls, graph: Graph, dataset: str) -> SearchEngine:
        """Open the registered version with the alias ``best``, else the project's output.

        Raises:
            HearsightError: there is neither, or it is damaged.
        """
        found, note = find_index(graph, dataset)
        searcher = Searcher.open(found.folder, Models(graph, registry=False).encoder_weights(dataset))
        return cls(dataset, searcher, found, note, indexed_speech(graph.root, searcher), stamp_of(found))

    @property
    def name(self) -> str:
        """The model that answers, with its version."""
        return f"{registered_name(self.dataset, KIND)}, {self.found.version}"

    def search(self, query: Query, k: int, kinds: tuple[str, ...] = KINDS, language: str = "") -> dict[str, list[SearchResult]]:
        """Return the nearest items of each kind; fewer than ``k`` if the index holds fewer."""
        with self._lock:
            vector = self._embed(query)
            return self.searcher.find(vector, min(k, len(self.searcher.index)), kinds, language=language)

    def _embed(self, query: Query) -> NDArray[np.float32]:
        import torch  # here: as the encoder, at the first query

        # One query is too little for two threads, which wait for each other on a busy machine: 10 ms against up to 600 ms.
        torch.set_num_threads(1)
        return self.searcher.encoder.embed(query)

    def note_on(self, query: Query) -> str:
        """Return a note on the part of a query that the model ignores; empty if there is none."""
        return self.searcher.encoder.note(query)

    def sound(self, key: str, number: int) -> Sound:
        """Return the speech of a caption of an item: the indexed one, else a synthesised one.

        Raises:
            HearsightError: there is no such item or caption, or no voice for its language.
        """
        row = self._rows.get(key)
        item = self.searcher.index.item(row) if row is not None else {"captions": []}
        if not 0 <= number < len(item["captions"]):
            raise HearsightError("has no such item", where=f"the index of {self.dataset}", hint="search again")
        caption = item["captions"][number]
        if not item["media"]:  # a picture: somebody may have spoken this caption of it
            spoken = self._spoken.get((item["image_sha256"], caption["language"], caption["caption"]))
            item = self.searcher.index.item(spoken) if spoken is not None else item
        with self._lock:
            if self.speech is not None and item["media"]:
                return Sound(self.speech.read_media(item["media"]), item["voice"], True)
            voice = default_voice(caption["language"])
            return Sound(say(caption["caption"], voice).clip.flac, voice, False)

    @cached_property
    def languages(self) -> list[str]:
        """The languages of the captions, the most frequent first."""
        return frequent_languages(self.searcher)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {key: row for row, key in enumerate(self.searcher.index.items["key"].to_pylist())}

    @cached_property
    def _spoken(self) -> dict[tuple[str, str, str], int]:
        """(picture, language, caption) → the first utterance of it."""
        items: list[dict[str, Any]] = self.searcher.index.items.select(["image_sha256", "captions", "media"]).to_pylist()
        rows: dict[tuple[str, str, str], int] = {}
        for row, item in enumerate(items):
            if item["media"]:
                caption = item["captions"][0]
                rows.setdefault((item["image_sha256"], caption["language"], caption["caption"]), row)
        return rows


def frequent_languages(searcher: Searcher) -> list[str]:
    """Return the languages of an index's captions, the most frequent first."""
    counts = Counter(language for each in searcher.index.items["languages"].to_pylist() for language in each)
    return sorted(counts, key=lambda language: (-counts[language], language))


def find_index(graph: Graph, dataset: str) -> tuple[FoundModel, str]:
    """Return the index of a dataset, and why it is not the registered one; empty if it is.

    Raises:
        HearsightError: there is none.
    """
    note = ""
    try:
        if (found := Models(graph).index(dataset)) and found.version.startswith("version"):
            return found, ""
        if not has_registry(graph.root):
            note = "the project has no MLflow yet"
    except HearsightError as error:
        note = error.what
    found = Models(graph, registry=False).index(dataset)
    if found is None:
        raise HearsightError("has no finished index", where=dataset, hint=f"run `dvc repro {SEARCH_STAGE}@{dataset}`")
    return found, note or f"MLflow has no {registered_name(dataset, KIND)}@best"


def indexed_speech(root: Path, searcher: Searcher) -> StageOutput | None:
    """Return the output with the speech that an index was made of; None if the project lacks it or has another."""
    try:
        speech = StageOutput(root / "data" / searcher.description["speech"]["output"])
        return speech if speech.digest == searcher.description["speech"]["digest"] else None
    except (HearsightError, KeyError, TypeError):
        return None


def stamp_of(found: FoundModel) -> tuple[str, int]:
    """Return what changes when another version is found, or the files of this one change, as in a takedown."""
    try:
        changed = (found.folder / INDEX / files.INDEX).stat().st_mtime_ns
    except OSError:
        changed = 0
    return f"{found.folder} {found.version}", changed
