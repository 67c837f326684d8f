"""What the routes share: the rating store, rating items, search indexes and describers, each opened at its first use."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

from components.app.settings import AppSettings
from components.core.graph import Graph, load_graph

T = TypeVar("T")


class Services:
    """Holds opened resources by name; safe for threads."""

    def __init__(self, settings: AppSettings) -> None:
        self.settings = settings
        self._lock = Lock()
        self._locks: dict[str, Lock] = {}
        self._opened: dict[str, Any] = {}

    @property
    def graph(self) -> Graph:
        """The project's graph as it is now."""
        return load_graph(self.settings.root)

    def get(self, name: str, opener: Callable[[], T]) -> T:
        """Return the resource of this name, opened by the first caller; others wait. A failed opening is tried again."""
        with self._lock:
            lock = self._locks.setdefault(name, Lock())
        with lock:
            if name not in self._opened:
                self._opened[name] = opener()
            opened: T = self._opened[name]
            return opened

    def get_current(self, name: str, opener: Callable[[], T], is_current: Callable[[T], bool]) -> T:
        """Return the resource of this name, opened anew if it is not current."""
        resource = self.get(name, opener)
        if not is_current(resource):
            self.forget(name)
            resource = self.get(name, opener)
        return resource

    def forget(self, name: str) -> None:
        """Open the resource anew at its next use, e.g. since its files changed."""
        self._opened.pop(name, None)

    def close(self) -> None:
        """Close what can be closed."""
        for resource in self._opened.values():
            if hasattr(resource, "close"):
                resource.close()
