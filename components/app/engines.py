"""Search engines of the application: loaded in the background, kept, and opened anew when the index changes.

The engine of a dataset is the index in its output, with the speech of its items.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock, RLock, Thread
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.app.services import Services
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.manifest import NAME
from components.core.records import SEARCH_STAGE
from components.core.stage_output import StageOutput
from components.search.queries import Query
from components.search.searcher import KINDS, Searcher, SearchResult
from components.tools.describe.models import Models
from components.tools.describe.speech import say
from components.tools.describe.voices import default_voice

log = logging.getLogger(__name__)


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
    version: str
    made: int
    """When its output was finished, in nanoseconds."""
    speech: StageOutput | None
    """The output with the indexed speech; None if the project lacks it or has another."""
    _lock: RLock = field(default_factory=RLock, repr=False, compare=False)

    @classmethod
    def open(cls, graph: Graph, dataset: str) -> SearchEngine:
        """Open a dataset's index and load its model.

        Raises:
            HearsightError: there is none, or it is damaged.
        """
        models = Models(graph, registry=False)
        if (found := models.index(dataset)) is None:
            raise HearsightError("has no finished index", where=dataset, hint=f"run `dvc repro {SEARCH_STAGE}@{dataset}`")
        made = _made(found.folder)
        searcher = Searcher.open(found.folder, models.encoder_weights(dataset))
        searcher.encoder  # noqa: B018  (loads the model now)
        return cls(dataset, searcher, found.version, made, searcher.speech(graph.root))

    @property
    def name(self) -> str:
        """The index that answers, with its version."""
        return f"{self.dataset}, {self.version}"

    @property
    def is_current(self) -> bool:
        """Whether the output is the one that was opened, or is being made anew."""
        return _made(self.searcher.folder) in (0, self.made)

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
        if not item["media"]:  # an image: somebody may have spoken this caption of it
            spoken = self._spoken.get((item["image_sha256"], caption["language"], caption["caption"]))
            item = self.searcher.index.item(spoken) if spoken is not None else item
        with self._lock:
            if self.speech is not None and item["media"]:
                return Sound(self.speech.read_media(item["media"]), item["voice"], True)
            voice = default_voice(caption["language"])
            return Sound(say(caption["caption"], voice).clip.flac, voice, False)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {key: row for row, key in enumerate(self.searcher.index.items["key"].to_pylist())}

    @cached_property
    def _spoken(self) -> dict[tuple[str, str, str], int]:
        """(image, language, caption) → the first utterance of it."""
        items: list[dict[str, Any]] = self.searcher.index.items.select(["image_sha256", "captions", "media"]).to_pylist()
        rows: dict[tuple[str, str, str], int] = {}
        for row, item in enumerate(items):
            if item["media"]:
                caption = item["captions"][0]
                rows.setdefault((item["image_sha256"], caption["language"], caption["caption"]), row)
        return rows


class Engines:
    """The search engines by dataset; safe for threads."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._lock = Lock()
        self._ready: set[str] = set()
        self._loading: set[str] = set()

    @property
    def datasets(self) -> list[str]:
        """The datasets that have an index, or will have one."""
        return list(self.services.graph.chain.get(SEARCH_STAGE, {}))

    def is_ready(self, dataset: str) -> bool:
        """Return whether a search of this dataset need not wait for its model."""
        return dataset in self._ready

    def get(self, dataset: str) -> SearchEngine:
        """Return a dataset's engine, loaded with its model; other callers wait.

        Raises:
            HearsightError: there is no such index.
        """
        if dataset not in self.datasets:
            raise HearsightError(f"there is no index '{dataset}'", hint=f"known are: {', '.join(self.datasets) or 'none'}")
        name = f"search engine of {dataset}"
        engine = self.services.get_current(
            name, lambda: SearchEngine.open(self.services.graph, dataset), lambda engine: engine.is_current
        )
        self._ready.add(dataset)
        return engine

    def preload(self, dataset: str) -> None:
        """Begin to load a dataset's engine in the background; its errors are shown by the first search."""
        with self._lock:
            if dataset in self._ready | self._loading:
                return
            self._loading.add(dataset)

        def load() -> None:
            try:
                self.get(dataset)
            except HearsightError as error:
                log.info("%s: %s", dataset, error)
            finally:
                self._loading.discard(dataset)

        Thread(target=load, name=f"search {dataset}", daemon=True).start()


def _made(folder: Path) -> int:
    """Return when the output with the folder ``search`` was finished, in nanoseconds; 0 if it is not."""
    manifest = folder.parent / NAME
    return manifest.stat().st_mtime_ns if manifest.is_file() else 0
