"""Whatever bytes a server puts into its answer's head, the answer is stored, read back equal, and ends no run."""

from __future__ import annotations

import gzip

import pytest

from components.web.fetch import Fetcher
from components.web.store import FetchStore
from components.web.warc import decode_wire, index_headers, select_headers
from tests.support.crawl.crawls import fetch_settings
from tests.support.web.raw_web import RawWeb, plain

LATIN = 'filename="café"'.encode("latin-1")
UTF8 = 'filename="café"'.encode()


def answer(*lines: bytes, status: bytes = b"200 OK", body: bytes = b"<p>x"):
    """A script of exactly these header lines."""
    head = b"\r\n".join([b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), b"Connection: close", *lines])
    return lambda _: [head + b"\r\n\r\n" + body]


def crawl(tmp_path, paths):
    """Fetch every path as a page, twice; returns path → (outcome, entry) of the second run, which asks for nothing."""
    with RawWeb(paths) as web:
        for _ in range(2):
            with (
                FetchStore(tmp_path / "store", writer=True) as store,
                Fetcher(store, fetch_settings(allow_private=True, retries=0)) as fetcher,
            ):
                fetcher.ensure([web.url(path) for path in paths], "page")
                result = {path: (fetcher.answers.outcome(web.url(path)), store.get(web.url(path))) for path in paths}
        assert len(web.asked) == len(set(web.asked))
        return result, web


@pytest.mark.parametrize("value", [LATIN, UTF8, b"\xff\xfe\x80", bytes(range(128, 256)), b"a\tb", b"\x85\xa0"])
def test_header_bytes_are_stored_as_sent(tmp_path, value):
    lines = [b"Content-Type: text/html", b"Content-Disposition: inline; " + value, b"ETag: " + value, b"X-Robots-Tag: " + value]
    result, web = crawl(tmp_path, {"/x": answer(*lines)})
    outcome, entry = result["/x"]
    assert outcome.rule == "" and entry.status == 200
    with FetchStore(tmp_path / "store") as store:
        assert ("Content-Disposition", decode_wire(b"inline; " + value)) in store.headers(web.url("/x"))
    (segment,) = (tmp_path / "store").glob("*.warc.gz")
    assert b"\r\nContent-Disposition: inline; " + value.strip(b" \t") + b"\r\n" in gzip.decompress(segment.read_bytes())


def test_header_text_is_utf8_or_latin_1():
    sent = index_headers([(decode_wire(b"ETag"), decode_wire(LATIN)), (decode_wire(b"last-modified"), decode_wire(UTF8))])
    assert select_headers(sent)["etag"] == select_headers(sent)["modified"] == 'filename="café"'


def test_a_reason_phrase_of_any_text_is_stored(tmp_path):
    result, _ = crawl(tmp_path, {"/x": answer(b"Content-Type: text/html", status="200 Trouvé".encode("latin-1"))})
    assert result["/x"][0].rule == ""


@pytest.mark.parametrize("target", ["/caf\xe9".encode("latin-1"), "/café".encode()])
def test_a_location_of_any_bytes_reaches_the_intended_address(tmp_path, target):
    paths = {"/x": answer(b"Location: " + target, status=b"302 Found", body=b"")}
    spelled = "/caf%E9" if target.endswith(b"\xe9") and len(target) == 5 else "/caf%C3%A9"
    result, web = crawl(tmp_path, paths | {spelled: plain(b"<p>x", "text/html")})
    assert result["/x"][0].rule == "" and result["/x"][0].final == web.url(spelled)


def test_an_internal_error_affects_one_answer_only(tmp_path, monkeypatch):
    from components.web import request

    real = request.select_headers

    def broken(sent):
        if sent.get("etag") == "odd":
            raise ZeroDivisionError("a defect")
        return real(sent)

    monkeypatch.setattr(request, "select_headers", broken)
    result, _ = crawl(tmp_path, {"/x": answer(b"ETag: odd"), "/y": answer(b"ETag: fine", b"Content-Type: text/html")})
    assert (result["/x"][0].rule, result["/x"][0].value) == ("internal_error", "ZeroDivisionError")
    assert result["/y"][0].rule == ""
