"""CANDIDATE records from source pages: one ledger row per ``<img>``, one media file per distinct kept image.

No network access. An image is a ``Candidate`` of a ``SourcePage``, gets a ``Verdict`` before it is
fetched, an ``Outcome`` and a ``DecodeResult`` after that, and ends as a record or as a ledger row.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pyarrow as pa

from components.core.ledger import dropped, kept, ledger_table
from components.core.records import CANDIDATE
from components.execution.stage import Stage
from components.stages.crawl.consent_ledger import ConsentLedger
from components.stages.crawl.image_decoding import decode_results
from components.stages.crawl.image_drops import drop_row
from components.stages.crawl.sources.source_pages import (
    MAX_SHOWN_TEXT,
    Source,
    SourcePage,
    candidate_key,
    chunk_pages,
    describe_location,
    find_takedown_mark,
    hash_address,
    redact_context,
)
from components.web.answers import Answers, Outcome
from components.web.html.context import Context, normalise, to_row
from components.web.html.page import Candidate
from components.web.images.head import FORMATS
from components.web.images.image import DecodeResult
from components.web.redaction import redact_row
from components.web.takedown_list import EMPTY_LIST, Takedown, takedown_row
from components.web.urls import host_of


class SiteCounts:
    """Images by site (host) and alt-text, compared as words, over all pages of a snapshot.

    Memory: 8 bytes and a dictionary's entry for each distinct text of a site.
    """

    def __init__(self, pages: Iterable[SourcePage]) -> None:
        self._counts = Counter(
            _digest(page, candidate) for page in pages for candidate in page.candidates if candidate.context is not None
        )

    def context(self, page: SourcePage, candidate: Candidate) -> Context | None:
        """Return a candidate's context with the count of its site; None for a candidate without context."""
        if candidate.context is None:
            return None
        return replace(candidate.context, site_count=self._counts[_digest(page, candidate)])


def _digest(page: SourcePage, candidate: Candidate) -> bytes:
    return hashlib.blake2b(f"{host_of(page.url)}\n{normalise(candidate.alt)}".encode(), digest_size=8).digest()


MAX_ROWS_PER_SHARD = 25_000
"""Ledger rows after which a shard is closed, whatever its number of records."""


@dataclass(frozen=True)
class Verdict:
    """An image of a page and the ledger row that drops it before it is fetched; ``row`` is None for an image to fetch."""

    key: str
    page: SourcePage
    candidate: Candidate
    row: dict[str, str] | None


class Judge:
    """Checks of images before fetching: taken down, data URI, unusable address, alt-text length, duplicate pair.

    Of equal (image, alt) pairs the first is kept, over all chunks passed to one instance (memory: a digest and a key per pair).
    """

    def __init__(self, params: Any, taken: Takedown = EMPTY_LIST) -> None:
        self._min_alt, self._max_alt, self._takedown = max(params.min_alt, 1), params.budget.alt_characters, taken
        self.taken: set[str] = set()
        """sha256 of the addresses of images that are taken down."""
        self._first_keys: dict[bytes, str] = {}

    def check(self, pages: Iterable[SourcePage]) -> list[Verdict]:
        return [self._verdict(page, candidate) for page in pages for candidate in page.candidates]

    def _verdict(self, page: SourcePage, candidate: Candidate) -> Verdict:
        row = None
        if candidate.taken:
            key, mark, image_hash = candidate.taken.split(" ")
        else:
            key, mark, image_hash = candidate_key(page, candidate), find_takedown_mark(page, candidate, self._takedown), ""
        if mark:  # before the other checks, so that a taken-down image is never the first of a duplicate pair
            self.taken.add(image_hash or hash_address(candidate.image_url))
            return Verdict(key, page, candidate, takedown_row(key, mark))
        # Rows of a table may give equal captions in two languages; on a page the language belongs to the whole page.
        language = "" if page.url else f"\n{page.language}"
        pair = hashlib.blake2b(f"{candidate.image_url}\n{candidate.alt}{language}".encode(), digest_size=16).digest()
        where = describe_location(page, candidate)
        if candidate.data_uri:
            row = dropped(key, "data_uri", candidate.source[:40], "an address", detail=where[:MAX_SHOWN_TEXT])
        elif candidate.image_url is None:
            row = dropped(key, "unusable_url", candidate.source[:MAX_SHOWN_TEXT] or "no src", "http or https", detail=where)
        elif len(candidate.alt) < self._min_alt:
            value = f"{len(candidate.alt)} characters" if candidate.has_alt else "no alt attribute"
            row = dropped(key, "empty_alt", value, self._min_alt, detail=where)
        elif len(candidate.alt) > self._max_alt:
            row = dropped(key, "alt_too_long", f"{len(candidate.alt)} characters", self._max_alt, detail=where)
        elif pair in self._first_keys:
            row = dropped(key, "duplicate_pair", self._first_keys[pair], "first by page and position", detail=where)
        else:
            self._first_keys[pair] = key
        return Verdict(key, page, candidate, row)


def select_image_urls(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the addresses of images without a drop row, sorted and unique."""
    return sorted({verdict.candidate.image_url or "" for verdict in verdicts if verdict.row is None})


class MediaBodies(Mapping[str, bytes]):
    """Media member → bytes, read on access, so that memory does not grow with the shard."""

    def __init__(self, members: Iterable[str], read: Callable[[str], bytes]) -> None:
        self._members, self._read = list(members), read

    def __getitem__(self, member: str) -> bytes:
        return self._read(member)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


WriteShard = Callable[[str, pa.Table, pa.Table, Mapping[str, bytes]], None]
"""Takes a shard: name, records, ledger, media."""


def write_records(
    stage: Stage,
    answers: Answers,
    source: Source,
    resolve: Callable[[list[Verdict]], list[Verdict]] | None = None,
    write: WriteShard | None = None,
    consent: ConsentLedger | None = None,
) -> None:
    """Write shards of ``shard_size`` kept records from checked, fetched and decoded images, in the order of the pages.

    Pages of sites are read twice, first for the counts of their texts.

    Args:
        resolve: adjusts the verdicts of a snapshot that has a base; receives all verdicts in one call.
        write: takes the shards; None writes them into the stage's output.
        consent: receives what pages and images state about their use.
    """
    params = stage.params
    judge = Judge(params, answers.taken)
    counts = SiteCounts(source.pages(answers, None) if source.of_sites else ())
    shards = _Shards(write or stage.write_shard, params, answers, counts)
    pages = source.pages(answers, None)
    for chunk in [list(pages)] if resolve else chunk_pages(pages):
        verdicts = resolve(judge.check(chunk)) if resolve else judge.check(chunk)
        outcomes = {url: answers.outcome(url) for url in select_image_urls(verdicts)}
        results = decode_results(stage, answers.store, outcomes.values(), params.max_image_bytes)
        shown: list[tuple[str, str, str]] = []
        following = iter(verdicts)
        for page in chunk:
            if page.row is not None:
                shards.rows.append(page.row)
            for verdict in islice(following, len(page.candidates)):
                image = verdict.candidate.image_url or ""
                rule = shards.add(verdict, outcomes.get(image), results)
                shown += [(image, page.url, rule)] if verdict.row is None else []
            if len(shards.rows) >= MAX_ROWS_PER_SHARD:
                shards.flush()
        if consent is not None:
            consent.add(chunk, shown, outcomes.values(), results)
    shards.close()


class _Shards:
    """The shard being filled and the images already written."""

    def __init__(self, write: WriteShard, params: Any, answers: Answers, counts: SiteCounts) -> None:
        self._write, self._params, self._answers, self._store, self._taken = write, params, answers, answers.store, answers.taken
        self._counts = counts
        self.rows: list[dict[str, str]] = []
        self._records: list[dict[str, Any]] = []
        self._media: dict[str, str] = {}  # image sha256 → "<shard>/<member>"
        self._new_media: dict[str, str] = {}  # member → URL, media of the current shard
        self._number = 0

    def add(self, verdict: Verdict, outcome: Outcome | None, results: Mapping[str, DecodeResult]) -> str:
        """Add one image as a record with its media file, or as the row that drops it; write the shard when it is full.

        Returns:
            The rule that drops it, or ''.
        """
        row, result = verdict.row, None
        if row is None:
            assert outcome is not None
            result = results.get(outcome.entry.sha256) if outcome.entry is not None else None
            location = describe_location(verdict.page, verdict.candidate)
            row = drop_row(verdict.key, location, outcome, result, self._params, self._answers)
        if row is not None:
            self.rows.append(row)
            return row["rule"]
        assert outcome is not None and result is not None
        page, candidate = verdict.page, verdict.candidate
        member = f"{result.sha256}.{FORMATS[result.format]}"
        if result.sha256 not in self._media:
            self._media[result.sha256] = f"{self._number:05d}/{member}"
            self._new_media[member] = outcome.final
        context = redact_context(self._counts.context(page, candidate), self._taken)
        self._records.append(
            {
                "key": verdict.key,
                "page_url": page.url,
                "image_url": candidate.image_url,
                "alt": candidate.alt,
                "figcaption": candidate.figcaption,
                "context": to_row(context),
                "position": candidate.position,
                "host": host_of(page.url or candidate.image_url or ""),
                "language": page.language,
                "format": result.format,
                "width": result.width,
                "height": result.height,
                "bytes": result.bytes,
                "image_sha256": result.sha256,
                "phash": result.phash,
                "media": self._media[result.sha256],
                "archive": page.archive,
                "archive_offset": page.offset,
                "owner": page.owner,
                "post": page.post,
                "posted": page.posted,
                "collected": page.collected,
            }
        )
        self.rows.append(kept(verdict.key, detail=describe_location(page, candidate)))
        if len(self._records) >= self._params.shard_size:
            self.flush()
        return ""

    def flush(self) -> None:
        urls = dict(self._new_media)
        content = MediaBodies(urls, lambda member: self._store.body(urls[member]))
        table = pa.Table.from_pylist(self._records, schema=CANDIDATE)
        # All rows pass here, so no text from a page, host or table can leak a taken-down address or owner.
        rows = [redact_row(row, self._taken) for row in self.rows]
        self._write(f"{self._number:05d}", table, ledger_table(rows), content)
        self._number += 1
        for part in (self._records, self.rows, self._new_media):
            part.clear()

    def close(self) -> None:
        """Write the remaining rows; an output has at least one shard."""
        if self.rows or self._number == 0:
            self.flush()
