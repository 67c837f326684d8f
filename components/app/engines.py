"""Search engines of the application: loaded in the background, kept, and opened anew when the alias or the files change."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Lock, Thread

from components.app.services import Services
from components.core.errors import HearsightError
from components.core.records import SEARCH_STAGE
from components.tools.search.engine import SearchEngine, find_index, stamp_of

RECHECK_SECONDS = 60.0
"""Time between two questions to MLflow and the disk whether an opened index is still the one to use."""
log = logging.getLogger(__name__)


class Engines:
    """The search engines by dataset; safe for threads."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._lock = Lock()
        self._ready: set[str] = set()
        self._working: set[str] = set()
        self._checked: dict[str, float] = {}

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
        engine = self.services.get(_name(dataset), lambda: self._open(dataset))
        if time.monotonic() - self._checked[dataset] > RECHECK_SECONDS:
            self._in_background(dataset, lambda: self._recheck(dataset, engine))
        return engine

    def preload(self, dataset: str) -> None:
        """Begin to load a dataset's engine; its errors are shown by the first search."""
        if not self.is_ready(dataset):
            self._in_background(dataset, lambda: self.get(dataset))

    def _open(self, dataset: str) -> SearchEngine:
        engine = SearchEngine.open(self.services.graph, dataset)
        engine.searcher.encoder  # noqa: B018  (loads the model now)
        self._checked[dataset] = time.monotonic()
        self._ready.add(dataset)
        return engine

    def _recheck(self, dataset: str, engine: SearchEngine) -> None:
        self._checked[dataset] = time.monotonic()
        if stamp_of(find_index(self.services.graph, dataset)[0]) != engine.stamp:
            self._ready.discard(dataset)
            self.services.forget(_name(dataset))

    def _in_background(self, dataset: str, work: Callable[[], object]) -> None:
        with self._lock:
            if dataset in self._working:
                return
            self._working.add(dataset)

        def run() -> None:
            try:
                work()
            except HearsightError as error:
                log.info("%s: %s", dataset, error)
            finally:
                self._working.discard(dataset)

        Thread(target=run, name=f"search {dataset}", daemon=True).start()


def _name(dataset: str) -> str:
    return f"search engine of {dataset}"
