"""Any JSON answer becomes rows that can be stored, for each provider, without an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.ledger import ledger_table
from components.stages.crawl.posts.conversion import account_to_pages
from components.stages.crawl.posts.mastodon import MastodonApi
from components.stages.crawl.posts.post import State
from components.stages.crawl.posts.provider import Reply
from components.stages.crawl.posts.survey import Survey
from components.stages.crawl.sources.posts import create_provider
from components.stages.crawl.sources.source_pages import write_pages
from components.web.takedown_list import EMPTY_LIST
from tests.support.crawl.crawls import posts_params
from tests.support.crawl.social import SERVER

NAMES = (
    "id", "acct", "url", "uri", "account", "created_at", "content", "visibility", "media_attachments", "type", "description",
    "locked", "reblog", "language", "data", "business_discovery", "media", "paging", "cursors", "after", "caption", "media_type",
    "media_url", "permalink", "timestamp", "children", "username", "noindex", "suspended",
)  # fmt: skip
PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from(["#pracegover", "ana", "http://x.org/a.jpg", "2026-11-20T00:00:00Z", "image", "IMAGE", "public", "c1"])
    | st.just("\ud800\0")
)  # fmt: skip
ANY = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner), max_leaves=25
)
STATUS = st.fixed_dictionaries(
    {
        "id": PLAIN,
        "url": PLAIN,
        "created_at": PLAIN | st.just("2026-11-20T00:00:00Z"),
        "content": PLAIN,
        "visibility": st.just("public"),
    },
    optional={"media_attachments": ANY, "account": ANY, "language": ANY, "reblog": PLAIN},
)
MEDIA = st.fixed_dictionaries(
    {"id": st.just("1") | PLAIN, "permalink": PLAIN, "timestamp": PLAIN, "media_type": PLAIN, "caption": PLAIN},
    optional={"children": ANY},
)
DISCOVERED = st.fixed_dictionaries(
    {"business_discovery": st.fixed_dictionaries({"media": st.fixed_dictionaries({"data": st.lists(MEDIA)})})}
)


class Said:
    """Answers of a server that says one thing to everything."""

    opt_in = False

    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self, url: str) -> Reply:
        return Reply(url, self.value, status=200, fetched="2026-11-21T00:00:00Z")


@settings(max_examples=100, deadline=None)
@given(value=ANY | st.lists(STATUS, max_size=4) | DISCOVERED, provider=st.sampled_from(["mastodon", "instagram"]))
def test_any_answer_becomes_rows_that_can_be_stored(tmp_path_factory, value, provider):
    own = {
        "provider": provider,
        "accounts": ["ana"],
        "page_size": 2,
        "max_pages": 3,
        **({"user": "17"} if provider == "instagram" else {}),
    }
    chosen = posts_params("", **own).source
    survey = Survey(create_provider(chosen, live=False), Said(value), State(), chosen, EMPTY_LIST, lambda url: False)
    state = survey.run(None)
    pages = [page for _, owner in sorted(state.owners.items()) for page in account_to_pages(owner, chosen.tags)]
    folder = tmp_path_factory.mktemp("any")
    ledger_table([*survey.search.rows, *(page.row for page in pages if page.row)])
    write_pages(folder / "found.parquet", pages)
    state.save(folder / "state.parquet")
    assert State.load(folder / "state.parquet") == state


@settings(max_examples=50, deadline=None)
@given(ANY | st.lists(STATUS, max_size=4))
def test_stored_timelines_contain_accounts_only(value):
    url = f"{SERVER}/api/v1/timelines/tag/x?limit=1"
    body = json.dumps(value).encode()
    kept = json.loads(MastodonApi(SERVER).reduced(url, body))
    if not isinstance(value, list):
        assert json.dumps(kept) == json.dumps(value)
        return
    for status in kept:
        assert status is None or set(status) <= {"id", "created_at", "account", "reblog"}


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
