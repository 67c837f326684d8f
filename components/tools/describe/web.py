"""Fetch a page and its images politely for one description: robots.txt, delays, size limits, public addresses only.

Answers are kept in a temporary store, which ends with the description. Addresses on the project's takedown list are not
requested.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from components.core.errors import HearsightError
from components.web.answers import Outcome
from components.web.charset import parse_charset
from components.web.fetch import Fetcher
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.takedown_list import EMPTY_LIST, NAME, read_takedown
from components.web.urls import normalise

FETCHING = FetchSettings(retries=1)
HINT = "give another address, or a file"


@dataclass(frozen=True)
class Answer:
    """A page or image from the web."""

    url: str
    """The address that answered, after redirects."""
    type: str
    """Media type as sent, in lower case."""
    charset: str | None
    data: bytes


class Web:
    """The web for one description."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def get(self, url: str) -> Answer:
        """Return a page or an image.

        Raises:
            HearsightError: the address is unusable or private, robots.txt forbids it, or it does not answer with either.
        """
        address = normalise(url)
        if address is None:
            raise HearsightError("is not an http or https address", where=url, hint=HINT)
        self._fetcher.ensure([address], "page")
        return self._answer(self._fetcher.answers.outcome(address, page=True))

    def request(self, urls: Iterable[str]) -> None:
        """Request images, hosts side by side; :meth:`image` returns them."""
        self._fetcher.ensure(urls, "image")

    def image(self, url: str) -> bytes:
        """Return a requested image's bytes; raise HearsightError if it was refused or could not be fetched."""
        return self._answer(self._fetcher.answers.outcome(url)).data

    def _answer(self, outcome: Outcome) -> Answer:
        if outcome.rule or outcome.entry is None:
            value = f" ({outcome.value})" if outcome.value else ""
            raise HearsightError(f"cannot be fetched: {outcome.rule}{value}", where=outcome.url, hint=HINT)
        kind = outcome.entry.type.partition(";")[0]
        data = self._fetcher.store.body(outcome.final)
        return Answer(outcome.final, kind.strip().lower(), parse_charset(outcome.entry.type), data)


@contextmanager
def open_web(root: Path | None = None, settings: FetchSettings = FETCHING, proxy: str = "") -> Iterator[Web]:
    """Return the web for one description.

    Args:
        root: of the project whose takedown list applies; None for none.
        proxy: as of a crawl.
    """
    taken = read_takedown(root / NAME) if root is not None else EMPTY_LIST
    with (
        tempfile.TemporaryDirectory(prefix="hearsight-describe-") as folder,
        FetchStore(Path(folder) / "store", writer=True) as store,
        Fetcher(store, settings, proxy=proxy, taken=taken) as fetcher,
    ):
        yield Web(fetcher)
