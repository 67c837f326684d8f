"""Live site source: breadth-first from the seeds through the pages of the hosts.

Levels are processed in sorted order over stored answers, so the result depends on the answers and not on their timing. A live
crawl and a replay run the same code.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from components.core.errors import HearsightError
from components.core.ledger import kept
from components.stages.crawl.sources.consent import read_consent, require_consent
from components.stages.crawl.sources.source_pages import Source, SourcePage
from components.web.answers import Answers, Outcome
from components.web.challenges import FAILURE as CHALLENGE
from components.web.challenges import find_challenge
from components.web.charset import parse_charset
from components.web.consent.statements import asks_nofollow
from components.web.fetch import Fetcher
from components.web.html.page import Page, PageOverBudget
from components.web.html.page_limits import Source as Html
from components.web.html.page_limits import read_pages_within
from components.web.sitemaps import ListedPages, read_listed
from components.web.takedown_list import takedown_row
from components.web.urls import host_of, normalise

_log = logging.getLogger(__name__)
NON_PAGE_SUFFIXES = (
    ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".ico", ".bmp", ".tif", ".tiff", ".pdf", ".zip", ".gz", ".bz2", ".xz",
    ".tar", ".deb", ".rpm", ".exe", ".iso", ".py", ".ipynb", ".css", ".js", ".json", ".xml", ".txt", ".csv", ".mp3", ".mp4",
    ".ogg", ".webm", ".wav", ".avi", ".woff", ".woff2", ".ttf", ".eot", ".ps", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".odt",
    ".rst",
)  # fmt: skip
"""URL path suffixes of links that are not followed because they never lead to a page."""
PAGES_PER_BATCH, BYTES_PER_BATCH = 64, 1 << 24
"""Upper limits of the pages, and approximately of their bytes, that one child process parses."""
UNREACHABLE = ("connection", "timeout", "dns", "tls", "robots_unreachable")
"""Ledger rules of requests that did not reach the host."""
PRIVATE = "private_address"
"""Ledger rule of addresses of private networks."""
Ensure = Callable[[Collection[str], int], None]
"""Called with the URLs of a level and its distance from the seeds in links; -1 for sitemaps."""


class SiteSource(Source):
    """See :class:`components.stages.crawl.sources.source_pages.Source`."""

    of_sites = True

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Yield every page of the walk, sorted by address."""
        source = self.source

        def ensure(urls: Collection[str], depth: int) -> None:
            if live:
                live.ensure(urls, "page", {host.lower() for host in source.hosts}, f"pages {depth} links away")

        def ensure_listed(urls: Collection[str]) -> None:
            if live:
                live.ensure(urls, "sitemap", None, "sitemaps")

        listed = read_listed(answers, ensure_listed, source.seeds, source.max_pages) if source.sitemaps else None
        if live and listed:
            live.note_changes(listed.pages)
        pages = walk(
            answers, ensure, seeds=source.seeds, hosts=source.hosts, depth=source.depth, max_pages=source.max_pages, listed=listed
        )
        for url in sorted(pages):
            yield pages[url]

    def describe(self) -> dict[str, Any]:
        return {"seeds": sorted(self.source.seeds)}


def walk(
    answers: Answers,
    ensure: Ensure,
    *,
    seeds: Sequence[str],
    hosts: Sequence[str],
    depth: int,
    max_pages: int,
    listed: ListedPages | None = None,
) -> dict[str, SourcePage]:
    """Walk from ``seeds`` through the pages of ``hosts`` and return URL → page, dropped pages included.

    Args:
        ensure: called with the URLs of a level and its depth before their answers are read.
        depth: links followed from a seed; 0 reads the seeds only.
        max_pages: pages requested in total; the rest of a level is dropped in sorted order.
        listed: pages listed by the hosts' sitemaps, which are start pages besides the seeds.

    Raises:
        HearsightError: a seed is not a URL or not on one of ``hosts``; no seed could be reached.
        NotFetched: an answer is missing after ``ensure``.
    """
    allowed = {host.lower() for host in hosts}
    seed_urls = sorted({_check_seed(seed, allowed) for seed in seeds})
    listed = listed or ListedPages()
    sitemap_urls = sorted(
        url for url in listed.pages if host_of(url) in allowed and url not in seed_urls and not _has_non_page_suffix(url)
    )
    level = [*seed_urls, *sitemap_urls]
    seen, visited = set(level), set[str]()
    pages = {url: SourcePage(row, url=url) for url, row in listed.rows.items()}
    over_limit: list[tuple[str, str, int]] = []
    remaining = max_pages
    for step in range(depth + 1):
        admitted, refused = level[:remaining], level[remaining:]
        remaining -= len(admitted)
        over_limit += [(url, "page_limit", max_pages) for url in refused]
        ensure(admitted, step)
        outcomes = [answers.outcome(url, allowed, page=True) for url in admitted]
        if step == 0 and outcomes and all(outcome.rule == PRIVATE for outcome in outcomes[: len(seed_urls)]):
            raise HearsightError(
                f"{outcomes[0].value} is a private address, which is not asked",
                where="crawl.allow_private",
                hint="set it to true in the dataset's file",
            )
        if step == 0 and outcomes and all(_is_unreachable(answers, outcome) for outcome in outcomes[: len(seed_urls)]):
            raise HearsightError(
                "none of the seeds can be reached",
                where=", ".join(seed_urls[:3]),
                hint="check the network (or the proxy) and run again",
            )
        links: set[str] = set()
        new_outcomes: list[Outcome] = []
        for outcome in outcomes:
            if outcome.rule:
                pages.setdefault(outcome.url, _drop_page(outcome))
                continue
            if outcome.final != outcome.url:
                status = outcome.hops[0].split(" ")[0]
                pages[outcome.url] = SourcePage.drop(
                    outcome.url, "redirect", status, "200", f"to {outcome.final}", url=outcome.url
                )
            if outcome.final not in visited:
                visited.add(outcome.final)
                new_outcomes.append(outcome)
        for outcome, content in _parse_pages(answers, new_outcomes, pages):
            links.update(_add_page(answers, outcome, content, pages, step))
        level = sorted(
            url
            for url in links
            if url not in seen and url not in visited and host_of(url) in allowed and not _has_non_page_suffix(url)
        )
        seen.update(level)
    over_limit += [(url, "depth", depth) for url in level]
    for url, rule, limit in over_limit:
        if mark := answers.taken.url(url):
            pages[url] = SourcePage(takedown_row(url, mark, kind="page"), url=url)
        elif url not in visited:
            pages[url] = SourcePage.drop(url, rule, f"over {limit}", limit, url=url)
    return pages


def _check_seed(seed: str, allowed: Collection[str]) -> str:
    url = normalise(seed)
    if url is None:
        raise HearsightError(f"'{seed}' is not an http address", where="crawl.source.seeds", hint="give it as http://host/path")
    if host_of(url) not in allowed:
        raise HearsightError(
            f"the seed {url} is on no host of crawl.source.hosts", where="crawl.source.seeds", hint=f"add '{host_of(url)}' there"
        )
    return url


def _is_unreachable(answers: Answers, outcome: Outcome) -> bool:
    if outcome.rule == "robots":
        entry = answers.store.get(outcome.threshold)
        return entry is not None and entry.failure in UNREACHABLE
    return outcome.rule in UNREACHABLE


def _has_non_page_suffix(url: str) -> bool:
    return PurePosixPath(urlsplit(url).path).suffix.lower() in NON_PAGE_SUFFIXES


def _drop_page(outcome: Outcome) -> SourcePage:
    detail = outcome.detail or " → ".join(outcome.hops)
    rule = {"too_large": "page_too_large"}.get(outcome.rule, outcome.rule)
    return SourcePage.drop(outcome.url, rule, outcome.value, outcome.threshold, detail, url=outcome.url)


def _parse_pages(answers: Answers, outcomes: Iterable[Outcome], pages: dict[str, SourcePage]) -> Iterator[tuple[Outcome, Page]]:
    """Yield the parsed pages of ``outcomes``, batch by batch; add a ledger row to ``pages`` for each unreadable one."""
    batch: list[tuple[Outcome, Html]] = []
    size = 0
    for outcome in outcomes:
        if (source := _html_source(answers, outcome, pages)) is not None:
            batch.append((outcome, source))
            size += len(source.html)
        if len(batch) >= PAGES_PER_BATCH or size >= BYTES_PER_BATCH:
            yield from _parse_batch(answers, batch, pages)
            batch, size = [], 0
    yield from _parse_batch(answers, batch, pages)


def _html_source(answers: Answers, outcome: Outcome, pages: dict[str, SourcePage]) -> Html | None:
    """Return the HTML of a successful answer; None, with a ledger row in ``pages``, for another content type."""
    assert outcome.entry is not None
    url = outcome.final
    kind, body = outcome.entry.type.partition(";")[0].strip().lower(), answers.store.body(url)
    if sign := find_challenge(200, {}, body):  # stored by a version that took it for a page
        pages[url] = SourcePage.drop(url, CHALLENGE, sign, "a page", url=url)
        return None
    if kind in ("text/html", "application/xhtml+xml") or (kind in ("", "application/octet-stream") and b"<" in body[:1024]):
        return Html(body, url, parse_charset(outcome.entry.type), answers.agent)
    pages[url] = SourcePage.drop(url, "not_html", kind or "unknown", "text/html", url=url)
    return None


def _parse_batch(
    answers: Answers, batch: Sequence[tuple[Outcome, Html]], pages: dict[str, SourcePage]
) -> Iterator[tuple[Outcome, Page]]:
    contents = read_pages_within([source for _, source in batch], answers.budget)
    for (outcome, source), content in zip(batch, contents, strict=True):
        url = source.url
        if isinstance(content, PageOverBudget):
            pages[url] = SourcePage.drop(url, "page_over_budget", content.reason, content.threshold, url=url)
        elif isinstance(content, Exception):
            # A defect in this code or a library that one page triggers drops that page and does not end the run.
            _log.warning("%s could not be read: %r", url, content)
            pages[url] = SourcePage.drop(url, "internal_error", type(content).__name__, "a page that can be read", url=url)
        else:
            yield outcome, content


def _add_page(answers: Answers, outcome: Outcome, content: Page, pages: dict[str, SourcePage], step: int) -> list[str]:
    """Add one parsed page to ``pages`` and return its links; opt-out statements drop the page or its images."""
    assert outcome.entry is not None
    url = outcome.final
    headers = answers.read_statements(outcome.entry)
    row = kept(url, kind="page", detail=f"{len(content.candidates)} images, {step} links from a seed")
    page = SourcePage(row, content.candidates, url, content.language, statements=[*headers, *content.statements])
    pages[url] = require_consent(answers, read_consent(answers, page))
    return [] if asks_nofollow(headers, answers.agent) else content.links
