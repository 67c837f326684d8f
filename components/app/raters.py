"""A rater's session and the items that raters see, as the application holds them open."""

from __future__ import annotations

import time
from typing import Any

from fastapi import Request

from components.app.access import CSRF, ForbiddenError, is_owner
from components.app.services import Services
from components.ratings.items import RatingItems
from components.ratings.running import follow, items_folder, open_items
from components.ratings.store import RatingStore

RATER = "rater"
"""Key of the session: the rater's identifier."""
UNTIL = "until"
"""Key of the session: when the invitation ends (s since 1970)."""


def services_of(request: Request) -> Services:
    """Return what the routes share."""
    services: Services = request.app.state.services
    return services


def rating_store(services: Services) -> RatingStore:
    """Return the store of ratings."""
    return services.get("rating store", lambda: RatingStore(services.settings.database))


def rating_items(services: Services, dataset: str) -> RatingItems:
    """Return a dataset's items as they are on disk now; when they have changed, the campaign follows.

    Raises:
        HearsightError: the dataset has no finished items.
    """
    root, name = services.settings.root, f"rating items of {dataset}"

    def opened() -> tuple[Any, RatingItems]:
        found = stamp()
        items = open_items(root, dataset)
        follow(rating_store(services), dataset, items)
        return found, items

    def stamp() -> Any:
        try:
            state = (items_folder(root, dataset) / "manifest.json").stat()
        except FileNotFoundError:
            return None
        return state.st_ino, state.st_mtime_ns, state.st_size

    return services.get_current(name, opened, lambda held: held[0] == stamp())[1]


def rater_of(request: Request) -> str:
    """Return who rates; a dependency of the pages of rating.

    Raises:
        ForbiddenError: there is no valid invitation in this session.
    """
    rater = request.session.get(RATER)
    if not rater:
        raise ForbiddenError("this page is for people who were invited to rate", hint="open your invitation link")
    if request.session.get(UNTIL, 0) < time.time() and not is_owner(request):
        raise ForbiddenError("your invitation has expired", hint="ask for a new one")
    rating_store(services_of(request)).require_invited(str(rater))
    return str(rater)


def leave(request: Request) -> None:
    """End the rater's session in this browser; the invitation link begins another one."""
    for key in (RATER, UNTIL, CSRF):
        request.session.pop(key, None)
