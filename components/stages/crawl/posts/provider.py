"""Interface of a kind of server: accounts that used a tag, the state of an account, and an account's tagged posts.

A provider only reads stored answers: :class:`components.web.answers.NotFetched` names the address to fetch next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from components.stages.crawl.posts.post import Account, Page
from components.web.api import Api
from components.web.conditional_fetch import parse_moment

if TYPE_CHECKING:
    from components.stages.crawl.posts.calls import Calls


@dataclass
class Search:
    """Result of the timelines of the tags."""

    accounts: dict[str, Account] = field(default_factory=dict)
    """Name → account, for every account that used a tag inside the window."""
    unowned: dict[str, str] = field(default_factory=dict)
    """Web address of a post → its tag's timeline, where the server does not state the post's owner."""
    rows: list[dict[str, str]] = field(default_factory=list)
    """Ledger rows: one per timeline, and one per unreadable timeline post."""


class Provider(Protocol):
    """One kind of server."""

    api: Api
    urls_expire: bool
    """Whether the addresses of an unchanged image change over time."""
    tagged_only: bool
    """Whether a listing holds tagged posts only."""

    def normalise_name(self, name: str) -> str:
        """Return an account name from the settings as records spell it."""

    def search(self, calls: Calls) -> Search:
        """Run the first phase and return who used the tags inside the window; raises NotFetched."""

    def account(self, calls: Calls, last_account: Account) -> Account:
        """Return the present state of an account, given its last known state; raises NotFetched."""

    def listings(self, calls: Calls, account: Account) -> list[Iterator[Page]]:
        """Return the second phase's listings, one per tag, newest posts first; their iterators raise NotFetched."""


def host_name(server: str) -> str:
    """Return the host of a server's address, with the port if the address has one."""
    return urlsplit(server).netloc.lower()


def window_start(fetched: str, days: float) -> datetime:
    """Return the start of a window of ``days`` that ends at the time of an answer."""
    return parse_moment(fetched) - timedelta(days=days)
