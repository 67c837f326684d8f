"""Breadth-first through the pages: which are asked for, and what is found on them.

Level by level and in sorted order, over answers that are in the store, so what comes out depends on the answers and never on
their timing; a live crawl and a replay run this same code. Not in scope: asking (``fetch``), deciding about
images (``records``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from components.core.errors import HearsightError
from components.core.ledger import dropped, kept
from components.crawl.html import Candidate, read_page
from components.crawl.takedown import RULE
from components.crawl.urls import host_of, normalise
from components.crawl.web.answers import Answers, Outcome

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
UNREACHED = ("connection", "timeout", "robots_unreachable")
Ensure = Callable[[Collection[str], int], None]


@dataclass(frozen=True)
class Found:
    """One ``<img>`` on one page."""

    page_url: str
    candidate: Candidate
    language: str = "un"
    """The page's, ISO 639-1."""


@dataclass
class Walk:
    """What a walk through the answers gave."""

    found: list[Found] = field(default_factory=list)
    """Every image of every page kept, sorted by page and position."""
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    """Page URL → its ledger row."""


def walk(answers: Answers, ensure: Ensure, *, seeds: Sequence[str], hosts: Sequence[str], depth: int, max_pages: int) -> Walk:
    """Go from ``seeds`` through the pages of ``hosts``.

    Args:
        answers: what the store says.
        ensure: called with the URLs of a level and its depth before they are read.
        depth: links followed from a seed; 0 reads the seeds only.
        max_pages: pages asked for in all; the rest of a level is dropped in sorted order.

    Raises:
        HearsightError: a seed is no URL or not of ``hosts``; none of the seeds could be reached.
        NotFetched: ``ensure`` did not see to an answer.
    """
    allowed = {host.lower() for host in hosts}
    level = sorted({_seed(seed, allowed) for seed in seeds})
    seen, visited, result = set(level), set[str](), Walk()
    beyond: list[tuple[str, str, int]] = []
    room = max_pages
    for step in range(depth + 1):
        admitted, refused = level[:room], level[room:]
        room -= len(admitted)
        beyond += [(url, "page_limit", max_pages) for url in refused]
        ensure(admitted, step)
        outcomes = [answers.outcome(url, allowed) for url in admitted]
        if step == 0 and outcomes and all(_unreached(answers, outcome) for outcome in outcomes):
            raise HearsightError(
                "none of the seeds can be reached",
                where=", ".join(level[:3]),
                mend="check the network (or the proxy) and run again",
            )
        following: set[str] = set()
        for outcome in outcomes:
            if outcome.rule:
                key = answers.taken.mask(outcome.url) if answers.taken.url(outcome.url) else outcome.url
                result.rows.setdefault(key, _dropped(outcome, key))
                continue
            if outcome.final != outcome.url:
                result.rows[outcome.url] = dropped(
                    outcome.url, "redirect", outcome.hops[0].split(" ")[0], "200", kind="page", detail=f"to {outcome.final}"
                )
            if outcome.final not in visited:
                visited.add(outcome.final)
                following.update(_read(answers, outcome, result, step))
        level = sorted(
            url for url in following if url not in seen and url not in visited and host_of(url) in allowed and not _no_page(url)
        )
        seen.update(level)
    beyond += [(url, "depth", depth) for url in level]
    for url, rule, limit in beyond:
        if mark := answers.taken.url(url):
            key = answers.taken.mask(url)
            result.rows[key] = dropped(key, RULE, "listed", "not on the list", kind="page", detail=f"{RULE}:{mark}")
        elif url not in visited:
            result.rows[url] = dropped(url, rule, f"over {limit}", limit, kind="page")
    result.found.sort(key=lambda item: (item.page_url, item.candidate.position))
    return result


def _seed(seed: str, allowed: Collection[str]) -> str:
    url = normalise(seed)
    if url is None:
        raise HearsightError(f"'{seed}' is not an http address", where="crawl.seeds", mend="give it as http://host/path")
    if host_of(url) not in allowed:
        raise HearsightError(
            f"the seed {url} is on no host of crawl.hosts", where="crawl.seeds", mend=f"add '{host_of(url)}' to crawl.hosts"
        )
    return url


def _unreached(answers: Answers, outcome: Outcome) -> bool:
    if outcome.rule == "robots":
        entry = answers.store.get(outcome.threshold)
        return entry is not None and entry.failure in UNREACHED
    return outcome.rule in UNREACHED


def _no_page(url: str) -> bool:
    return PurePosixPath(urlsplit(url).path).suffix.lower() in NO_PAGES


def _dropped(outcome: Outcome, key: str) -> dict[str, str]:
    if outcome.rule == RULE:
        return dropped(key, RULE, "listed", "not on the list", kind="page", detail=outcome.value)
    detail = outcome.detail or " → ".join(outcome.hops)
    rule = {"too_large": "page_too_large"}.get(outcome.rule, outcome.rule)
    return dropped(key, rule, outcome.value, outcome.threshold, kind="page", detail=detail)


def _read(answers: Answers, outcome: Outcome, result: Walk, step: int) -> list[str]:
    """Take in one page; returns its links."""
    assert outcome.entry is not None
    url, entry = outcome.final, outcome.entry
    kind, _, options = entry.type.partition(";")
    body = answers.store.body(url)
    kind = kind.strip().lower()
    if not (kind in ("text/html", "application/xhtml+xml") or (kind in ("", "application/octet-stream") and b"<" in body[:1024])):
        result.rows[url] = dropped(url, "not_html", kind or "unknown", "text/html", kind="page")
        return []
    content = read_page(body, url, _charset(options))
    wishes = {word.strip() for word in entry.robots.lower().replace(":", ",").split(",")}
    if content.noindex or wishes & {"noindex", "none", "noimageindex"}:
        result.rows[url] = dropped(url, "noindex", "robots meta tag or header", "none", kind="page")
    else:
        result.rows[url] = kept(url, kind="page", detail=f"{len(content.candidates)} images, {step} links from a seed")
        result.found += [Found(url, candidate, content.language) for candidate in content.candidates]
    return [] if wishes & {"nofollow", "none"} else content.links


def _charset(options: str) -> str | None:
    for option in options.split(";"):
        name, _, value = option.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return None
