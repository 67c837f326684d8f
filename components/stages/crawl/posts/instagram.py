"""Provider for Instagram's Graph API: hashtag search and business discovery (developers.facebook.com/docs/instagram-platform).

By the platform's rules the media of a hashtag reach back 24 hours and name no owner, so accounts come from ``accounts``
only, and a hashtag's post that none of them owns is a ledger row. Only professional accounts can be discovered. At most 30
hashtags may be searched in seven days. Not tested against the real service (docs/posts-to-descriptions.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from components.core.ledger import kept
from components.stages.crawl.posts.fields import (
    Unfit,
    read_caption,
    read_identifier,
    read_list,
    read_object,
    read_text,
    read_time,
)
from components.stages.crawl.posts.post import PRIVATE, Account, Media, Page, Post
from components.stages.crawl.posts.provider import Calls, Reply, Search, require_type, window_start
from components.stages.crawl.source_settings import InstagramSettings
from components.web.api import Api, Ruling
from components.web.conditional_fetch import parse_moment as parse_time
from components.web.urls import normalise

RATE_LIMITS = (4, 17, 32, 613, 80002)
"""Error codes of rate limits: of the app, the user, the page, the call, the business use case."""
HASHTAG_LIMIT = 18
NOT_FOUND = (24, 110)
"""Error codes of an account that cannot be found: private, personal, renamed or deleted."""
NOT_FOUND_SUBCODES = (2207013,)
RATE_WINDOW = 3600.0
"""Seconds of the rate limit window, for answers that do not state the remaining time."""


def error_of(body: bytes) -> tuple[int, int, str]:
    """Return (code, subcode, message) of an error answer; zeros where it has none."""
    try:
        error = json.loads(body)["error"]
        codes = [error.get(name) if type(error.get(name)) is int else 0 for name in ("code", "error_subcode")]
        return codes[0], codes[1], " ".join(str(error.get("message", "")).split())[:200]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return 0, 0, ""


def seconds_to_reset(sent: Mapping[str, str]) -> float:
    """Return the seconds until calls are allowed again by X-Business-Use-Case-Usage (in minutes); 0 if not stated."""
    try:
        usages = json.loads(sent.get("x-business-use-case-usage", "{}"))
        minutes = [usage["estimated_time_to_regain_access"] for group in usages.values() for usage in group]
        return max((60.0 * value for value in minutes if isinstance(value, (int, float)) and value < 1e6), default=0.0)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return 0.0


class GraphApi(Api):
    """API addresses. Its terms are the app's contract with the platform, so robots.txt does not apply."""

    def essential(self, url: str) -> bool:
        return "/ig_hashtag_search?" in url or "/recent_media?" in url

    def ruling(self, url: str, status: int, sent: Mapping[str, str], body: bytes) -> Ruling:
        """See :class:`Api`; errors are JSON with a code, mostly with status 400 or 403."""
        code, subcode, message = error_of(body) if status != 200 else (0, 0, "")
        error_text = f"error {code}{f'/{subcode}' if subcode else ''}"
        if code in RATE_LIMITS:
            return Ruling(True, seconds_to_reset(sent) or RATE_WINDOW, stop=f"its rate limit is used up ({error_text})")
        if code == HASHTAG_LIMIT:
            return Ruling(
                stop=f"30 hashtags were searched within seven days ({error_text})",
                hint="wait until the oldest of them is more than seven days old",
            )
        if code in (102, 190):
            return self.refused()
        if code in (3, 10) or 200 <= code < 300:
            hint = "grant the app instagram_basic and Public Content Access, and the token's user access to its page"
            return Ruling(stop=f"the token lacks a permission ({error_text})", hint=hint)
        if code in (1, 2):
            return Ruling(True, failure="http_500", stop=f"it answers {error_text}" if self.essential(url) else "")
        if code and self.essential(url):
            text = self.scrub(message.encode()).decode("utf-8", "replace")
            return Ruling(stop=f"it answers {error_text} ({text})", hint="check that crawl.source.tag is an Instagram hashtag")
        return super().ruling(url, status, sent, body)

    def rest(self, sent: Mapping[str, str]) -> float:
        return max(super().rest(sent), seconds_to_reset(sent))


_NAME = re.compile(r"[A-Za-z0-9._]{1,30}")
_KINDS = {"IMAGE": "image", "VIDEO": "video", "REELS": "video"}
_FIELDS = "id,caption,media_type,media_url,permalink,timestamp,children{id,media_type,media_url}"


class Instagram:
    """See :class:`components.stages.crawl.posts.provider.Provider`."""

    urls_expire, tagged_only = True, False

    def __init__(self, settings: InstagramSettings, token: str) -> None:
        self.settings = settings
        self.server = settings.server.rstrip("/")
        self.api: Api = GraphApi(self.server, token, robots=False, variable=settings.token_variable)

    def normalise_name(self, name: str) -> str:
        return name.lower()

    def search(self, calls: Calls) -> Search:
        result = Search()
        for tag in self.settings.tags:
            self._search_tag(calls, tag, result)
        return result

    def _search_tag(self, calls: Calls, tag: str, result: Search) -> None:
        url = f"{self.server}/ig_hashtag_search?user_id={self.settings.user}&q={quote(tag, safe='')}"
        reply = require_type(calls.get(url), dict)
        try:
            if reply.rule:
                raise Unfit(*reply.reason)
            hashtags = read_list(reply.value, "data", required=True)
            numbers = [read_identifier(read_object(hashtag, "a hashtag"), "id") for hashtag in hashtags]
        except Unfit as unfit:
            result.drop(url, unfit.reason, "a hashtag search")
            return
        for number in numbers[:1]:
            limit = min(self.settings.page_size, 50)
            first = f"{self.server}/{quote(number, safe='')}/recent_media?user_id={self.settings.user}"
            self._read_timeline(calls, f"{first}&fields=id,permalink,timestamp&limit={limit}", result)

    def _read_timeline(self, calls: Calls, first: str, result: Search) -> None:
        url, seen, start, page, end_reason = first, set[str](), None, 1, "its end"
        while url:
            reply = require_type(calls.get(url), dict)
            fresh = 0
            try:
                if reply.rule:
                    raise Unfit(*reply.reason)
                start = start or window_start(reply.fetched, self.settings.window_days)
                for number, media in enumerate(read_list(reply.value, "data", required=True)):
                    try:
                        record = read_object(media, "a post")
                        post_id = read_identifier(record, "id")
                        fresh += post_id not in seen
                        if post_id not in seen and parse_time(read_time(record, "timestamp")) >= start:
                            link = normalise(read_text(record, "permalink"))
                            if link:
                                result.unowned.setdefault(link, first)
                        seen.add(post_id)
                    except Unfit as unfit:
                        result.drop(f"{reply.url}#{number}", unfit.reason, "a post")
            except Unfit as unfit:
                result.drop(reply.url, unfit.reason, "a timeline")
                break
            page += 1
            cursor = _cursor(reply.value.get("paging")) if fresh else ""
            if cursor and page > self.settings.max_pages:
                end_reason = "page_limit"
                break
            # The cursor is equal on every page; the fragment is not sent and distinguishes the stored answers.
            url = f"{first}&after={quote(cursor, safe='')}#page={page}" if cursor else ""
        result.rows.append(
            kept(f"{first}#timeline", kind="page", detail=f"{len(seen)} posts of unnamed accounts, to {end_reason}")
        )

    def account(self, calls: Calls, last_account: Account) -> Account:
        """See :class:`Provider`; an account and its first posts are one answer."""
        name = last_account.name.lstrip("@")
        address = f"https://www.instagram.com/{name}/"
        if not _NAME.fullmatch(name):
            return Account(last_account.name, rule="unusable_name", value=name[:40], threshold="a user name of Instagram's")
        try:
            discovered, _ = self._discover(calls, name, "", 1)
            return Account(last_account.name, name, address, handle_rule(discovered, name))
        except Unfit as unfit:
            return Account(last_account.name, name, address, *unfit.reason)

    def _discover(self, calls: Calls, name: str, cursor: str, page: int) -> tuple[Mapping[str, Any], Reply]:
        reply = require_type(calls.get(self._address(name, cursor, page)), dict)
        if reply.rule:
            code, subcode, _ = error_of(json.dumps(reply.value).encode())
            if code in NOT_FOUND or subcode in NOT_FOUND_SUBCODES:
                raise Unfit(PRIVATE, f"error {code}: cannot be found (private, personal or gone)", "a professional account")
            raise Unfit(reply.rule, f"error {code}" if code else reply.observed, reply.threshold)
        return read_object(reply.value.get("business_discovery"), "business_discovery"), reply

    def _address(self, name: str, cursor: str, page: int) -> str:
        after = f".after({cursor})" if cursor else ""
        media = f"media{after}.limit({min(self.settings.page_size, 50)}){{{_FIELDS}}}"
        fields = f"business_discovery.username({name}){{username,id,media_count,{media}}}"
        mark = f"#page={page}" if page > 1 else ""
        return f"{self.server}/{self.settings.user}?fields={quote(fields, safe='')}{mark}"

    def listings(self, calls: Calls, account: Account) -> list[Iterator[Page]]:
        """See :class:`Provider`; one listing of all posts, since the API cannot filter them by tag."""
        return [self._listing(calls, account)]

    def _listing(self, calls: Calls, account: Account) -> Iterator[Page]:
        cursor, page, seen = "", 1, set[str]()
        while True:
            url = self._address(account.handle, cursor, page)
            fetched = ""
            try:
                if page > self.settings.max_pages:
                    raise Unfit("page_limit", f"{page - 1} pages", str(self.settings.max_pages))
                if cursor and cursor in seen:
                    raise Unfit("paging_loop", f"{page - 1} pages", "a last page")
                seen.add(cursor)
                discovered, reply = self._discover(calls, account.handle, cursor, page)
                fetched, media = reply.fetched, discovered.get("media")
                listing = read_object(media, "media") if media is not None else {}
                posts = [self._post(item, url, number) for number, item in enumerate(read_list(listing, "data"))]
                following = _cursor(listing.get("paging"))
            except Unfit as unfit:
                yield Page([], url, fetched, *unfit.reason)
                return
            yield Page(posts, url, fetched)
            if not following or not posts:
                return
            cursor, page = following, page + 1

    def _post(self, value: Any, page_url: str, number: int) -> Post:
        post_id, url, posted = f"{page_url}#{number}", "", ""
        try:
            record = read_object(value, "a post")
            post_id = read_identifier(record, "id")
            url, posted = read_text(record, "permalink"), read_time(record, "timestamp")
            return Post(post_id, url, read_caption(record, "caption"), posted, "un", tuple(_media(record)))
        except Unfit as unfit:
            return Post(post_id, url, "", posted, rule=unfit.rule, value=unfit.value, threshold=unfit.threshold)


def handle_rule(discovered: Mapping[str, Any], name: str) -> str:
    """Return '' if the answer belongs to the requested account, else the rule that drops it."""
    username = discovered.get("username")
    return "" if username is None or (isinstance(username, str) and username.lower() == name.lower()) else "wrong_account"


def _media(record: Mapping[str, Any]) -> Iterator[Media]:
    items: list[Any] = [record]
    if read_text(record, "media_type") == "CAROUSEL_ALBUM":
        children = record.get("children")
        items = read_list(read_object(children, "children"), "data") if children is not None else []
    for item in items:
        child = read_object(item, "a child")
        kind = _KINDS.get(read_text(child, "media_type"), "other")
        yield Media(read_identifier(child, "id"), kind, read_text(child, "media_url", required=False))


def _cursor(paging: Any) -> str:
    """Return the cursor of the next page; '' for none."""
    cursors = paging.get("cursors") if isinstance(paging, dict) else None
    after = cursors.get("after") if isinstance(cursors, dict) else None
    return after if isinstance(after, str) and re.fullmatch(r"[\w=+/.~-]{1,500}", after) else ""
