"""From pages found to CANDIDATE records: one ledger row for every ``<img>``, media once for every picture kept.

Runs over a complete snapshot and touches no network; equal snapshots give equal bytes. Not in scope: which records
are good captions (the filter stage).
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
from components.stages.crawl.image_decoding import facts_of
from components.stages.crawl.sources.found import FoundPage, key_of
from components.stages.crawl.sources.taken import address_hash, mark_of
from components.stages.crawl.walk import Found
from components.stages.crawl.where import CUT, where_of
from components.web.answers import Answers, Outcome
from components.web.budget import Budget
from components.web.image_precheck import WHOLE, Limits, out_of_range
from components.web.images.kinds import FORMATS
from components.web.redaction import clean
from components.web.store import FetchStore
from components.web.takedown_list import NOTHING, RULE, Takedown, taken_row
from components.web.urls import LONGEST, host_of

IMAGES_AT_A_TIME = 20_000
"""Images of a chunk of pages: what is judged, fetched and written together, and so in memory."""
ROWS_A_SHARD = 25_000
"""Ledger rows that close a shard, whatever it holds."""


@dataclass(frozen=True)
class Verdict:
    """One image found, with the row that drops it before anything was fetched, or None."""

    key: str
    found: Found
    row: dict[str, str] | None


def chunks(pages: Iterable[FoundPage]) -> Iterator[list[FoundPage]]:
    """The pages in runs of about ``IMAGES_AT_A_TIME`` images."""
    chunk: list[FoundPage] = []
    size = 0
    for page in pages:
        chunk.append(page)
        size += 1 + len(page.found)
        if size >= IMAGES_AT_A_TIME:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


class Judge:
    """What can be said of images before they are fetched: taken down, inline, no usable address or alt-text, seen before.

    Of equal (image, alt) pairs the first stays, over all chunks it is shown (a digest and a key a pair in memory).
    """

    def __init__(self, min_alt: int, taken: Takedown = NOTHING, *, max_alt: int = Budget().alt_characters) -> None:
        self._least, self._most, self._taken = max(min_alt, 1), max_alt, taken
        self.taken: set[str] = set()
        """The hashes of the addresses of images that are taken down."""
        self._first: dict[bytes, str] = {}

    def verdicts(self, pages: Iterable[FoundPage]) -> list[Verdict]:
        """One for each image of the pages, in order."""
        return [self._verdict(item) for page in pages for item in page.found]

    def _verdict(self, item: Found) -> Verdict:
        candidate, row = item.candidate, None
        key, mark, shown = item.taken.split(" ") if item.taken else (key_of(item), mark_of(item, self._taken), "")
        if mark:  # first of all, so that it stands for no other's pair
            self.taken.add(shown or address_hash(candidate.image_url))
            return Verdict(key, item, taken_row(key, mark))
        # A table's rows may say the same of an image in two languages; on pages the language is that of all around it.
        told = "" if item.page_url else f"\n{item.language}"
        pair = hashlib.blake2b(f"{candidate.image_url}\n{candidate.alt}{told}".encode(), digest_size=16).digest()
        where = where_of(item)
        if candidate.data_uri:
            row = dropped(key, "data_uri", candidate.source[:40], "an address", detail=where[:CUT])
        elif candidate.image_url is None:
            row = dropped(key, "unusable_url", candidate.source[:CUT] or "no src", "http or https", detail=where)
        elif len(candidate.image_url) > LONGEST:
            value = f"{len(candidate.image_url)} characters"
            row = dropped(key, "unusable_url", value, f"at most {LONGEST} characters", detail=where)
        elif len(candidate.alt) < self._least:
            value = f"{len(candidate.alt)} characters" if candidate.has_alt else "no alt attribute"
            row = dropped(key, "empty_alt", value, self._least, detail=where)
        elif len(candidate.alt) > self._most:
            row = dropped(key, "alt_too_long", f"{len(candidate.alt)} characters", self._most, detail=where)
        elif pair in self._first:
            row = dropped(key, "duplicate_pair", self._first[pair], "first by page and position", detail=where)
        else:
            self._first[pair] = key
        return Verdict(key, item, row)


def wanted_images(verdicts: Sequence[Verdict]) -> list[str]:
    """The image addresses still of interest, sorted."""
    return sorted({item.found.candidate.image_url or "" for item in verdicts if item.row is None})


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
    pages: Iterable[FoundPage],
    settled: Callable[[list[Verdict]], list[Verdict]] | None = None,
) -> None:
    """Judge what was found and fetched, and write shards of ``shard_size`` kept records, in the order of the pages.

    Args:
        settled: what becomes of the verdicts when the snapshot stands on another; it is shown all of them at once.
    """
    params, budget = stage.params, stage.params.budget
    limits = Limits(params.max_image_bytes, params.min_side, params.max_aspect, budget.image_pixels, budget.image_side)
    judge, shards = Judge(params.min_alt, answers.taken, max_alt=budget.alt_characters), _Shards(stage, answers)
    for chunk in [list(pages)] if settled else chunks(pages):
        verdicts = settled(judge.verdicts(chunk)) if settled else judge.verdicts(chunk)
        outcomes = {url: answers.outcome(url) for url in wanted_images(verdicts)}
        facts = facts_of(stage, answers.store, outcomes.values(), limits.max_bytes)
        decided = _finally(verdicts, outcomes, facts, limits, budget)
        for page in chunk:
            if page.row is not None:
                shards.rows.append(page.row)
            for verdict, row, fact, outcome in islice(decided, len(page.found)):
                if row is None and fact is not None and outcome is not None:
                    shards.keep(verdict, fact, outcome)
                else:
                    shards.rows.append(row or {})
            if len(shards.rows) >= ROWS_A_SHARD:
                shards.flush()
    shards.close()


class _Shards:
    """The shard being filled, and the pictures written so far."""

    def __init__(self, stage: Stage, answers: Answers) -> None:
        self._stage, self._store, self._taken = stage, answers.store, answers.taken
        self.rows: list[dict[str, str]] = []
        self._records: list[dict[str, Any]] = []
        self._media: dict[str, str] = {}  # image sha256 → "<shard>/<member>"
        self._new: dict[str, str] = {}  # member → URL, of this shard
        self._number = 0

    def keep(self, verdict: Verdict, fact: dict[str, Any], outcome: Outcome) -> None:
        """Take in one record with its picture; a full shard is written."""
        found, candidate = verdict.found, verdict.found.candidate
        member = f"{fact['sha256']}.{FORMATS[fact['format']]}"
        if fact["sha256"] not in self._media:
            self._media[fact["sha256"]] = f"{self._number:05d}/{member}"
            self._new[member] = outcome.final
        self._records.append(
            {
                "key": verdict.key,
                "page_url": found.page_url,
                "image_url": candidate.image_url,
                "alt": candidate.alt,
                "figcaption": candidate.figcaption,
                "position": candidate.position,
                "host": host_of(found.page_url or candidate.image_url or ""),
                "language": found.language,
                "format": fact["format"],
                "width": fact["width"],
                "height": fact["height"],
                "bytes": fact["bytes"],
                "image_sha256": fact["sha256"],
                "phash": fact["phash"],
                "media": self._media[fact["sha256"]],
                "archive": found.archive,
                "archive_offset": found.offset,
                "owner": found.owner,
                "post": found.post,
                "posted": found.posted,
                "collected": found.collected,
            }
        )
        self.rows.append(kept(verdict.key, detail=where_of(found)))
        if len(self._records) >= self._stage.params.shard_size:
            self.flush()

    def flush(self) -> None:
        """Write the shard and begin the next."""
        content = Bodies(self._store, dict(self._new))
        table = pa.Table.from_pylist(self._records, schema=CANDIDATE)
        # The one place that all rows pass: whatever a page, a host or a table says in them, none names what is taken down.
        rows = [clean(row, self._taken) for row in self.rows]
        self._stage.write_shard(f"{self._number:05d}", table, ledger_table(rows), content)
        self._number += 1
        for part in (self._records, self.rows, self._new):
            part.clear()

    def close(self) -> None:
        """Write what is left; an output has one shard at least."""
        if self.rows or self._records or self._number == 0:
            self.flush()


def _finally(
    verdicts: Sequence[Verdict],
    outcomes: dict[str, Outcome],
    facts: dict[str, dict[str, Any]],
    limits: Limits,
    budget: Budget,
) -> Iterator[tuple[Verdict, dict[str, str] | None, dict[str, Any] | None, Outcome | None]]:
    """Each image with the row that drops it, or with its facts and the answer they are of."""
    for verdict in verdicts:
        if verdict.row is not None:
            yield verdict, verdict.row, None, None
            continue
        url = verdict.found.candidate.image_url or ""
        outcome, where = outcomes[url], where_of(verdict.found)
        if outcome.rule:
            # An image that a page linked to was asked for as a page.
            rule = {"too_large": "image_too_large"}.get(outcome.rule, outcome.rule)
            where = outcome.detail if rule == RULE else where
            threshold = outcome.threshold or (f"{limits.max_bytes} bytes" if rule == "image_too_large" else "an answer")
            yield verdict, dropped(verdict.key, rule, outcome.value, threshold, detail=where), None, outcome
            continue
        assert outcome.entry is not None
        if outcome.entry.bytes > limits.max_bytes:
            row = dropped(
                verdict.key, "image_too_large", f"{outcome.entry.bytes} bytes", f"{limits.max_bytes} bytes", detail=where
            )
            yield verdict, row, None, outcome
            continue
        fact = facts[outcome.entry.sha256]
        # A snapshot fetched under looser limits, or a header that the fetcher could not read in time. An image too large to be
        # decoded says so whatever came of an earlier try, and a broken one is broken before it is too small.
        refused = out_of_range(fact["width"], fact["height"], limits)
        if fact["reason"] and (refused is None or refused.rule != "image_too_large"):
            threshold = _given(budget, fact["detail"]) if fact["reason"] == "image_over_budget" else WHOLE
            yield verdict, dropped(verdict.key, fact["reason"], fact["detail"], threshold, detail=where), None, outcome
            continue
        if refused:
            row = dropped(verdict.key, refused.rule, refused.value, refused.threshold, detail=where)
            yield verdict, row, None, outcome
            continue
        yield verdict, None, fact, outcome


def _given(budget: Budget, what: str) -> str:
    """What one image may cost, in the ledger's words."""
    seconds, memory = f"{budget.image_seconds:g} s", f"{budget.image_memory} bytes"
    return {"cpu": seconds, "memory": memory}.get(what, f"{seconds} and {memory}")
