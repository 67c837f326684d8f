"""Servers with Mastodon's public API: tag timelines, accounts, an account's statuses (docs.joinmastodon.org/methods).

The server one asks tells only of accounts it knows, its own and those of others that reached it. A locked account counts as
private although its public posts may be read: its owner chooses who follows. Not in scope: what becomes of posts (``survey``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from components.core.ledger import dropped, kept
from components.stages.crawl.posts.calls import Calls, Reply, require_type
from components.stages.crawl.posts.fields import (
    Unfit,
    read_caption,
    read_flag,
    read_identifier,
    read_language,
    read_list,
    read_object,
    read_text,
    read_time,
)
from components.stages.crawl.posts.post import GONE, NOINDEX, PRIVATE, Account, Media, Page, Post
from components.stages.crawl.posts.provider import Search, host_name, window_start
from components.stages.crawl.posts.settings import PostsSettings
from components.stages.crawl.posts.text import clean_text, html_to_text
from components.web.api import Api
from components.web.conditional_fetch import moment as parse_time

_KINDS = {"image": "image", "gifv": "video", "video": "video"}
_PUBLIC = ("public", "unlisted")


_STATUS_FIELDS = ("id", "created_at", "account")
_ACCOUNT_FIELDS = ("id", "acct", "url", "locked", "noindex", "indexable", "suspended")


class MastodonApi(Api):
    """Its addresses; without a timeline there is nothing to collect."""

    def reduced(self, url: str, body: bytes) -> bytes:
        """Of a timeline its accounts alone, as in the paper's first phase: what it shows of posts is not ours to keep."""
        value = json.loads(body)
        if not self.essential(url) or not isinstance(value, list):
            return body
        return json.dumps([_reduce_status(status) for status in value], ensure_ascii=False).encode("utf-8", "replace")

    def essential(self, url: str) -> bool:
        """See :class:`Api`."""
        return url.startswith(f"{self.prefix}api/v1/timelines/")


def _reduce_status(status: Any) -> Any:
    if not isinstance(status, dict):
        return None
    kept = {name: status[name] for name in _STATUS_FIELDS if name in status}
    kept |= {"reblog": None if status.get("reblog") is None else {}}
    if isinstance(account := kept.get("account"), dict):
        kept["account"] = {name: account[name] for name in _ACCOUNT_FIELDS if name in account}
    return kept


class Mastodon:
    """See :class:`components.stages.crawl.posts.provider.Provider`."""

    urls_expire, tagged_only = False, True

    def __init__(self, settings: PostsSettings, max_pages: int, token: str) -> None:
        self.settings, self.max_pages = settings, max_pages
        self.server = settings.server.rstrip("/")
        self.api: Api = MastodonApi(self.server, token, variable=settings.token_variable)

    def normalise_name(self, name: str) -> str:
        """See :class:`Provider`."""
        return name if "@" in name else f"{name}@{host_name(self.server)}"

    def search(self, calls: Calls) -> Search:
        """See :class:`Provider`."""
        found = Search()
        for tag in self.settings.tags:
            asked = {"limit": str(min(self.settings.page_size, 40))} | ({"local": "true"} if self.settings.local else {})
            first = f"{self.server}/api/v1/timelines/tag/{quote(tag, safe='')}?{urlencode(asked)}"
            self._search(calls, first, found)
        return found

    def _search(self, calls: Calls, first: str, found: Search) -> None:
        posts, accounts, begin, why = 0, set[str](), None, "its end"
        for reply in self._pages(calls, first):
            if reply.rule:
                found.rows.append(
                    dropped(reply.url, reply.rule, reply.observed, reply.threshold, kind="page", detail="a timeline")
                )
                why = reply.rule
                break
            begin = begin or window_start(reply.fetched, self.settings.window_days)
            for number, status in enumerate(reply.value):
                try:
                    record = read_object(status, "a status")
                    if parse_time(read_time(record, "created_at")) < begin:
                        why = f"{self.settings.window_days:g} days"
                        break
                    if record.get("reblog") is not None:
                        continue
                    account = self._account(record.get("account"))
                    found.accounts[account.name] = account
                    accounts.add(account.name)
                    posts += 1
                except Unfit as unfit:
                    key = f"{reply.url}#{number}"
                    found.rows.append(dropped(key, unfit.rule, unfit.value, unfit.threshold, kind="page", detail="a status"))
            else:
                continue
            break
        found.rows.append(kept(f"{first}#timeline", kind="page", detail=f"{posts} posts of {len(accounts)} accounts, to {why}"))

    def account(self, calls: Calls, known: Account) -> Account:
        """See :class:`Provider`."""
        if known.handle:
            url = f"{self.server}/api/v1/accounts/{quote(known.handle, safe='')}"
        else:
            user, _, host = known.name.lstrip("@").partition("@")
            name = user if host in ("", host_name(self.server)) else f"{user}@{host}"
            url = f"{self.server}/api/v1/accounts/lookup?{urlencode({'acct': name})}"
        reply = require_type(calls.get(url), dict)
        if reply.status in (404, 410):
            return Account(known.name, known.handle, known.url, GONE, str(reply.status), "an account")
        if reply.status == 403:
            return Account(known.name, known.handle, known.url, PRIVATE, "403", "a public account")
        if reply.rule:
            return Account(known.name, known.handle, known.url, reply.rule, reply.observed, reply.threshold)
        try:
            now = self._account(reply.value)
        except Unfit as unfit:
            return Account(known.name, known.handle, known.url, unfit.rule, unfit.value, unfit.threshold)
        # An account that has moved keeps the name it was found under.
        return Account(known.name, now.handle, now.url, now.rule, now.value, now.threshold, now.consents)

    def listings(self, calls: Calls, account: Account) -> list[Iterator[Page]]:
        """See :class:`Provider`."""
        return [self._listing(calls, account, tag) for tag in self.settings.tags]

    def _listing(self, calls: Calls, account: Account, tag: str) -> Iterator[Page]:
        asked = {"tagged": tag, "limit": str(min(self.settings.page_size, 40)), "exclude_reblogs": "true"}
        first = f"{self.server}/api/v1/accounts/{quote(account.handle, safe='')}/statuses?{urlencode(asked)}"
        for reply in self._pages(calls, first):
            posts = [self._post(status, reply, number) for number, status in enumerate(reply.value or ())]
            yield Page(posts, reply.url, reply.fetched, reply.rule, reply.observed, reply.threshold)

    def _pages(self, calls: Calls, first: str) -> Iterator[Reply]:
        """A list page by page: as its Link headers say, or where they are missing, by the last identifier of a full page."""
        url, seen = first, set[str]()
        while url:
            if url in seen or len(seen) >= self.max_pages:
                rule = "paging_loop" if url in seen else "page_limit"
                yield Reply(
                    f"{url}#{rule}", None, rule, f"{len(seen)} pages", "a last page" if url in seen else str(self.max_pages)
                )
                return
            seen.add(url)
            reply = require_type(calls.get(url), list)
            yield reply
            if reply.rule or not reply.value:
                return
            url = self._following(first, reply)

    def _following(self, first: str, reply: Reply) -> str:
        """The next page's address: ours with the place that the Link header names, so that no header leads elsewhere."""
        if reply.following is not None:
            try:
                place = parse_qs(urlsplit(reply.following).query).get("max_id", [""])[-1]
            except ValueError:  # no address at all
                return ""
            return f"{first}&{urlencode({'max_id': clean_text(place)[:200]})}" if place else ""
        last = reply.value[-1]
        number = last.get("id") if isinstance(last, dict) else None
        if len(reply.value) < min(self.settings.page_size, 40) or not isinstance(number, str):
            return ""
        return f"{first}&{urlencode({'max_id': clean_text(number)[:200]})}"

    def _account(self, value: Any) -> Account:
        record = read_object(value, "account")
        spelled = read_text(record, "acct").lstrip("@")
        name = self.normalise_name(spelled)
        if len(name) > 300 or any(char.isspace() for char in name):
            raise Unfit("wrong_type", f"acct is {name[:40]!r}", "a name")
        common = (name, read_identifier(record, "id"), read_text(record, "url", required=False))
        consents = read_flag(record, "indexable") is True
        if read_flag(record, "suspended"):
            return Account(*common, GONE, "suspended", "an account")
        if read_flag(record, "locked"):
            return Account(*common, PRIVATE, "locked", "a public account")
        if read_flag(record, "noindex"):
            return Account(*common, NOINDEX, "noindex", "not said")
        return Account(*common, consents=consents)

    def _post(self, value: Any, reply: Reply, number: int) -> Post:
        number_, url, posted = f"{reply.url}#{number}", "", ""
        try:
            record = read_object(value, "a status")
            number_ = read_identifier(record, "id")
            url = read_text(record, "url", required=False) or read_text(record, "uri")
            posted = read_time(record, "created_at")
            if record.get("reblog") is not None:
                return Post(number_, url, "", posted, rule="boost", value="another's post", threshold="its own")
            if (visible := read_text(record, "visibility")) not in _PUBLIC:
                return Post(number_, "", "", posted, rule="not_public", value=visible[:40], threshold=" ".join(_PUBLIC))
            media = tuple(self._media(one) for one in read_list(record, "media_attachments"))
            return Post(number_, url, html_to_text(read_caption(record, "content")), posted, read_language(record), media)
        except Unfit as unfit:
            return Post(number_, url, "", posted, rule=unfit.rule, value=unfit.value, threshold=unfit.threshold)

    def _media(self, value: Any) -> Media:
        record = read_object(value, "an attachment")
        kind = _KINDS.get(read_text(record, "type"), "other")
        url = read_text(record, "url", required=False) or read_text(record, "remote_url", required=False)
        return Media(read_identifier(record, "id"), kind, url, read_text(record, "description", required=False))
