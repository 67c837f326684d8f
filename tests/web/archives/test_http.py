"""Reading an http(s) address ends, whatever the server does, with the pages so far and one line."""

from __future__ import annotations

import gzip
import threading
import time

import pytest

from components.core.errors import HearsightError
from components.web.archives import opening, read_archive
from components.web.archives.any_input import read_input
from tests.support import until
from tests.support.web.archive_samples import PAGE, warc
from tests.support.web.archived import wacz
from tests.support.web.raw_web import RawWeb, head, plain

ARCHIVE = b"".join(warc(3))
released = threading.Event()


def trickle(first):
    """An answer that begins so and then gives a byte now and then, without end."""

    def script(_):
        yield first
        while not released.wait(0.02):
            yield b"a"

    return script


@pytest.fixture
def short(monkeypatch):
    """A second in all: far less than each of these answers takes."""
    released.clear()
    monkeypatch.setattr(opening, "SECONDS", 1.0)
    yield
    released.set()


def one_line(url, match):
    with pytest.raises(HearsightError, match=match) as caught:
        list(read_input(url))
    assert "\n" not in str(caught.value) and str(caught.value).isprintable()


@pytest.mark.long
@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX: ",
        head(200, "text/html", None) + PAGE,
        head(200, "application/warc", 10**9) + ARCHIVE,
        head(200, "text/html", None, "Transfer-Encoding: chunked") + b"2\r\n<p\r\n",
        head(302, "text/html", None, "Location: /next") + b"x",
    ],
)
def test_a_trickling_server_is_abandoned(first, short):
    with RawWeb({"/a": trickle(first), "/next": trickle(b"")}) as web:
        one_line(web.url("/a"), "in all|no answer")


def test_bytes_received_before_the_time_limit_are_returned(short):
    big = b"".join(warc(5, body=PAGE + b"".join(b"%d " % (number * number) for number in range(60_000))))
    with RawWeb({"/a": trickle(head(200, "application/warc", None) + big)}) as web:
        result = []
        with pytest.raises(HearsightError, match="in all"):
            for page in read_input(web.url("/a")):
                result.append(page.url)
        assert result


def test_only_waiting_time_counts(short):
    with RawWeb({"/a": plain(ARCHIVE, "application/warc")}) as web:
        read = 0
        for _ in read_archive(web.url("/a")):
            read += 1
            time.sleep(0.6)  # three pages take longer than the second that the server may take
        assert read == 3


def test_redirects_are_followed_but_not_in_circles_nor_to_other_kinds_of_address():
    def to(where):
        return lambda _: [head(302, "text/html", 0, f"Location: {where}")]

    paths = {"/one": to("/two"), "/two": to("/a"), "/a": plain(ARCHIVE, "x/y"), "/circle": to("/circle"), "/none": to("")}
    paths |= {f"/{kind}": to(f"{kind}:///etc/passwd") for kind in ("file", "ftp", "data")}
    paths |= {f"/r{at}": to(f"/r{at + 1}") for at in range(20)}
    with RawWeb(paths) as web:
        assert len(list(read_input(web.url("/one")))) == 3
        for name in ("/circle", "/file", "/ftp", "/data", "/r0", "/none"):
            one_line(web.url(name), "no answer")


def test_the_body_of_a_redirect_is_not_read():
    def endless(_):
        yield head(302, "text/html", None, "Location: /a")
        while True:
            yield b"x" * 65_536

    with RawWeb({"/r": endless, "/a": plain(ARCHIVE, "x/y")}) as web:
        assert len(list(read_input(web.url("/r")))) == 3
        until(lambda: "/r" in web.sent)  # the server notes it when it notices that nobody reads
        assert web.sent["/r"] < 10_000_000


@pytest.mark.parametrize(
    ("sent", "match"),
    [
        ([None], "no answer"),
        ([b""], "no answer"),
        ([b"\xff\xfe\x9b31m no HTTP\r\n\r\n"], "no answer"),
        ([b"HTTP/1.1 404 caf\xe9 \x9b31m\r\n\r\n"], "no answer"),
        ([b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 70_000 + b"\r\n\r\n"], "no answer"),
        ([b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n"], "no answer"),
        ([head(200, "text/html", 1000), PAGE], "broke off"),
        ([head(200, "text/html", 1000), PAGE, None], "broke off"),
        ([head(200, "text/html", None, "Transfer-Encoding: chunked"), b"ffff\r\n<p>"], "broke off"),
        ([head(200, "text/html", None, "Transfer-Encoding: chunked"), b"zz\r\n<p>"], "no answer|broke off"),
    ],
)
def test_broken_answers_raise_one_error(sent, match, monkeypatch):
    monkeypatch.setattr(opening, "TIMEOUT", 2.0)
    with RawWeb({"/a": lambda _: sent}) as web:
        one_line(web.url("/a"), match)


def test_arbitrary_header_bytes_are_accepted():
    more = b'Content-Disposition: attachment; filename="caf\xe9.warc"\r\nX: \xff\x9b\r\nContent-Length: %d\r\n\r\n' % len(PAGE)
    sent = b"HTTP/1.1 200 caf\xe9\r\nContent-Type: text/html; charset=\xff\xe9\r\n" + more + PAGE
    with RawWeb({"/a": lambda _: [sent]}) as web:
        assert [page.candidates[0].alt for page in read_input(web.url("/a"))] == ["A red kite"]


def test_invalid_addresses_raise_one_error():
    for url in ("http://", "http://[", "http://a b/", "http://127.0.0.1:99999999/", "http://127.0.0.1:x/", "http://a\n.b/"):
        one_line(url, "no answer")


def test_a_wacz_is_read_over_http_up_to_a_size(monkeypatch):
    data = wacz({"a.warc.gz": ARCHIVE, "b.warc": gzip.decompress(ARCHIVE)})
    with RawWeb({"/set": plain(data, "application/wacz")}) as web:
        pages = list(read_archive(web.url("/set")))
        assert len(pages) == 6 and pages[0].archive == web.url("/set/archive/a.warc.gz")
        monkeypatch.setattr(opening, "SPOOL_LIMIT", len(data) - 1)
        one_line(web.url("/set"), "more than")
