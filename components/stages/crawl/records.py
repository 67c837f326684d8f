"""From pages found to CANDIDATE records: one ledger row for every ``<img>``, media once for every picture kept.

Runs over a complete snapshot and touches no network; equal snapshots give equal bytes. An image is a ``Candidate`` of a
``SourcePage``, then has a ``Verdict`` before it is fetched and a ``DecodeResult`` after that, and ends as a record or as a ledger
row. Not in scope: which records are good captions (the filter stage).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa

from components.core.ledger import dropped, kept, ledger_table
from components.core.records import CANDIDATE
from components.execution.stage import Stage
from components.stages.crawl.image_decoding import decode_results
from components.stages.crawl.sources.found import SourcePage, key_of
from components.stages.crawl.sources.taken import address_hash, mark_of
from components.stages.crawl.where import CUT, where_of
from components.web.answers import Answers, Outcome
from components.web.budget import Budget
from components.web.html.page import Candidate
from components.web.image_precheck import WHOLE, Limits, check_size
from components.web.images.image import DecodeResult
from components.web.images.kinds import FORMATS
from components.web.redaction import redact_row
from components.web.store import FetchStore
from components.web.takedown_list import EMPTY_LIST, RULE, Takedown, takedown_row
from components.web.urls import host_of

IMAGES_AT_A_TIME = 20_000
"""Images of a chunk of pages: what is judged, fetched and written together, and so in memory."""
ROWS_A_SHARD = 25_000
"""Ledger rows that close a shard, whatever it holds."""


@dataclass(frozen=True)
class Verdict:
    """One image of a page, with the row that drops it before anything was fetched, or None."""

    key: str
    page: SourcePage
    candidate: Candidate
    row: dict[str, str] | None

    @property
    def where(self) -> str:
        """Where the image stands, for the ledger."""
        return where_of(self.page, self.candidate)


def chunks(pages: Iterable[SourcePage]) -> Iterator[list[SourcePage]]:
    """The pages in runs of about ``IMAGES_AT_A_TIME`` images."""
    chunk: list[SourcePage] = []
    size = 0
    for page in pages:
        chunk.append(page)
        size += 1 + len(page.candidates)
        if size >= IMAGES_AT_A_TIME:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


class Judge:
    """What can be said of images before they are fetched: taken down, inline, no usable address or alt-text, seen before.

    Of equal (image, alt) pairs the first stays, over all chunks it is shown (a digest and a key a pair in memory).
    """

    def __init__(self, min_alt: int, taken: Takedown = EMPTY_LIST, *, max_alt: int = Budget().alt_characters) -> None:
        self._least, self._most, self._taken = max(min_alt, 1), max_alt, taken
        self.taken: set[str] = set()
        """The hashes of the addresses of images that are taken down."""
        self._first: dict[bytes, str] = {}

    def verdicts(self, pages: Iterable[SourcePage]) -> list[Verdict]:
        """One for each image of the pages, in order."""
        return [self._verdict(page, candidate) for page in pages for candidate in page.candidates]

    def _verdict(self, page: SourcePage, candidate: Candidate) -> Verdict:
        row = None
        if candidate.taken:
            key, mark, shown = candidate.taken.split(" ")
        else:
            key, mark, shown = key_of(page, candidate), mark_of(page, candidate, self._taken), ""
        if mark:  # first of all, so that it stands for no other's pair
            self.taken.add(shown or address_hash(candidate.image_url))
            return Verdict(key, page, candidate, takedown_row(key, mark))
        # A table's rows may say the same of an image in two languages; on pages the language is that of all around it.
        language = "" if page.url else f"\n{page.language}"
        pair = hashlib.blake2b(f"{candidate.image_url}\n{candidate.alt}{language}".encode(), digest_size=16).digest()
        where = where_of(page, candidate)
        if candidate.data_uri:
            row = dropped(key, "data_uri", candidate.source[:40], "an address", detail=where[:CUT])
        elif candidate.image_url is None:
            row = dropped(key, "unusable_url", candidate.source[:CUT] or "no src", "http or https", detail=where)
        elif len(candidate.alt) < self._least:
            value = f"{len(candidate.alt)} characters" if candidate.has_alt else "no alt attribute"
            row = dropped(key, "empty_alt", value, self._least, detail=where)
        elif len(candidate.alt) > self._most:
            row = dropped(key, "alt_too_long", f"{len(candidate.alt)} characters", self._most, detail=where)
        elif pair in self._first:
            row = dropped(key, "duplicate_pair", self._first[pair], "first by page and position", detail=where)
        else:
            self._first[pair] = key
        return Verdict(key, page, candidate, row)


def wanted_images(verdicts: Sequence[Verdict]) -> list[str]:
    """The image addresses still of interest, sorted."""
    return sorted({verdict.candidate.image_url or "" for verdict in verdicts if verdict.row is None})


class Bodies(Mapping[str, bytes]):
    """Media members, each read from the store when asked for: a large shard needs no large memory."""

    def __init__(self, store: FetchStore, urls: Mapping[str, str]) -> None:
        self._store, self._urls = store, urls
        self._last: tuple[str, bytes] = ("", b"")

    def __getitem__(self, member: str) -> bytes:
        if self._last[0] != member:
            self._last = (member, self._store.body(self._urls[member]))
        return self._last[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._urls)

    def __len__(self) -> int:
        return len(self._urls)


def write_records(
    stage: Stage,
    answers: Answers,
    pages: Iterable[SourcePage],
    settled: Callable[[list[Verdict]], list[Verdict]] | None = None,
) -> None:
    """Judge what was found and fetched, and write shards of ``shard_size`` kept records, in the order of the pages.

    Args:
        settled: what becomes of the verdicts when the snapshot stands on another; it is shown all of them at once.
    """
    params, budget = stage.params, stage.params.budget
    limits = Limits(params.max_image_bytes, params.min_side, params.max_aspect, budget.image_pixels, budget.image_side)
    judge, shards = Judge(params.min_alt, answers.taken, max_alt=budget.alt_characters), _Shards(stage, answers, limits)
    for chunk in [list(pages)] if settled else chunks(pages):
        verdicts = settled(judge.verdicts(chunk)) if settled else judge.verdicts(chunk)
        outcomes = {url: answers.outcome(url) for url in wanted_images(verdicts)}
        results = decode_results(stage, answers.store, outcomes.values(), limits.max_bytes)
        following = iter(verdicts)
        for page in chunk:
            if page.row is not None:
                shards.rows.append(page.row)
            for verdict in islice(following, len(page.candidates)):
                shards.add(verdict, outcomes.get(verdict.candidate.image_url or ""), results)
            if len(shards.rows) >= ROWS_A_SHARD:
                shards.flush()
    shards.close()


class _Shards:
    """The shard being filled, and the pictures written so far."""

    def __init__(self, stage: Stage, answers: Answers, limits: Limits) -> None:
        self._stage, self._store, self._taken, self._limits = stage, answers.store, answers.taken, limits
        self.rows: list[dict[str, str]] = []
        self._records: list[dict[str, Any]] = []
        self._media: dict[str, str] = {}  # image sha256 → "<shard>/<member>"
        self._new: dict[str, str] = {}  # member → URL, of this shard
        self._number = 0

    def add(self, verdict: Verdict, outcome: Outcome | None, results: Mapping[str, DecodeResult]) -> None:
        """Take in one image: as a record with its picture, or as the row that drops it; a full shard is written."""
        row, result = verdict.row, None
        if row is None:
            assert outcome is not None
            result = results.get(outcome.entry.sha256) if outcome.entry is not None else None
            row = _refusal(verdict, outcome, result, self._limits, self._stage.params.budget)
        if row is not None:
            self.rows.append(row)
            return
        assert outcome is not None and result is not None
        page, candidate = verdict.page, verdict.candidate
        member = f"{result.sha256}.{FORMATS[result.format]}"
        if result.sha256 not in self._media:
            self._media[result.sha256] = f"{self._number:05d}/{member}"
            self._new[member] = outcome.final
        self._records.append(
            {
                "key": verdict.key,
                "page_url": page.url,
                "image_url": candidate.image_url,
                "alt": candidate.alt,
                "figcaption": candidate.figcaption,
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
        self.rows.append(kept(verdict.key, detail=verdict.where))
        if len(self._records) >= self._stage.params.shard_size:
            self.flush()

    def flush(self) -> None:
        """Write the shard and begin the next."""
        content = Bodies(self._store, dict(self._new))
        table = pa.Table.from_pylist(self._records, schema=CANDIDATE)
        # The one place that all rows pass: whatever a page, a host or a table says in them, none names what is taken down.
        rows = [redact_row(row, self._taken) for row in self.rows]
        self._stage.write_shard(f"{self._number:05d}", table, ledger_table(rows), content)
        self._number += 1
        for part in (self._records, self.rows, self._new):
            part.clear()

    def close(self) -> None:
        """Write what is left; an output has one shard at least."""
        if self.rows or self._records or self._number == 0:
            self.flush()


def _refusal(
    verdict: Verdict, outcome: Outcome, result: DecodeResult | None, limits: Limits, budget: Budget
) -> dict[str, str] | None:
    """The row that drops an image for its answer or for what decoding it gave; None for a good one."""

    def drop(rule: str, value: str, threshold: object, detail: str = "") -> dict[str, str]:
        return dropped(verdict.key, rule, value, threshold, detail=detail or verdict.where)

    most = f"{limits.max_bytes} bytes"
    if outcome.rule:
        # An image that a page linked to was asked for as a page.
        rule = {"too_large": "image_too_large"}.get(outcome.rule, outcome.rule)
        threshold = outcome.threshold or (most if rule == "image_too_large" else "an answer")
        return drop(rule, outcome.value, threshold, outcome.detail if rule == RULE else "")
    assert outcome.entry is not None
    if outcome.entry.bytes > limits.max_bytes:
        return drop("image_too_large", f"{outcome.entry.bytes} bytes", most)
    assert result is not None
    # A snapshot fetched under looser limits, or a header that the fetcher could not read in time. An image too large to be
    # decoded says so whatever came of an earlier try, and a broken one is broken before it is too small.
    refused = check_size(result.width, result.height, limits)
    if result.reason and (refused is None or refused.rule != "image_too_large"):
        over = result.reason == "image_over_budget"
        return drop(result.reason, result.detail, _given(budget, result.detail) if over else WHOLE)
    return drop(refused.rule, refused.value, refused.threshold) if refused else None


def _given(budget: Budget, what: str) -> str:
    """What one image may cost, in the ledger's words."""
    seconds, memory = f"{budget.image_seconds:g} s", f"{budget.image_memory} bytes"
    return {"cpu": seconds, "memory": memory}.get(what, f"{seconds} and {memory}")
