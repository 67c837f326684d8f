"""A running application with items to rate, and what tests do with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from fastapi import FastAPI
from playwright.sync_api import Page, expect

from components.app.invitations import invitation
from components.ratings.items import RatingItems
from components.ratings.running import follow, items_folder
from components.ratings.store import RatingStore
from tests.app.server import SECRET, TOKEN, csrf_of, running, settings_of
from tests.support.ratings.made_items import make_items

PUBLIC = ("127.0.0.1", "rate.example")
"""Host names of an application that raters reach."""


@dataclass(frozen=True)
class RatingApp:
    """A running application, its store and items."""

    url: str
    app: FastAPI
    root: Path
    store: RatingStore
    items: RatingItems

    @property
    def start_link(self) -> str:
        """The link that logs the owner in."""
        return f"{self.url}/login?token={TOKEN}"

    def link(self, rater: str = "", days: float = 14) -> str:
        """The invitation of a rater, a new one without a name."""
        rater = rater or self.store.invite("english")[0]
        return f"{self.url}/rate/invitation?token={invitation(SECRET, rater, days)}"


@contextmanager
def rating_app(root: Path, hosts: tuple[str, ...] = PUBLIC, **made: int) -> Iterator[RatingApp]:
    """Serve an application whose dataset ``english`` has items to rate."""
    make_items(root, **made)
    settings = settings_of(root, hosts=hosts)
    items, store = RatingItems.open(items_folder(root, "english")), RatingStore(settings.database)
    follow(store, "english", items)
    with running(settings) as app:
        yield RatingApp(app.url, app.app, root, store, items)
    store.close()


def press(page: Page, key: str) -> None:
    """Press a single key in the item of a page that has loaded: before that, neither focus nor script is there."""
    page.wait_for_load_state()
    expect(page.locator("#item")).to_be_focused()
    page.keyboard.press(key)


def start(page: Page, link: str) -> None:
    """Open an invitation and begin after the guidelines, by keyboard."""
    page.goto(link)
    page.get_by_role("button", name="Start").press("Enter")
    page.wait_for_url("**/rate/task#item")


def invited(app: RatingApp, **link: object) -> httpx.Client:
    """A rater's client after the guidelines."""
    client = httpx.Client(base_url=app.url, follow_redirects=True)
    page = client.get(app.link(**link))  # type: ignore[arg-type]
    assert "How to rate" in page.text
    client.post("/rate/guidelines", data={"csrf": csrf_of(page)})
    return client


def item_of(page: httpx.Response) -> str:
    found = re.search(r"/rate/image/([0-9a-f]{16})", page.text)
    assert found
    return found[1]
