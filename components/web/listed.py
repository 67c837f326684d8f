"""Read the pages in the sitemaps of a crawl's hosts from stored answers: equal while a crawl runs and in a replay.

Sitemaps are those in a host's robots.txt, else ``/sitemap.xml``; index files are followed. A sitemap that is missing or broken
leaves a ledger row, except a missing ``/sitemap.xml`` that no robots.txt names. The format is in ``sitemaps``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from components.core.ledger import dropped
from components.web.answers import Answers
from components.web.robots import robots_url
from components.web.sitemaps import MAX_FILES, read_sitemap
from components.web.urls import make_absolute


@dataclass
class ListedPages:
    """The pages in sitemaps."""

    pages: dict[str, str] = field(default_factory=dict)
    """Page → its lastmod as spelled, or ''."""
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    """Sitemap URL → its ledger row, for missing or broken sitemaps."""


def read_listed(answers: Answers, ensure: Callable[[Collection[str]], None], origins: Iterable[str], most: int) -> ListedPages:
    """Follow the sitemaps of every host and return their pages.

    Args:
        answers: the store's answers.
        ensure: called with the sitemaps that are read next.
        origins: a URL of each host.
        most: stop opening sitemaps at this number of pages.

    Raises:
        NotFetched: ``ensure`` did not provide an answer.
    """
    listed, named, guessed = ListedPages(), set[str](), set[str]()
    roots = sorted({robots_url(url) for url in origins})
    ensure(roots)
    for root in roots:
        lines = [target for line in answers.rules(root).sitemaps if (target := make_absolute(line, root))]
        named.update(lines)
        guessed.update([] if lines else [root.removesuffix("robots.txt") + "sitemap.xml"])
    level, seen = sorted(named | guessed), set[str]()
    while level:
        room = MAX_FILES - len(seen)
        for url in level[room:]:
            listed.rows[url] = dropped(url, "sitemap_limit", f"over {MAX_FILES}", MAX_FILES, kind="page")
        level = level[:room]
        seen.update(level)
        ensure(level)
        following: set[str] = set()
        for url in level:
            outcome = answers.outcome(url, page=True)
            if outcome.rule:
                if url in named or outcome.rule != "http_status":
                    listed.rows[url] = dropped(
                        url, outcome.rule, outcome.value, outcome.threshold, kind="page", detail="a sitemap"
                    )
                continue
            content = read_sitemap(answers.store.body(outcome.final), outcome.final)
            if content.problem and (url in named or content.pages or content.sitemaps):
                listed.rows[url] = dropped(
                    url, "not_sitemap", content.problem, "a whole sitemap", kind="page", detail="a sitemap"
                )
            for page, lastmod in content.pages.items():
                listed.pages[page] = max(listed.pages.get(page, ""), lastmod)
            named.update(content.sitemaps)
            following.update(content.sitemaps)
        if len(listed.pages) >= most:
            break
        level = sorted(following - seen)
    return listed
