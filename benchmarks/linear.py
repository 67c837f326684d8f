"""CPU time of what reads the open web, as each dimension of its input doubles: ``python -m benchmarks.linear [NAME ...]``.

The exponent is log2 of the last ratio: 1 is linear, 2 quadratic, 0 a cost that does not grow (what is over a limit is not
read). Times under 2 ms say nothing. A row of a page is the whole reading of it, from its tree and from its tags, as a crawl does
it: a page that is not small in a child process, whose time counts. "over" is a page that its budget ended; the parser of trees is
a library, and quadratic in some markup. Here a page may take 2 s of CPU instead of the 10 of a crawl.
"""

from __future__ import annotations

import argparse
import gzip
import io
import math
import resource
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = "http://a.sample/folder/page.html"
HEAD = b"WARC/1.0\r\n"

PAGES: dict[str, tuple[int, Callable[[int], str]]] = {
    "page of paragraphs and images": (4_000, lambda n: "<p>Some words here.<img src=a.png alt='A cat &amp; a dog'>" * n),
    "images of a picture": (4_000, lambda n: f"<picture><source srcset='s.png 2x'>{'<img src=a>' * n}</picture>"),
    "sources of a picture": (4_000, lambda n: f"<picture>{'<source srcset=s.png>' * n}<img src=a></picture>"),
    "images and sources": (4_000, lambda n: f"<picture>{'<source srcset=s.png>' * n}{'<img src=a>' * n}</picture>"),
    "nested pictures": (4_000, lambda n: "<picture><source srcset=s.png><img src=a>" * n),
    "offers of a srcset": (20_000, lambda n: f"<img srcset='{'a.png 2x, ' * n}'>"),
    "addresses that are none": (4_000, lambda n: f"<img srcset='{'a:, ' * n}'>"),
    "length of the base": (4_000, lambda n: f"<base href='/{'a' * n}'>" + "<img src=a>" * 2_000),
    "links": (4_000, lambda n: "".join(f"<a href=/{i}>x</a>" for i in range(n))),
    "attributes of a tag": (8_000, lambda n: f"<img {''.join(f'a{i}=1 ' for i in range(n))}>"),
    "attributes of the body": (8_000, lambda n: "".join(f"<body a{i}=1>" for i in range(n))),
    "entities": (50_000, lambda n: f"<img src=a alt='{'&amp;amp; ' * n}'>"),
    "digits of an entity": (100_000, lambda n: f"<img src=a alt='&amp;amp; &amp;#{'1' * n};'>"),
    "images of a figcaption": (2_000, lambda n: f"<figure>{'<img src=a>' * n}<figcaption>{'word ' * n}</figcaption></figure>"),
    "nested figures": (4_000, lambda n: "<figure><img src=a><figcaption>word" * n),
    "nested blocks": (16_000, lambda n: "<div>" * n),
    "nested spans": (32_000, lambda n: "<span>" * n + "<img src=a>"),
    "misnested formatting": (8_000, lambda n: "".join(f"<b a={i}>" for i in range(n)) + "<div>" * n + "</b>" * n),
    "formatting opened again": (8_000, lambda n: "<p>" + "".join(f"<b a={i}>" for i in range(n)) + "<p>x" * n),
    "end tags of nothing": (16_000, lambda n: "<span>" * n + "</x>" * n),
    "items in spans": (16_000, lambda n: "<span>" * n + "<dd>" * n),
    "options of a select": (8_000, lambda n: "<select>" + "<option>x</option>" * n),
    "names of elements": (32_000, lambda n: "".join(f"<x{i}></x{i}>" for i in range(n))),
    "tables": (8_000, lambda n: "<table><tr><td>" * n),
    "unclosed comments and quotes": (50_000, lambda n: '<!--<a b="' * n),
}


def _page(html: str, url: str = PAGE) -> None:
    from components.web.html.page_limits import Source, read_pages_within

    (found,) = read_pages_within([Source(html, url, None)], _budget())
    if isinstance(found, Exception):
        raise found


def _page_at(url: str) -> None:
    _page("<img src=a>" * 1_000, url)


def _tags(html: str) -> None:
    from components.web.html.pairs import read_fast

    read_fast(html, PAGE, context=False, budget=_budget())


def _budget() -> Any:
    from components.web.budget import Budget

    return Budget(page_seconds=2.0, page_images=1_000_000, page_links=1_000_000)


def _archive(data: bytes) -> None:
    from components.web.archives.reading import read_stream

    for _ in read_stream(io.BytesIO(data), "archive"):
        pass


def _record(head: bytes, block: bytes) -> bytes:
    about = b"WARC-Type: response\r\nWARC-Target-URI: http://a.sample/\r\nContent-Type: application/http\r\n"
    return HEAD + about + head + b"Content-Length: %d\r\n\r\n" % len(block) + block + b"\r\n\r\n"


ARCHIVES: dict[str, tuple[int, Callable[[int], bytes]]] = {
    "WARC heads without an end": (40_000, lambda n: HEAD * n),
    "WARC heads without an end, gzip": (40_000, lambda n: gzip.compress(HEAD * n)),
    "gzip magics": (100_000, lambda n: b"\x1f\x8b\x08" * n),
    "lines of a WARC head": (20_000, lambda n: _record(b"A: b\r\n" * n, b"")),
    "lines of a HTTP head": (20_000, lambda n: _record(b"", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * n + b"\r\n<img src=a>")),
    "records": (2_000, lambda n: _record(b"", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<img src=a>") * n),
    "records with wrong lengths": (2_000, lambda n: (HEAD + b"Content-Length: 7\r\n\r\nx") * n),
}


def _robots(text: str) -> None:
    from components.web.robots import Rules

    Rules.of(200, text.encode(), "hearsight").allow("http://a.sample/" + "a" * 100)


def _sitemap(text: str) -> None:
    from components.web.sitemaps import read_sitemap

    read_sitemap(text.encode(), "http://a.sample/sitemap.xml")


@cache
def _filter_params() -> Any:
    from components.core.graph import load_graph
    from components.core.params import stage_params
    from components.stages.filter import Params

    graph = load_graph(ROOT)
    return stage_params(ROOT / "params.yaml", graph.params, "english", "filter", Params)


def _alt(text: str) -> None:
    from components.stages.filter.boilerplate import load_boilerplate
    from components.stages.filter.cascade import GROUPS, make_subject

    params = _filter_params()
    subject = make_subject(text, load_boilerplate(params.language), params.max_characters)
    for rule in GROUPS["text"]:
        rule.test(subject, params)


def _fold(text: str) -> None:
    from components.web.html.page import fold

    fold(text)


TEXTS: dict[str, tuple[int, Callable[[int], str], Callable[[str], None]]] = {
    "robots.txt: rules": (4_000, lambda n: "User-agent: *\n" + "".join(f"Disallow: /{i}*b$\n" for i in range(n)), _robots),
    "robots.txt: groups": (4_000, lambda n: "".join(f"User-agent: a{i}\nDisallow: /\n" for i in range(n)), _robots),
    "robots.txt: asterisks": (4_000, lambda n: f"User-agent: *\nDisallow: /{'*a' * n}$\n", _robots),
    "sitemap: pages": (4_000, lambda n: f"<urlset>{'<url><loc>http://a.sample/b</loc></url>' * n}</urlset>", _sitemap),
    "sitemap: depth": (16_000, lambda n: "<urlset>" + "<url>" * n, _sitemap),
    "sitemap: length of an address": (50_000, lambda n: f"<urlset><url><loc>{'a&amp;' * n}</loc></url></urlset>", _sitemap),
    "folding: entities": (100_000, lambda n: "&amp;amp;" * n, _fold),
    "folding: controls": (500_000, lambda n: "\x9b\u202e " * n, _fold),
    "text rules: one long word": (50_000, lambda n: "A" + "b" * n, _alt),
    "text rules: dots": (50_000, lambda n: "Grass " + ". " * n, _alt),
    "text rules: words": (10_000, lambda n: "A cat on a mat " * n, _alt),
    "text rules: capitals and marks": (10_000, lambda n: "A-b's #c_d " * n, _alt),
}


def cpu() -> float:
    """Seconds of CPU of this process and its children."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def measured(run: Callable[[Any], None], given: Any) -> float | None:
    """Seconds of CPU, the less of two runs; None when the budget ended it."""
    from components.web.html.page import PageOverBudget

    times: list[float] = []
    for _ in range(2):
        start = cpu()
        try:
            run(given)
        except PageOverBudget:
            return None
        times.append(cpu() - start)
    return min(times)


def row(name: str, size: int, make: Callable[[int], Any], run: Callable[[Any], None], doublings: int) -> None:
    """Print one line of the table."""
    run(make(2))  # imports, compiled code, models
    given = [make(size << step) for step in range(doublings + 1)]
    times = [measured(run, one) for one in given]
    shown = " ".join("over" if seconds is None else f"{1000 * seconds:.1f}" for seconds in times)
    whole = [seconds for seconds in times if seconds]
    exponent = f"{math.log2(whole[-1] / whole[-2]):.2f}" if len(whole) > 1 else ""
    print(f"| {name} | {len(given[0]) / 1000:.0f} to {len(given[-1]) / 1000:.0f} | {shown} | {exponent} |", flush=True)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("name", nargs="*", help="rows whose name begins so; all when none is given")
    asked.add_argument("--doublings", type=int, default=4)
    given = asked.parse_args()
    rows: list[tuple[str, int, Callable[[int], Any], Callable[[Any], None]]] = []
    rows += [(f"tree: {name}", size, make, _page) for name, (size, make) in PAGES.items()]
    rows += [(f"tags: {name}", size, make, _tags) for name, (size, make) in PAGES.items()]
    rows.append(("tree: length of the page's address", 4_000, lambda n: PAGE + "a/" * n, _page_at))
    rows += [(f"archive: {name}", size, make, _archive) for name, (size, make) in ARCHIVES.items()]
    rows += [(name, size, make, run) for name, (size, make, run) in TEXTS.items()]
    print("| input | kB | ms of CPU, input doubled each time | exponent |\n|---|--:|---|--:|")
    for name, size, make, run in rows:
        if not given.name or name.startswith(tuple(given.name)):
            row(name, size, make, run, given.doublings)


if __name__ == "__main__":
    main()
