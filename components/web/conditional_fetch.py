"""Use an earlier snapshot to avoid requests: conditional requests, reused bodies, and answers not requested again.

Decisions depend on the clock (an answer's age), so they are made while a snapshot is filled and never in a replay.
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
"""Statuses of an image that stay valid for ``fresh_for`` days."""


@dataclass
class ConditionalFetch:
    """Decides which answers of the base snapshot are reused, and makes other requests conditional."""

    base: FetchStore
    fresh_for: float
    """Days for which an image without a validator is not requested again; 0 always requests it."""
    changed: Mapping[str, datetime]
    """URL of a page → its last change, as its site's sitemap states it."""
    lasting: frozenset[str] = frozenset()
    """URLs whose good answer is reused whatever its age: expiring addresses of content that does not change."""

    def spared(self, url: str, role: str) -> Entry | None:
        """Return the answer to reuse without a request, or None.

        Reused: URLs in ``lasting``, fresh images without a validator, pages unchanged since our copy by their sitemap.
        """
        known = self.base.get(url)
        if known is None or known.failure or not known.fetched:
            return None
        if url in self.lasting and known.status == 200:
            return self._held(known)
        fetched = parse_moment(known.fetched)
        if role == "image" and not (known.etag or known.modified) and known.status in LASTING:
            age = datetime.now(UTC) - fetched
            # A copy from the future means that a clock was wrong: it is requested again.
            fresh = timedelta(0) <= age < timedelta(days=self.fresh_for)
        else:
            fresh = role == "page" and known.status == 200 and url in self.changed and self.changed[url] < fetched
        return self._held(known) if fresh else None

    def conditions(self, url: str) -> dict[str, str]:
        """Return the request headers that allow the host to answer 304 (RFC 9110, 13.1); empty without a copy or validator."""
        known = self.base.get(url)
        if known is None or known.failure or known.status != 200:
            return {}
        headers = {"If-None-Match": known.etag, "If-Modified-Since": known.modified}
        return {name: value for name, value in headers.items() if value and value.isprintable() and value.isascii()}

    def confirmed(self, answer: Entry) -> Entry:
        """Return our copy after a 304: new headers replace the stored ones (RFC 9111, 4.3.4)."""
        known = self.base.get(answer.url)
        assert known is not None
        updated = {
            name: getattr(answer, name) or getattr(known, name) for name in ("etag", "modified", "robots", "tdm", "signals")
        }
        return replace(self._held(known), fetched="", **updated)

    def unchanged(self, answer: Entry, body: bytes) -> Entry:
        """Return ``answer``; if our copy has the same bytes, with a reference to that body."""
        known = self.base.get(answer.url)
        if known is None or answer.failure or not (answer.status == known.status == 200) or known.bytes != len(body) or not body:
            return answer
        if known.sha256 != sha256_bytes(body):
            return answer
        return replace(answer, sha256=known.sha256, bytes=known.bytes, held=refer_to_body(known, self.base.folder.name))

    def _held(self, known: Entry) -> Entry:
        return replace(known, segment="", offset=0, length=0, held=refer_to_body(known, self.base.folder.name))


def parse_moment(text: str) -> datetime:
    """Return a W3C date-time (of a sitemap or WARC) as a moment; a partial date means its end.

    Never raises: an invalid date is the maximum.
    """
    latest = datetime.max.replace(tzinfo=UTC)
    text = text.strip()
    try:
        if len(text) == 4 and text.isdigit():
            return datetime(int(text) + 1, 1, 1, tzinfo=UTC) + timedelta(days=1)
        if len(text) == 7:
            year, month = int(text[:4]), int(text[5:])
            return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC) + timedelta(days=1)
        parsed = datetime.fromisoformat(text)
        if len(text) == 10:  # a day ends last in the time zone furthest behind UTC
            return parsed.replace(tzinfo=UTC) + timedelta(days=1, hours=12)
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC) + timedelta(hours=12)
    except (ValueError, OverflowError):
        return latest
