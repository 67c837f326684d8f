"""What the sitemaps of a crawl's hosts list, read from stored answers: the same while a crawl runs and in a replay.

Sitemaps are those that a host's robots.txt names, else ``/sitemap.xml``; index files are followed. One that cannot be had or
read leaves a ledger row; an unnamed ``/sitemap.xml`` that is not there leaves none. Not in scope: the format (``sitemaps``).
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
    """The pages that sitemaps list."""

    pages: dict[str, str] = field(default_factory=dict)
    """Page → its lastmod as spelled, or ''."""
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    """Sitemap URL → its ledger row, of those that could not be had or read."""


def read_listed(answers: Answers, ensure: Callable[[Collection[str]], None], origins: Iterable[str], most: int) -> ListedPages:
    """Follow the sitemaps of every host.

    Args:
        answers: what the store says.
        ensure: called with the sitemaps that are about to be read.
        origins: a URL of each host.
        most: pages after which no further sitemap is opened.

    Raises:
        NotFetched: ``ensure`` did not see to an answer.
    """
    found, named, guessed = ListedPages(), set[str](), set[str]()
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
            found.rows[url] = dropped(url, "sitemap_limit", f"over {MAX_FILES}", MAX_FILES, kind="page")
        level = level[:room]
        seen.update(level)
        ensure(level)
        following: set[str] = set()
        for url in level:
            outcome = answers.outcome(url, page=True)
            if outcome.rule:
                if url in named or outcome.rule != "http_status":
                    found.rows[url] = dropped(
                        url, outcome.rule, outcome.value, outcome.threshold, kind="page", detail="a sitemap"
                    )
                continue
            content = read_sitemap(answers.store.body(outcome.final), outcome.final)
            if content.problem and (url in named or content.pages or content.sitemaps):
                found.rows[url] = dropped(url, "not_sitemap", content.problem, "a whole sitemap", kind="page", detail="a sitemap")
            for page, lastmod in content.pages.items():
                found.pages[page] = max(found.pages.get(page, ""), lastmod)
            named.update(content.sitemaps)
            following.update(content.sitemaps)
        if len(found.pages) >= most:
            break
        level = sorted(following - seen)
    return found
