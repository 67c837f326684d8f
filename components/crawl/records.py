"""From images found to CANDIDATE records: one ledger row for every ``<img>``, media once for every picture kept.

Runs over a complete snapshot and touches no network; equal snapshots give equal bytes. Not in scope: which records
are good captions (the filter stage).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.ledger import dropped, kept, ledger_table
from components.core.records import CANDIDATE
from components.core.stage import Job, Stage, Task
from components.crawl.image import FORMATS, ImageLook
from components.crawl.takedown import NOTHING, RULE, Takedown
from components.crawl.urls import host_of
from components.crawl.walk import Found, Walk
from components.crawl.web.answers import Answers, Outcome
from components.crawl.web.store import FetchStore

LOOKS_PER_JOB = 150
"""Images one job decodes."""
STEP = "look"


@dataclass(frozen=True)
class Verdict:
    """One image found, with the row that drops it before anything was fetched, or None."""

    key: str
    found: Found
    row: dict[str, str] | None


def record_key(page_url: str, position: int, image_url: str, alt: str) -> str:
    """The record's key: 16 hex digits of the sha256 of what it is and where it stands."""
    return hashlib.sha256("\n".join((page_url, str(position), image_url, alt)).encode()).hexdigest()[:16]


def judge(found: Sequence[Found], min_alt: int, taken: Takedown = NOTHING) -> list[Verdict]:
    """What can be said of images before they are fetched: taken down, inline, without an address, without alt-text, seen before.

    ``found`` is sorted; of equal (image, alt) pairs the first stays.
    """
    verdicts: list[Verdict] = []
    first: dict[tuple[str, str], str] = {}
    for item in found:
        candidate, row = item.candidate, None
        key = record_key(item.page_url, candidate.position, candidate.image_url or candidate.source, candidate.alt)
        pair = (candidate.image_url or "", candidate.alt)
        where = f"{candidate.image_url or candidate.source} on {item.page_url}"
        if mark := taken.url(item.page_url) or taken.url(candidate.image_url or ""):
            # First, and with the hash alone: nothing of what is taken down may be told, nor stand for another's pair.
            row = dropped(key, RULE, "listed", "not on the list", detail=f"{RULE}:{mark}")
        elif candidate.data_uri:
            row = dropped(key, "data_uri", candidate.source[:40], "an address", detail=where[:300])
        elif candidate.image_url is None:
            row = dropped(key, "unusable_url", candidate.source or "no src", "http or https", detail=where)
        elif len(candidate.alt) < max(min_alt, 1):
            value = f"{len(candidate.alt)} characters" if candidate.has_alt else "no alt attribute"
            row = dropped(key, "empty_alt", value, max(min_alt, 1), detail=where)
        elif pair in first:
            row = dropped(key, "duplicate_pair", first[pair], "first by page and position", detail=where)
        else:
            first[pair] = key
        verdicts.append(Verdict(key, item, row))
    return verdicts


def wanted_images(verdicts: Sequence[Verdict]) -> list[str]:
    """The image addresses still of interest, sorted."""
    return sorted({item.found.candidate.image_url or "" for item in verdicts if item.row is None})


def look_at(spec: dict[str, str], task: Task, folder: Path) -> None:
    """A job: decode the images of ``spec`` (sha256 → URL that answered it) and write their facts as JSON."""
    home = task.work.parents[3]  # <home>/.hearsight/work/<dataset>/<stage>
    with FetchStore(home / task.shared["store"]) as store:
        facts = task.annotations.annotate(ImageLook(), {sha: partial(store.body, url) for sha, url in spec.items()})
    (folder / "facts.json").write_text(json.dumps(facts, sort_keys=True), encoding="utf-8")


def write_records(stage: Stage, answers: Answers, walked: Walk, verdicts: Sequence[Verdict]) -> None:
    """Judge what was fetched and write shards of ``shard_size`` kept records, sorted by page and position."""
    limit = stage.params.max_image_bytes
    outcomes = {url: answers.outcome(url) for url in wanted_images(verdicts)}
    facts = _facts(stage, answers.store, outcomes, limit)
    pages = sorted(walked.rows.items())
    rows: list[dict[str, str]] = []
    records: list[dict[str, Any]] = []
    media: dict[str, str] = {}  # image sha256 → "<shard>/<member>"
    new: dict[str, str] = {}  # member → URL, of this shard
    number = page_at = 0

    def flush() -> None:
        nonlocal number
        content = {member: answers.store.body(url) for member, url in new.items()}
        stage.write_shard(f"{number:05d}", pa.Table.from_pylist(records, schema=CANDIDATE), ledger_table(rows), content)
        number += 1
        for part in (records, rows, new):
            part.clear()

    for verdict, row, fact, outcome in _finally(verdicts, outcomes, facts, limit):
        # The rows of pages go where their images go, those of pages without any before the next page's.
        while page_at < len(pages) and pages[page_at][0] <= verdict.found.page_url:
            rows.append(pages[page_at][1])
            page_at += 1
        if row is not None or fact is None or outcome is None:
            rows.append(row or {})
            continue
        candidate, page_url = verdict.found.candidate, verdict.found.page_url
        member = f"{fact['sha256']}.{FORMATS[fact['format']]}"
        if fact["sha256"] not in media:
            media[fact["sha256"]] = f"{number:05d}/{member}"
            new[member] = outcome.final
        records.append(
            {
                "key": verdict.key,
                "page_url": page_url,
                "image_url": candidate.image_url,
                "alt": candidate.alt,
                "position": candidate.position,
                "host": host_of(page_url),
                "language": verdict.found.language,
                "format": fact["format"],
                "width": fact["width"],
                "height": fact["height"],
                "bytes": fact["bytes"],
                "image_sha256": fact["sha256"],
                "phash": fact["phash"],
                "media": media[fact["sha256"]],
            }
        )
        rows.append(kept(verdict.key, detail=f"{candidate.image_url} on {page_url}"))
        if len(records) >= stage.params.shard_size:
            flush()
    rows += [row for _, row in pages[page_at:]]
    if rows or records or number == 0:
        flush()


def _facts(stage: Stage, store: FetchStore, outcomes: dict[str, Outcome], limit: int) -> dict[str, dict[str, Any]]:
    """Image sha256 → its facts, decoded in the workers."""
    sources: dict[str, str] = {}
    for outcome in outcomes.values():
        if not outcome.rule and outcome.entry is not None and outcome.entry.bytes <= limit:
            sources.setdefault(outcome.entry.sha256, outcome.final)
    names = list(sources)
    specs = [{sha: sources[sha] for sha in names[at : at + LOOKS_PER_JOB]} for at in range(0, len(names), LOOKS_PER_JOB)]
    jobs = [Job(f"{index:05d}", spec) for index, spec in enumerate(specs)]
    shared = {"store": store.folder.relative_to(stage.state.parent).as_posix()}
    facts: dict[str, dict[str, Any]] = {}
    for folder in stage.jobs(look_at, jobs, step=STEP, params={}, shared=shared):
        facts |= json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    return facts


def _finally(
    verdicts: Sequence[Verdict], outcomes: dict[str, Outcome], facts: dict[str, dict[str, Any]], limit: int
) -> Iterator[tuple[Verdict, dict[str, str] | None, dict[str, Any] | None, Outcome | None]]:
    """Each image with the row that drops it, or with its facts and the answer they are of."""
    for verdict in verdicts:
        if verdict.row is not None:
            yield verdict, verdict.row, None, None
            continue
        url = verdict.found.candidate.image_url or ""
        outcome, where = outcomes[url], f"{url} on {verdict.found.page_url}"
        if outcome.rule == RULE:  # a redirect led to what is listed
            yield verdict, dropped(verdict.key, RULE, "listed", "not on the list", detail=outcome.value), None, outcome
            continue
        if outcome.rule:
            rule = {"too_large": "image_too_large"}.get(outcome.rule, outcome.rule)
            threshold = outcome.threshold or (str(limit) if rule == "image_too_large" else "an answer")
            yield verdict, dropped(verdict.key, rule, outcome.value, threshold, detail=where), None, outcome
            continue
        assert outcome.entry is not None
        if outcome.entry.bytes > limit:
            yield verdict, dropped(verdict.key, "image_too_large", outcome.entry.bytes, limit, detail=where), None, outcome
            continue
        fact = facts[outcome.entry.sha256]
        if fact["reason"]:
            row = dropped(verdict.key, fact["reason"], fact["detail"], "a whole " + " ".join(FORMATS), detail=where)
            yield verdict, row, None, outcome
            continue
        yield verdict, None, fact, outcome
