"""The hostile web: server misbehaviours with the ledger rule of each.

Behaviours seen on the open web and in known collections: broken HTTP (as in crawlers' own test servers), broken TLS (as on
badssl.com), crawler traps, decompression bombs, false declarations. One path each, on loopback.
"""

from __future__ import annotations

import gzip
import zlib

import brotli
from backports import zstd

from tests.stages.crawl.hostile_images import chunk, jpeg, png, scans
from tests.stages.crawl.hostile_scripts import HTML, Case, encoded, endless, page, raw, redirect, silent, trickle
from tests.support.web.raw_web import Script, head, plain

LIMIT = 200_000
"""Settings max_page_bytes and max_image_bytes of the crawl."""


ZEROS = bytes(50_000_000)
FINE = b"<p>A page that is encoded.</p>" * 20


def pages() -> dict[str, Case]:
    """Return path → behaviour of the pages."""
    return _answers() | _heads() | _bodies() | _redirects() | _encodings() | _statuses() | _markup() | _traps()


def _answers() -> dict[str, Case]:
    return {
        "/fine": Case("a plain page", page()),
        "/silent": Case("accepts and never answers", silent, "timeout"),
        "/trickle-head": Case("one byte of the head at a time", trickle(b"HTTP/1.1 200 OK\r\nX-A: "), "timeout"),
        "/trickle-body": Case("one byte of the body at a time", trickle(head(200, HTML, 100_000)), "timeout"),
        "/closed": Case("closes without a byte", raw(), "connection"),
        "/reset": Case("resets the connection", raw(None), "connection"),
        "/reset-head": Case("resets in the head", raw(b"HTTP/1.1 200 OK\r\nContent-Ty", None), "connection"),
        "/reset-body": Case("resets in the body", raw(head(200, HTML, 5000), b"<p>half", None), "connection"),
        "/closed-head": Case("closes in the head", raw(b"HTTP/1.1 200 OK\r\nContent-Ty"), "connection bad_http"),
        "/continue": Case(
            "100 Continue without end", endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "timeout bad_http connection"
        ),
    }


def _heads() -> dict[str, Case]:
    latin = "café".encode("latin-1")

    def with_line(line: bytes) -> Script:
        return raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n" + line + b"\r\n\r\n<p>")

    return {
        "/latin-header": Case("a header in ISO 8859-1", with_line(b"Content-Disposition: inline; filename=" + latin)),
        "/latin-type": Case("a type of no charset's bytes", with_line(b"X-Robots-Tag: \xff\xfe\x80")),
        "/latin-reason": Case(
            "a reason phrase in ISO 8859-1",
            raw(b"HTTP/1.1 200 Trouv\xe9\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>"),
        ),
        "/no-http": Case("bytes that are no HTTP", raw(b"\x00\x01\x02 SSH-2.0-OpenSSH_9\r\n\r\n"), "bad_http connection"),
        "/http-0.9": Case("a body without a head", raw(b"<html><p>0.9</html>"), "bad_http connection"),
        "/http-7": Case(
            "a version that does not exist", raw(b"HTTP/7.0 200 OK\r\n\r\n"), "bad_http connection http_status not_html"
        ),
        "/huge-header": Case("a header of 1 MB", with_line(b"X-A: " + b"a" * 1_000_000), "bad_http"),
        "/many-headers": Case("100,000 headers", with_line(b"\r\n".join(b"X-%d: a" % n for n in range(100_000))), "bad_http"),
        "/same-headers": Case("the same header 50 times", with_line(b"\r\n".join([b"X-Robots-Tag: all"] * 50))),
        "/endless-header": Case(
            "a header without end", endless(b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 65_536), "bad_http timeout connection"
        ),
        "/two-lengths": Case("two Content-Lengths", with_line(b"Content-Length: 30"), "bad_http"),
        "/negative-length": Case(
            "a negative Content-Length", raw(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n<p>"), "bad_http"
        ),
        "/nul-header": Case("a NUL in a header", with_line(b"X-A: a\x00b"), "bad_http"),
        "/bare-lf": Case(
            "lines that end in LF alone", raw(b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 3\n\n<p>")
        ),
        "/cookies": Case("a cookie of 8 kB for every path", with_line(b"Set-Cookie: a=" + b"b" * 7000 + b"; Path=/")),
        "/no-type": Case("no Content-Type", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<p>a page")),
        "/odd-charset": Case("a charset that is none", page("<p>caf\u00e9", kind='text/html; charset="rot13"')),
        "/pdf": Case("another type", page(b"%PDF-1.7", kind="application/pdf"), "not_html"),
        "/type-lies": Case("text/html with the bytes of a program", page(b"\x7fELF\x00\x00" * 100)),
    }


def _bodies() -> dict[str, Case]:
    chunked = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    return {
        "/short": Case("fewer bytes than its Content-Length", raw(head(200, HTML, 5000), b"<p>short"), "connection"),
        "/long": Case("more bytes than its Content-Length", raw(head(200, HTML, 3), b"<p>" + b"more" * 1000), "bad_http "),
        "/large": Case("more bytes than allowed", page(b"x" * (LIMIT + 1)), "page_too_large"),
        "/endless": Case("a body without end", endless(head(200, HTML, None), b"<p>x" * 16_384), "page_too_large"),
        "/endless-chunks": Case("chunks without end", endless(chunked, b"4000\r\n" + b"x" * 0x4000 + b"\r\n"), "page_too_large"),
        "/tiny-chunks": Case("100,000 chunks of one byte", raw(chunked, b"1\r\nx\r\n" * 100_000, b"0\r\n\r\n")),
        "/bad-chunk": Case("a chunk length that is none", raw(chunked, b"zz\r\nx\r\n0\r\n\r\n"), "bad_http connection timeout"),
        "/huge-chunk": Case("a chunk length of 2^80", raw(chunked, b"100000000000000000000\r\nx"), "bad_http connection timeout"),
        "/no-last-chunk": Case("the last chunk is missing", raw(chunked, b"3\r\n<p>\r\n"), "connection"),
        "/empty": Case("an empty body", page(b"")),
    }


def _redirects() -> dict[str, Case]:
    return {
        "/to-itself": Case("redirects to itself", redirect(b"/to-itself"), "redirect"),
        "/circle": Case("redirects in a circle", redirect(b"/circle-2"), "redirect"),
        "/to-latin": Case("a Location in ISO 8859-1", redirect("/café".encode("latin-1")), "http_status"),
        "/to-bytes": Case("a Location of no charset's bytes", redirect(b"/\xff\xfe\x80"), "http_status"),
        "/to-file": Case("redirects to a file", redirect(b"file:///etc/passwd"), "unusable_url"),
        "/to-script": Case("redirects to a script", redirect(b"javascript:alert(1)"), "unusable_url"),
        "/to-nothing": Case("a redirect without Location", redirect(None), "http_status"),
        "/to-broken": Case("redirects to a broken address", redirect(b"http://[::1/x"), "unusable_url"),
        "/to-host": Case("redirects to a host that is not crawled", redirect(b"http://elsewhere.invalid/"), "redirect"),
        "/to-long": Case("redirects to an address of 7 kB", redirect(b"/" + b"a" * 7000), "http_status"),
        "/to-longer": Case("redirects to an address of 70 kB", redirect(b"/" + b"a" * 70_000), "bad_http"),
        "/to-port": Case("redirects to a port that is none", redirect(b"http://127.0.0.1:99999/"), "unusable_url"),
    }


def _encodings() -> dict[str, Case]:
    packed = gzip.compress(FINE)
    return {
        "/gzip": Case("gzip", encoded("gzip", packed)),
        "/deflate": Case("deflate", encoded("deflate", zlib.compress(FINE))),
        "/br": Case("brotli", encoded("br", brotli.compress(FINE))),
        "/zstd": Case("zstd", encoded("zstd", zstd.compress(FINE))),
        "/gzip-bomb": Case("50 MB in 50 kB of gzip", encoded("gzip", gzip.compress(ZEROS, 1)), "page_too_large"),
        "/br-bomb": Case("50 MB in 60 bytes of brotli", encoded("br", brotli.compress(ZEROS, quality=3)), "page_too_large"),
        "/zstd-bomb": Case("50 MB in 1.5 kB of zstd", encoded("zstd", zstd.compress(ZEROS)), "page_too_large"),
        "/gzip-plain": Case("plain text said to be gzip", encoded("gzip", FINE), "bad_encoding"),
        "/br-plain": Case("plain text said to be brotli", encoded("br", FINE), "bad_encoding"),
        "/zstd-plain": Case("plain text said to be zstd", encoded("zstd", FINE), "bad_encoding"),
        "/gzip-cut": Case("gzip cut in half", encoded("gzip", packed[: len(packed) // 2])),
        "/unknown-coding": Case("an encoding that does not exist", encoded("xyz", FINE)),
    }


def _statuses() -> dict[str, Case]:
    statuses = {
        f"/status-{code}": Case(
            f"status {code}", plain(b"<p>no", HTML, code), "http_status bad_http" if code in (204, 304) else "http_status"
        )
        for code in (204, 304, 401, 403, 404, 410, 451, 500, 503, 599)
    }
    return statuses | {
        "/status-42": Case("status 42", raw(b"HTTP/1.1 42 What\r\nContent-Length: 0\r\n\r\n"), "bad_http connection http_status"),
        "/status-1000": Case("status 1000", raw(b"HTTP/1.1 1000 What\r\nContent-Length: 0\r\n\r\n"), "bad_http connection"),
        "/soft-404": Case("a page that says 404 with status 200", page("<title>404</title><p>Not found")),
    }


def _markup() -> dict[str, Case]:
    count = 3000
    adoption = "".join(f"<b a={n}>" for n in range(count)) + "<div>" * count + "</b>" * count
    sources = '<source srcset="/a.jpg 1w">' * 2000 + '<img src="/b.jpg">' * 2000
    return {
        "/nul": Case("NUL bytes in the markup", page(b"<p>a\x00b<img alt='a\x00b' src=/x\x00.jpg>")),
        "/nested": Case("10,000 nested elements", page("<div>" * 10_000 + "<p>deep")),
        "/adoption": Case("misnested formatting, cubic for the parser", page(adoption)),
        "/picture": Case("2,000 sources for 2,000 images", page(f"<picture>{sources}</picture>")),
        "/attributes": Case("10,000 attributes of one element", page("<img " + " ".join(f"a{n}=1" for n in range(10_000)) + ">")),
        "/images": Case("more images than allowed", page("<img src=a>" * 12_000), "page_over_budget"),
        "/surrogates": Case("UTF-16 without a mark, said to be UTF-8", page("<p>a page".encode("utf-16-le"))),
        "/entities": Case("30,000 character references", page("&amp;" * 30_000)),
        "/controls": Case(
            "terminal escapes in an alt-text", page("<img src=/escape.jpg alt='&#x9b;31m\u202ered \x1b]0;title\x07'>")
        ),
        "/base": Case("a base that is no address", page("<base href='http://[::'><img src=x.jpg alt=x><a href=y>")),
    }


def _traps() -> dict[str, Case]:
    return {
        "/calendar/0": Case("links to a next day without end", page('<a href="/calendar/1">next</a>')),
        "/long-link": Case("a link of 60 kB", page(f'<a href="/{"a" * 60_000}">x</a>')),
        "/links": Case("20,000 links that lead nowhere", page("<a href=#a>x</a>" * 10_000)),
        "/refresh": Case("a refresh to itself", page('<meta http-equiv="refresh" content="0">')),
    }


def images() -> dict[str, Case]:
    """Return path → behaviour of the images."""
    good = jpeg()

    def image(data: bytes, kind: str = "image/jpeg") -> Script:
        return plain(data, kind)

    return {
        "/good.jpg": Case("a sound image", image(good)),
        "/escape.jpg": Case("a sound image", image(good + b"0")),
        "/silent.jpg": Case("never answers", silent, "timeout"),
        "/trickle.jpg": Case("one byte of the body at a time", trickle(head(200, "image/jpeg", len(good))), "timeout"),
        "/short.jpg": Case("fewer bytes than its Content-Length", raw(head(200, "image/jpeg", 5000), good[:500]), "connection"),
        "/part.jpg": Case("a part of it", plain(good, "image/jpeg", 206), "http_status"),
        "/packed.jpg": Case(
            "a sound image in gzip", page(gzip.compress(good + b"2"), "Content-Encoding: gzip", kind="image/jpeg")
        ),
        "/packed-lie.jpg": Case("no gzip", page(good + b"3", "Content-Encoding: gzip", kind="image/jpeg"), "bad_encoding"),
        "/swollen.jpg": Case(
            "a sound beginning and 50 MB in gzip",
            page(gzip.compress(good + ZEROS, 1), "Content-Encoding: gzip", kind="image/jpeg"),
            "image_too_large",
        ),
        "/said-html.jpg": Case("a sound image said to be a page", plain(good + b"4", "text/html"), "not_an_image"),
        "/other-type.jpg": Case("a JPEG said to be a PNG", plain(good + b"5", "image/png")),
        "/reset.jpg": Case("resets in the body", raw(head(200, "image/jpeg", 5000), good[:500], None), "connection"),
        "/cut.jpg": Case("cut off", image(good[: len(good) // 2]), "truncated_image"),
        "/html.jpg": Case("a page as an image", image(b"<!doctype html><p>no", "text/html"), "not_an_image"),
        "/lies.jpg": Case("a page that says it is an image", image(b"<!doctype html><p>no"), "not_an_image"),
        "/empty.jpg": Case("an empty image", image(b""), "not_an_image"),
        "/svg.jpg": Case(
            "a drawing with scripts", image(b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>"), "foreign_image"
        ),
        "/endless.jpg": Case("an image without end", endless(head(200, "image/jpeg", None), good), "image_too_large"),
        "/wide.png": Case("20,001 x 300 px", image(png(20_001, 300), "image/png"), "image_too_large"),
        "/thin.png": Case("1 x 89,000,000 px in 67 bytes", image(png(1, 89_000_000, rows=1), "image/png"), "image_too_large"),
        "/giant.png": Case("60,000 x 60,000 px", image(png(60_000, 60_000, rows=1), "image/png"), "image_too_large"),
        "/square.png": Case("9,400 x 9,400 px in 11 kB", image(png(9400, 9400), "image/png")),
        "/scans.jpg": Case("1,000 scans", image(scans(1000)), "image_over_budget truncated_image"),
        "/text.png": Case(
            "a text chunk that unpacks to 50 MB",
            image(png(20, 20, chunk(b"zTXt", b"a\0\0" + zlib.compress(ZEROS))), "image/png"),
            "image_over_budget truncated_image",
        ),
        "/moved.jpg": Case("moved to itself", redirect(b"/moved.jpg"), "redirect"),
        "/gone.jpg": Case("gone", plain(b"", "image/jpeg", 410), "http_status"),
        "/latin.jpg": Case(
            "a header in ISO 8859-1",
            raw(
                b"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nX-A: caf\xe9\r\nContent-Length: %d\r\n\r\n" % len(good + b"1"),
                good + b"1",
            ),
        ),
        "/bomb.jpg": Case(
            "50 MB in gzip",
            page(gzip.compress(ZEROS, 1), "Content-Encoding: gzip", kind="image/jpeg"),
            "not_an_image image_too_large",
        ),
    }


ROBOTS: dict[str, Case] = {
    "robots of 10 MB": Case(
        "a robots.txt of 10 MB", page(b"User-agent: *\nDisallow: /no\n" + b"#" * 10_000_000, kind="text/plain")
    ),
    "robots that are a page": Case("a robots.txt that is a page", page("<!doctype html><p>Not found")),
    "robots of any bytes": Case("a robots.txt of any bytes", page(bytes(range(256)) * 100, kind="text/plain")),
    "robots that fail": Case("a robots.txt that answers 500", plain(b"", "text/plain", 500), "robots"),
    "robots in a circle": Case("a robots.txt that redirects to itself", redirect(b"/robots.txt")),
    "robots that hang": Case("a robots.txt that never answers", silent, "robots"),
    "robots that are reset": Case("a robots.txt that is reset", raw(None), "robots"),
    "robots with a delay of years": Case(
        "Crawl-delay: 1000000000", page("User-agent: *\nCrawl-delay: 1000000000", kind="text/plain"), "crawl_delay"
    ),
    "robots with wildcards": Case(
        "20,000 rules of wildcards", page("User-agent: *\n" + "Disallow: /*a*a*a*a*b$\n" * 20_000, kind="text/plain")
    ),
    "robots that forbid": Case("Disallow: /", page("User-agent: *\nDisallow: /", kind="text/plain"), "robots"),
}
"""Behaviours of hosts by their robots.txt; the rule is that of an image on the host."""


def rules() -> set[str]:
    """Return every ledger rule that a behaviour may lead to."""
    cases = (case for group in (pages(), images(), ROBOTS) for case in group.values())
    return {rule for case in cases for rule in case.rule.split(" ") if rule}
