"""Provider for servers with Mastodon's public API: tag timelines, accounts, statuses (docs.joinmastodon.org/methods).

A server only returns accounts that it knows: its own and remote ones that reached it. A locked account counts as private although
its public posts are readable, because its owner approves followers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from components.core.ledger import kept
from components.stages.crawl.posts.fields import (
    Unfit,
    clean_text,
    html_to_text,
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
from components.stages.crawl.posts.provider import Calls, Reply, Search, require_type, window_start
from components.stages.crawl.source_settings import MastodonSettings
from components.web.api import Api
from components.web.conditional_fetch import parse_moment as parse_time
from components.web.urls import host_of

_KINDS = {"image": "image", "gifv": "video", "video": "video"}
_PUBLIC = ("public", "unlisted")
_STATUS_FIELDS = ("id", "created_at", "account")
_ACCOUNT_FIELDS = ("id", "acct", "url", "locked", "noindex", "indexable", "suspended")


class MastodonApi(Api):
    """API addresses; the timelines are essential, since there is nothing to collect without them."""

    def reduced(self, url: str, body: bytes) -> bytes:
        """Return a timeline reduced to its accounts, as in PCV §4.1: the posts shown on it are not stored."""
        value = json.loads(body)
        if not self.essential(url) or not isinstance(value, list):
            return body
        return json.dumps([_reduce_status(status) for status in value], ensure_ascii=False).encode("utf-8", "replace")

    def essential(self, url: str) -> bool:
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

    def __init__(self, settings: MastodonSettings, token: str) -> None:
        self.settings = settings
        self.server, self.host = settings.server.rstrip("/"), host_of(settings.server).lower()
        self.api: Api = MastodonApi(self.server, token, variable=settings.token_variable)

    def normalise_name(self, name: str) -> str:
        return name if "@" in name else f"{name}@{self.host}"

    def search(self, calls: Calls) -> Search:
        result = Search()
        for tag in self.settings.tags:
            query = {"limit": str(min(self.settings.page_size, 40))} | ({"local": "true"} if self.settings.local else {})
            first = f"{self.server}/api/v1/timelines/tag/{quote(tag, safe='')}?{urlencode(query)}"
            self._read_timeline(calls, first, result)
        return result

    def _read_timeline(self, calls: Calls, first: str, result: Search) -> None:
        posts, accounts, start, end_reason = 0, set[str](), None, "its end"
        for reply in self._pages(calls, first):
            if reply.rule:
                result.drop(reply.url, reply.reason, "a timeline")
                end_reason = reply.rule
                break
            start = start or window_start(reply.fetched, self.settings.window_days)
            for number, status in enumerate(reply.value):
                try:
                    record = read_object(status, "a status")
                    if parse_time(read_time(record, "created_at")) < start:
                        end_reason = f"{self.settings.window_days:g} days"
                        break
                    if record.get("reblog") is not None:
                        continue
                    account = self._account(record.get("account"))
                    result.accounts[account.name] = account
                    accounts.add(account.name)
                    posts += 1
                except Unfit as unfit:
                    result.drop(f"{reply.url}#{number}", unfit.reason, "a status")
            else:
                continue
            break
        result.rows.append(
            kept(f"{first}#timeline", kind="page", detail=f"{posts} posts of {len(accounts)} accounts, to {end_reason}")
        )

    def account(self, calls: Calls, last_account: Account) -> Account:
        if last_account.handle:
            url = f"{self.server}/api/v1/accounts/{quote(last_account.handle, safe='')}"
        else:
            user, _, host = last_account.name.lstrip("@").partition("@")
            name = user if host in ("", self.host) else f"{user}@{host}"
            url = f"{self.server}/api/v1/accounts/lookup?{urlencode({'acct': name})}"
        reply = require_type(calls.get(url), dict)
        reason = reply.reason
        if reply.status in (404, 410):
            reason = (GONE, str(reply.status), "an account")
        elif reply.status == 403:
            reason = (PRIVATE, "403", "a public account")
        elif not reply.rule:
            try:
                # An account that has moved keeps its name.
                return replace(self._account(reply.value), name=last_account.name)
            except Unfit as unfit:
                reason = unfit.reason
        return Account(last_account.name, last_account.handle, last_account.url, *reason)

    def listings(self, calls: Calls, account: Account) -> list[Iterator[Page]]:
        return [self._listing(calls, account, tag) for tag in self.settings.tags]

    def _listing(self, calls: Calls, account: Account, tag: str) -> Iterator[Page]:
        query = {"tagged": tag, "limit": str(min(self.settings.page_size, 40)), "exclude_reblogs": "true"}
        first = f"{self.server}/api/v1/accounts/{quote(account.handle, safe='')}/statuses?{urlencode(query)}"
        for reply in self._pages(calls, first):
            posts = [self._post(status, reply, number) for number, status in enumerate(reply.value or ())]
            yield Page(posts, reply.url, reply.fetched, *reply.reason)

    def _pages(self, calls: Calls, first: str) -> Iterator[Reply]:
        """Yield a list page by page: by its Link headers, else by the last identifier of a full page."""
        url, seen = first, set[str]()
        while url:
            if url in seen or len(seen) >= self.settings.max_pages:
                rule = "paging_loop" if url in seen else "page_limit"
                yield Reply(
                    f"{url}#{rule}",
                    None,
                    rule,
                    f"{len(seen)} pages",
                    "a last page" if url in seen else str(self.settings.max_pages),
                )
                return
            seen.add(url)
            reply = require_type(calls.get(url), list)
            yield reply
            if reply.rule or not reply.value:
                return
            url = self._next_page_url(first, reply)

    def _next_page_url(self, first: str, reply: Reply) -> str:
        """Return the next page's address: ours with the Link header's ``max_id``, so that no header leads to another host."""
        if reply.following is not None:
            try:
                max_id = parse_qs(urlsplit(reply.following).query).get("max_id", [""])[-1]
            except ValueError:  # not an address
                return ""
            return f"{first}&{urlencode({'max_id': clean_text(max_id)[:200]})}" if max_id else ""
        last_status = reply.value[-1]
        last_id = last_status.get("id") if isinstance(last_status, dict) else None
        if len(reply.value) < min(self.settings.page_size, 40) or not isinstance(last_id, str):
            return ""
        return f"{first}&{urlencode({'max_id': clean_text(last_id)[:200]})}"

    def _account(self, value: Any) -> Account:
        record = read_object(value, "account")
        acct = read_text(record, "acct").lstrip("@")
        name = self.normalise_name(acct)
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
        post_id, url, posted = f"{reply.url}#{number}", "", ""
        try:
            record = read_object(value, "a status")
            post_id = read_identifier(record, "id")
            url = read_text(record, "url", required=False) or read_text(record, "uri")
            posted = read_time(record, "created_at")
            if record.get("reblog") is not None:
                return Post(post_id, url, "", posted, rule="boost", value="another's post", threshold="its own")
            if (visibility := read_text(record, "visibility")) not in _PUBLIC:
                return Post(post_id, "", "", posted, rule="not_public", value=visibility[:40], threshold=" ".join(_PUBLIC))
            media = tuple(self._media(attachment) for attachment in read_list(record, "media_attachments"))
            return Post(post_id, url, html_to_text(read_caption(record, "content")), posted, read_language(record), media)
        except Unfit as unfit:
            return Post(post_id, url, "", posted, rule=unfit.rule, value=unfit.value, threshold=unfit.threshold)

    def _media(self, value: Any) -> Media:
        record = read_object(value, "an attachment")
        kind = _KINDS.get(read_text(record, "type"), "other")
        url = read_text(record, "url", required=False) or read_text(record, "remote_url", required=False)
        return Media(read_identifier(record, "id"), kind, url, read_text(record, "description", required=False))
