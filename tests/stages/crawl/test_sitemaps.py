"""Sitemaps are followed as in the protocol, and hostile ones are read within limits."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.web.conditional_fetch import parse_moment
from components.web.sitemaps import MAX_URLS, read_sitemap
from tests.support import make_stage
from tests.support.crawl.counting_web import CountingWeb, Thing
from tests.support.crawl.crawls import crawled, fixture_params
from tests.support.crawl.fixture_web import drawn_image

A = "http://a.sample"
XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'


def urlset(*pages: tuple[str, str]) -> bytes:
    rows = "".join(f"<url><loc>{url}</loc><lastmod>{when}</lastmod></url>" for url, when in pages)
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {XMLNS}>{rows}</urlset>'.encode()


def index(*maps: str) -> bytes:
    rows = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in maps)
    return f"<sitemapindex {XMLNS}>{rows}</sitemapindex>".encode()


def test_a_urlset_is_read_with_its_dates_and_without_its_images():
    text = (
        f"<urlset {XMLNS}><url><loc> {A}/x?a=1&amp;b=2 </loc><image:image><image:loc>{A}/i.jpg</image:loc></image:image>"
        f"<lastmod>2026-11-01</lastmod></url><url><loc>/relative</loc></url><url><loc>mailto:x</loc></url></urlset>"
    )
    result = read_sitemap(text.encode(), f"{A}/sitemap.xml")
    assert result.pages == {f"{A}/x?a=1&b=2": "2026-11-01", f"{A}/relative": ""} and not result.problem


def test_an_index_a_text_file_and_gzip_are_read():
    assert list(read_sitemap(index(f"{A}/1.xml", f"{A}/2.xml"), A).sitemaps) == [f"{A}/1.xml", f"{A}/2.xml"]
    text = f"\ufeff{A}/one\r\n{A}/two\nnonsense\n".encode()
    assert list(read_sitemap(text, A).pages) == [f"{A}/one", f"{A}/two"]
    packed = gzip.compress(urlset((f"{A}/x", "")))
    assert list(read_sitemap(packed, A).pages) == [f"{A}/x"]
    torn = read_sitemap(gzip.compress(urlset(*((f"{A}/{n}", "") for n in range(2000))))[:-3000], A)
    assert 0 < len(torn.pages) < 2000 and torn.problem


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("declared", ["", "\n", '<?xml version="1.0"?>', '\r\n<?xml version="1.0" encoding="UTF-8"?>\n'])
def test_a_sitemap_is_read_in_the_encoding_of_its_bytes(encoding: str, declared: str):
    text = f"{declared}<urlset {XMLNS}><url><loc>{A}/é</loc></url></urlset>"
    for data in (text.encode(encoding), gzip.compress(text.encode(encoding))):
        result = read_sitemap(data, A)
        assert list(result.pages) == [f"{A}/%C3%A9"] and not result.problem
    assert list(read_sitemap(f"{A}/one\r\n{A}/two\r\n".encode(encoding), A).pages) == [f"{A}/one", f"{A}/two"]
    latin = text.replace("UTF-8", "ISO-8859-1").encode("iso-8859-1")
    assert "ISO" not in str(latin) or list(read_sitemap(latin, A).pages) == [f"{A}/%C3%A9"]


def test_a_broken_sitemap_yields_the_entries_before_the_fault():
    data = urlset((f"{A}/x", ""), (f"{A}/y", ""))
    result = read_sitemap(data[: data.index(b"/y")], A)
    assert list(result.pages) == [f"{A}/x"] and result.problem == "broken XML"


@pytest.mark.parametrize(
    "entities",
    [
        '<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
        '<!ENTITY i SYSTEM "file:///etc/hostname">',
    ],
    ids=["billion laughs", "a file of this machine"],
)
def test_no_entity_is_expanded(entities):
    result = read_sitemap(f"<!DOCTYPE urlset [{entities}]><urlset><url><loc>{A}/&i;</loc></url></urlset>".encode(), A)
    assert not result.pages and result.problem == "has a document type"


@pytest.mark.long
def test_300_000_empty_gzip_members_are_read_in_linear_time():
    members = gzip.compress(b"") * 300_000  # hours, when each member copied the rest
    assert read_sitemap(members, A).problem == "lists nothing"


@pytest.mark.long
def test_decompression_bombs_and_huge_sitemaps_stop_at_their_limits(monkeypatch):
    from components.web import sitemaps

    monkeypatch.setattr(sitemaps, "MAX_BYTES", 100_000)
    bomb = gzip.compress(b"<urlset>" + b" " * 50_000_000)
    assert read_sitemap(bomb, A).problem
    deep = read_sitemap(b"<a>" * 30_000, A)
    assert deep.problem == "nested too deep"
    monkeypatch.setattr(sitemaps, "MAX_BYTES", 10_000_000)
    flood = read_sitemap(urlset(*((f"{A}/{n}", "") for n in range(MAX_URLS + 5))), A)
    assert len(flood.pages) == MAX_URLS and "50000" in flood.problem


@given(st.text("0123456789-:TZ+. ", max_size=30))
def test_any_text_is_accepted_as_a_date_and_an_invalid_one_never_expires(text):
    assert parse_moment(text).tzinfo is not None


def test_a_partial_date_means_its_latest_moment():
    assert parse_moment("2026-11-01") > parse_moment("2026-11-01T23:59:59Z") and parse_moment("2026-11") > parse_moment(
        "2026-11-30T12:00:00Z"
    )
    assert parse_moment("2026") > parse_moment("2026-12-31T12:00:00Z") and parse_moment("soon") > parse_moment(
        "2999-01-01T00:00:00Z"
    )
    assert parse_moment("2026-11-01T10:00:00+02:00") < parse_moment("2026-11-01T08:30:00Z")


# -- through the stage ---------------------------------------------------------------------------------------------


@pytest.fixture
def crawl(tmp_path):
    def go(web: CountingWeb, snapshot: str = "s", **changes):
        start = len(web.log)
        values = {
            "web": "open",
            "proxy": web.proxy,
            "contact": "mail@example.org",
            "seeds": [f"{A}/"],
            "hosts": ["a.sample"],
            "sitemaps": True,
        }
        job = make_stage(tmp_path, "crawl", params=fixture_params(**(values | {"snapshot": snapshot} | changes)))
        output = crawled(job)
        rows = {row["key"]: (row["rule"], row["value"]) for row in output.ledger().to_pylist() if row["kind"] == "page"}
        return rows, [one.url for one in web.log[start:]]

    return go


def page(number: int) -> Thing:
    return Thing(f'<!doctype html><html lang=en><img src="/i.jpg" alt="Picture {number}">'.encode(), validator="none")


def site(listed: bytes, robots: bytes = b"User-agent: *\nAllow: /\n") -> dict[str, Thing]:
    return {
        f"{A}/robots.txt": Thing(robots, "text/plain"),
        f"{A}/sitemap.xml": Thing(listed, "application/xml"),
        f"{A}/": page(0),
        f"{A}/i.jpg": Thing(drawn_image(("red", "house", "on a green field")), "image/jpeg"),
        **{f"{A}/p{n}.html": page(n) for n in range(1, 6)},
    }


def test_pages_listed_only_in_a_sitemap_are_crawled(crawl):
    listed = urlset((f"{A}/p1.html", ""), (f"{A}/p2.html", ""), ("http://else.sample/x", ""), (f"{A}/film.mp4", ""))
    with CountingWeb(site(listed)) as web:
        rows, asked = crawl(web)
        assert {url for url, result in rows.items() if result[0] == ""} == {f"{A}/", f"{A}/p1.html", f"{A}/p2.html"}
        assert not any("else.sample" in url or "film" in url for url in asked)
        rows, asked = crawl(web, "without", sitemaps=False)
        assert list(rows) == [f"{A}/"] and f"{A}/sitemap.xml" not in asked


def test_sitemaps_from_robots_txt_and_index_files_are_followed(crawl):
    robots = b"User-agent: *\nDisallow: /p3\nSitemap: http://a.sample/maps/all.xml\nSitemap: /gone.xml\n"
    things = site(b"never asked for", robots)
    things[f"{A}/maps/all.xml"] = Thing(index(f"{A}/maps/1.xml.gz", f"{A}/maps/2.txt", f"{A}/maps/all.xml"), "application/xml")
    things[f"{A}/maps/1.xml.gz"] = Thing(gzip.compress(urlset((f"{A}/p1.html", ""), (f"{A}/p3.html", ""))), "application/gzip")
    things[f"{A}/maps/2.txt"] = Thing(f"{A}/p2.html\n".encode(), "text/plain")
    with CountingWeb(things) as web:
        rows, asked = crawl(web)
    assert rows[f"{A}/p1.html"][0] == rows[f"{A}/p2.html"][0] == "" and rows[f"{A}/p3.html"][0] == "robots"
    assert rows[f"{A}/gone.xml"] == ("http_status", "404") and f"{A}/sitemap.xml" not in asked
    assert len([url for url in asked if "maps" in url]) == 3


def test_an_unreadable_sitemap_is_a_ledger_row_and_the_crawl_continues(crawl):
    things = site(b"", b"Sitemap: http://a.sample/odd.xml\nSitemap: http://10.0.0.1/private.xml\n")
    things[f"{A}/odd.xml"] = Thing(b"<html><p>Not found, politely", "text/html")
    with CountingWeb(things) as web:
        rows, asked = crawl(web)
    assert rows[f"{A}/odd.xml"] == ("not_sitemap", "broken XML") and rows[f"{A}/"][0] == ""
    assert rows["http://10.0.0.1/private.xml"][0] == "private_address" and not any("10.0.0.1" in url for url in asked)


def test_pages_unchanged_by_sitemap_date_are_not_requested(crawl):
    old, new = "2020-01-01", "2099-01-01"
    listed = urlset((f"{A}/p1.html", old), (f"{A}/p2.html", new), (f"{A}/p3.html", ""), (f"{A}/p4.html", "yesterday"))
    with CountingWeb(site(listed)) as web:
        crawl(web, "day-1")
        rows, asked = crawl(web, "day-2", base="day-1")
        assert f"{A}/p1.html" not in asked and {f"{A}/p{n}.html" for n in (2, 3, 4)} <= set(asked)
        assert rows[f"{A}/p1.html"][0] == "" and len(rows) == 5
        # The next day's own sitemap speaks of the copy as it was got, not of when it was taken over.
        web.things[f"{A}/sitemap.xml"] = Thing(urlset((f"{A}/p1.html", new)), "application/xml")
        _, asked = crawl(web, "day-3", base="day-2")
        assert f"{A}/p1.html" in asked
