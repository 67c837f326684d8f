"""What an earlier snapshot spares a crawl: requests made conditional, bodies taken over, answers not asked for again.

Decides by the clock (an answer's age), so it is used while a snapshot is being filled and never in a replay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from components.core.digests import sha256_bytes
from components.web.snapshot_chain import refer_to_body
from components.web.store import FetchStore
from components.web.warc import Entry

LASTING = (200, 301, 302, 303, 307, 308, 404, 410)
"""Statuses of an image that are believed for as long as ``fresh_for`` says."""


@dataclass
class ConditionalFetch:
    """The base of a crawl, asked what it knows of a URL."""

    base: FetchStore
    fresh_for: float
    """Days for which an image whose host gave no validator is not asked for again; 0 asks always."""
    changed: Mapping[str, datetime]
    """URL of a page → when it last changed, as its site's sitemap says."""
    lasting: frozenset[str] = frozenset()
    """URLs whose good answer stands whatever its age: addresses that expire, of what does not change."""

    def spared(self, url: str, role: str) -> Entry | None:
        """The answer to take over without asking, or None.

        That is an image without a validator while it is fresh, and a page that its sitemap says is older than our copy.
        """
        known = self.base.get(url)
        if known is None or known.failure or not known.fetched:
            return None
        if url in self.lasting and known.status == 200:
            return self._held(known)
        got = parse_moment(known.fetched)
        if role == "image" and not (known.etag or known.modified) and known.status in LASTING:
            age = datetime.now(UTC) - got
            # A copy of the future tells of a clock that went wrong: it is asked for.
            fresh = timedelta(0) <= age < timedelta(days=self.fresh_for)
        else:
            fresh = role == "page" and known.status == 200 and url in self.changed and self.changed[url] < got
        return self._held(known) if fresh else None

    def conditions(self, url: str) -> dict[str, str]:
        """The request headers that let the host answer 304 (RFC 9110, 13.1); none without a copy or a validator."""
        known = self.base.get(url)
        if known is None or known.failure or known.status != 200:
            return {}
        wanted = {"If-None-Match": known.etag, "If-Modified-Since": known.modified}
        return {name: value for name, value in wanted.items() if value and value.isprintable() and value.isascii()}

    def confirmed(self, answer: Entry) -> Entry:
        """Our copy, as a 304 for it leaves it: the headers that came replace those we had (RFC 9111, 4.3.4)."""
        known = self.base.get(answer.url)
        assert known is not None
        new = {name: getattr(answer, name) or getattr(known, name) for name in ("etag", "modified", "robots", "tdm")}
        return replace(self._held(known), fetched="", **new)

    def unchanged(self, answer: Entry, body: bytes) -> Entry:
        """``answer``, or where our copy has the same bytes, the answer with that copy for its body."""
        known = self.base.get(answer.url)
        if known is None or answer.failure or not (answer.status == known.status == 200) or known.bytes != len(body) or not body:
            return answer
        if known.sha256 != sha256_bytes(body):
            return answer
        return replace(answer, sha256=known.sha256, bytes=known.bytes, held=refer_to_body(known, self.base.folder.name))

    def _held(self, known: Entry) -> Entry:
        return replace(known, segment="", offset=0, length=0, held=refer_to_body(known, self.base.folder.name))


def parse_moment(text: str) -> datetime:
    """A W3C date-time (a sitemap's, a WARC's) as a moment; a part of it stands for its end, so that it errs to later.

    Raises nothing: what makes no sense is the end of time.
    """
    never = datetime.max.replace(tzinfo=UTC)
    text = text.strip()
    try:
        if len(text) == 4 and text.isdigit():
            return datetime(int(text) + 1, 1, 1, tzinfo=UTC) + timedelta(days=1)
        if len(text) == 7:
            year, month = int(text[:4]), int(text[5:])
            return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC) + timedelta(days=1)
        found = datetime.fromisoformat(text)
        if len(text) == 10:  # a day ends last where clocks are furthest behind UTC
            return found.replace(tzinfo=UTC) + timedelta(days=1, hours=12)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC) + timedelta(hours=12)
    except (ValueError, OverflowError):
        return never
