"""What a server of posts says is stored and followed within limits; any answer at all: ``tests/fuzz``."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.stages.crawl.posts.mastodon import MastodonApi
from components.stages.crawl.posts.post import State
from components.stages.crawl.posts.provider import Reply
from components.stages.crawl.posts.survey import Survey
from components.stages.crawl.sources.posts import create_provider
from components.web.takedown_list import EMPTY_LIST
from tests.support.crawl.crawls import posts_params
from tests.support.crawl.social import SERVER

STATUS = {"id": "1", "created_at": "2026-11-20T00:00:00Z", "account": {"acct": "ana"}, "reblog": None, "content": "#pracegover"}


class Said:
    """Answers of a server that says one thing to everything."""

    opt_in = False

    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self, url: str) -> Reply:
        return Reply(url, self.value, status=200, fetched="2026-11-21T00:00:00Z")


@pytest.mark.parametrize(
    "value", [[STATUS, STATUS | {"media_attachments": [1]}], [], [None, 5, STATUS], {"a": [STATUS]}, "x", 7, None]
)
def test_stored_timelines_contain_accounts_only(value):
    url = f"{SERVER}/api/v1/timelines/tag/x?limit=1"
    kept = json.loads(MastodonApi(SERVER).reduced(url, json.dumps(value).encode()))
    if not isinstance(value, list):
        assert kept == value
        return
    assert all(status is None or set(status) <= {"id", "created_at", "account", "reblog"} for status in kept)


@pytest.mark.parametrize("provider", ["mastodon", "instagram"])
def test_an_endless_listing_stops_at_the_page_limit(provider):
    statuses = [{"id": str(number), "created_at": "2026-11-20T00:00:00Z"} for number in range(2)]
    media = {"data": [{"id": "1"}], "paging": {"cursors": {"after": "same"}}}

    class Endless(Said):
        count = 0

        def get(self, url: str) -> Reply:
            self.count += 1
            record = {"id": "7", "acct": "ana", "business_discovery": {"media": media}, "data": []}
            value = statuses if "statuses" in url else [] if "timelines" in url else record
            return Reply(url, value, status=200, fetched="2026-11-21T00:00:00Z", following=f"{url}&max_id={self.count}")

    calls = Endless(None)
    own = {
        "provider": provider,
        "accounts": ["ana"],
        "page_size": 2,
        "max_pages": 5,
        **({"user": "17"} if provider == "instagram" else {}),
    }
    chosen = posts_params("", **own).source
    state = Survey(create_provider(chosen, live=False), calls, State(), chosen, EMPTY_LIST, lambda url: False).run(None)
    assert [owner.problem[0] in ("page_limit", "paging_loop") for owner in state.owners.values()] == [True] and calls.count < 12
