"""Breadth-first through the pages: which are asked for, and what is found on them.

Level by level and in sorted order, over answers that are in the store, so what comes out depends on the answers and never on
their timing; a live crawl and a replay run this same code. Not in scope: asking (``fetch``), deciding about
images (``records``).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from components.core.errors import HearsightError
from components.core.ledger import dropped, kept
from components.stages.crawl.sources.found import SourcePage
from components.web.answers import Answers, Outcome
from components.web.consent_policy import find_refusal, gives_consent, parse_header_statements, parse_meta_statements
from components.web.html.page import Page, PageOverBudget, parse_charset
from components.web.html.page_limits import Source, read_pages_within
from components.web.listed import ListedPages
from components.web.takedown_list import takedown_row
from components.web.urls import host_of, normalise

_log = logging.getLogger(__name__)
NO_PAGES = frozenset(
    [
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".webp",
        ".svg",
        ".ico",
        ".bmp",
        ".tif",
        ".tiff",
        ".pdf",
        ".zip",
        ".gz",
        ".bz2",
        ".xz",
        ".tar",
        ".deb",
        ".rpm",
        ".exe",
        ".iso",
        ".py",
        ".ipynb",
        ".css",
        ".js",
        ".json",
        ".xml",
        ".txt",
        ".csv",
        ".mp3",
        ".mp4",
        ".ogg",
        ".webm",
        ".wav",
        ".avi",
        ".woff",
        ".woff2",
        ".ttf",
        ".eot",
        ".ps",
        ".doc",
        ".docx",
        ".xls",
        ".xlsx",
        ".ppt",
        ".odt",
        ".rst",
    ]
)
"""Extensions of links that are not followed: they never are pages."""
PAGES_A_BATCH, BYTES_A_BATCH = 64, 1 << 24
"""Pages, and about how many bytes of them, that one child process reads."""
UNREACHED = ("connection", "timeout", "dns", "tls", "robots_unreachable")
Ensure = Callable[[Collection[str], int], None]
"""Called with the URLs of a level, and how many links it is away; -1 for sitemaps."""


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
    """Go from ``seeds`` through the pages of ``hosts``; returns URL → page, those that are dropped included.

    Args:
        answers: what the store says.
        ensure: called with the URLs of a level and its depth before they are read.
        depth: links followed from a seed; 0 reads the seeds only.
        max_pages: pages asked for in all; the rest of a level is dropped in sorted order.
        listed: what the hosts' sitemaps list: pages to begin with, besides the seeds.

    Raises:
        HearsightError: a seed is no URL or not of ``hosts``; none of the seeds could be reached.
        NotFetched: ``ensure`` did not see to an answer.
    """
    allowed = {host.lower() for host in hosts}
    first = sorted({_seed(seed, allowed) for seed in seeds})
    listed = listed or ListedPages()
    more = sorted(url for url in listed.pages if host_of(url) in allowed and url not in first and not _no_page(url))
    level = [*first, *more]
    seen, visited = set(level), set[str]()
    pages = {url: SourcePage(row, url=url) for url, row in listed.rows.items()}
    beyond: list[tuple[str, str, int]] = []
    room = max_pages
    for step in range(depth + 1):
        admitted, refused = level[:room], level[room:]
        room -= len(admitted)
        beyond += [(url, "page_limit", max_pages) for url in refused]
        ensure(admitted, step)
        outcomes = [answers.outcome(url, allowed, page=True) for url in admitted]
        if step == 0 and outcomes and all(_unreached(answers, outcome) for outcome in outcomes[: len(first)]):
            raise HearsightError(
                "none of the seeds can be reached",
                where=", ".join(first[:3]),
                hint="check the network (or the proxy) and run again",
            )
        following: set[str] = set()
        fresh: list[Outcome] = []
        for outcome in outcomes:
            if outcome.rule:
                pages.setdefault(outcome.url, SourcePage(_dropped(outcome), url=outcome.url))
                continue
            if outcome.final != outcome.url:
                row = dropped(
                    outcome.url, "redirect", outcome.hops[0].split(" ")[0], "200", kind="page", detail=f"to {outcome.final}"
                )
                pages[outcome.url] = SourcePage(row, url=outcome.url)
            if outcome.final not in visited:
                visited.add(outcome.final)
                fresh.append(outcome)
        for outcome, content in _contents(answers, fresh, pages):
            following.update(_take(answers, outcome, content, pages, step))
        level = sorted(
            url for url in following if url not in seen and url not in visited and host_of(url) in allowed and not _no_page(url)
        )
        seen.update(level)
    beyond += [(url, "depth", depth) for url in level]
    for url, rule, limit in beyond:
        if mark := answers.taken.url(url):
            pages[url] = SourcePage(takedown_row(url, mark, kind="page"), url=url)
        elif url not in visited:
            pages[url] = SourcePage(dropped(url, rule, f"over {limit}", limit, kind="page"), url=url)
    return pages


def _seed(seed: str, allowed: Collection[str]) -> str:
    url = normalise(seed)
    if url is None:
        raise HearsightError(f"'{seed}' is not an http address", where="crawl.source.seeds", hint="give it as http://host/path")
    if host_of(url) not in allowed:
        raise HearsightError(
            f"the seed {url} is on no host of crawl.source.hosts", where="crawl.source.seeds", hint=f"add '{host_of(url)}' there"
        )
    return url


def _unreached(answers: Answers, outcome: Outcome) -> bool:
    if outcome.rule == "robots":
        entry = answers.store.get(outcome.threshold)
        return entry is not None and entry.failure in UNREACHED
    return outcome.rule in UNREACHED


def _no_page(url: str) -> bool:
    return PurePosixPath(urlsplit(url).path).suffix.lower() in NO_PAGES


def _dropped(outcome: Outcome) -> dict[str, str]:
    detail = outcome.detail or " → ".join(outcome.hops)
    rule = {"too_large": "page_too_large"}.get(outcome.rule, outcome.rule)
    return dropped(outcome.url, rule, outcome.value, outcome.threshold, kind="page", detail=detail)


def _contents(answers: Answers, outcomes: Iterable[Outcome], pages: dict[str, SourcePage]) -> Iterator[tuple[Outcome, Page]]:
    """What the pages among ``outcomes`` hold, some read at a time; what cannot be read gets its ledger row."""
    batch: list[tuple[Outcome, Source]] = []
    size = 0
    for outcome in outcomes:
        if (source := _source(answers, outcome, pages)) is not None:
            batch.append((outcome, source))
            size += len(source.html)
        if len(batch) >= PAGES_A_BATCH or size >= BYTES_A_BATCH:
            yield from _read(answers, batch, pages)
            batch, size = [], 0
    yield from _read(answers, batch, pages)


def _source(answers: Answers, outcome: Outcome, pages: dict[str, SourcePage]) -> Source | None:
    """The page of a good answer; None, with a ledger row, when it is none."""
    assert outcome.entry is not None
    url = outcome.final
    kind, _, options = outcome.entry.type.partition(";")
    body = answers.store.body(url)
    kind = kind.strip().lower()
    if kind in ("text/html", "application/xhtml+xml") or (kind in ("", "application/octet-stream") and b"<" in body[:1024]):
        return Source(body, url, parse_charset(options))
    pages[url] = SourcePage(dropped(url, "not_html", kind or "unknown", "text/html", kind="page"), url=url)
    return None


def _read(
    answers: Answers, batch: Sequence[tuple[Outcome, Source]], pages: dict[str, SourcePage]
) -> Iterator[tuple[Outcome, Page]]:
    read = read_pages_within([source for _, source in batch], answers.agent, answers.budget)
    for (outcome, source), content in zip(batch, read, strict=True):
        if isinstance(content, PageOverBudget):
            row = dropped(source.url, "page_over_budget", content.reason, content.threshold, kind="page")
        elif isinstance(content, Exception):
            # A defect of ours or of a library, met on one page: it costs that page, not the run.
            _log.warning("%s could not be read: %r", source.url, content)
            row = dropped(source.url, "internal_error", type(content).__name__, "a page that can be read", kind="page")
        else:
            yield outcome, content
            continue
        pages[source.url] = SourcePage(row, url=source.url)


def _take(answers: Answers, outcome: Outcome, content: Page, pages: dict[str, SourcePage], step: int) -> list[str]:
    """Take in what one page holds; returns its links."""
    assert outcome.entry is not None
    url, entry = outcome.final, outcome.entry
    headers = parse_header_statements(entry.robots, entry.tdm, answers.agent)
    said = [*headers, *parse_meta_statements(content.metas, answers.agent)]
    consents = gives_consent(said)
    candidates = content.candidates
    if no := find_refusal(said):
        row, candidates = dropped(url, no[0], no[1], "not said", kind="page", detail=f"said by {url}"), []
    elif answers.consent.opt_in and not (consents or answers.host_agrees(url)):
        row = dropped(url, "no_consent", "said nothing", "a yes", kind="page", detail=f"neither {url} nor its host")
        candidates = []
    else:
        row = kept(url, kind="page", detail=f"{len(candidates)} images, {step} links from a seed")
        if consents:
            own = (candidate.image_url for candidate in candidates)
            answers.grant([image for image in own if image and host_of(image) == host_of(url)])
    pages[url] = SourcePage(row, candidates, url, content.language)
    return [] if {statement.word for statement in headers} & {"nofollow", "none"} else content.links
