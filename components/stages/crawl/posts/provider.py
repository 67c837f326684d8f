"""What a kind of server offers: accounts that used a tag, what it says of an account, and that account's tagged posts.

A provider reads answers and never asks: :class:`components.web.answers.NotFetched` tells what is to be asked next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from components.stages.crawl.posts.post import Account, Page
from components.web.api import Api
from components.web.conditional_fetch import moment

if TYPE_CHECKING:
    from components.stages.crawl.posts.calls import Calls


@dataclass
class Search:
    """What the timelines of the tags gave."""

    accounts: dict[str, Account] = field(default_factory=dict)
    """Name → account, of everybody who used a tag inside the window."""
    unowned: dict[str, str] = field(default_factory=dict)
    """Web address of a post → its tag's timeline, where the server does not tell whose it is."""
    rows: list[dict[str, str]] = field(default_factory=list)
    """Ledger rows: one a timeline, and those of timeline posts that could not be read."""


class Provider(Protocol):
    """One kind of server."""

    api: Api
    urls_expire: bool
    """Whether the addresses of its pictures change though the pictures do not."""
    tagged_only: bool
    """Whether a listing holds tagged posts only."""

    def normalise_name(self, name: str) -> str:
        """An account's name, given by a person, as records spell it."""

    def search(self, calls: Calls) -> Search:
        """The first phase: who used the tags inside the window; raises NotFetched."""

    def account(self, calls: Calls, known: Account) -> Account:
        """What the server says of an account now; raises NotFetched."""

    def listings(self, calls: Calls, account: Account) -> list[Iterator[Page]]:
        """The second phase: the account's posts, newest first, one listing a tag; its iterators raise NotFetched."""


def host_name(server: str) -> str:
    """The host of a server's address, without a port that is its scheme's own."""
    return urlsplit(server).netloc.lower()


def window_start(fetched: str, days: float) -> datetime:
    """The beginning of a window that ends with an answer."""
    return moment(fetched) - timedelta(days=days)
