"""A host that asks to wait is waited for, within limits; names, certificates and addresses that fail have their own classes."""

from __future__ import annotations

import socket
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.web.fetch import Fetcher
from components.web.request import parse_retry_after
from components.web.store import FetchStore
from tests.support import HANG
from tests.support.crawl.counting_web import CountingWeb, Thing
from tests.support.crawl.crawls import fetch_settings
from tests.support.web.consent import A, jpeg


def fetch(tmp_path, web: CountingWeb, urls: list[str], **changes):
    with (
        FetchStore(tmp_path / "store", writer=True) as store,
        Fetcher(store, fetch_settings(**changes), proxy=web.proxy) as fetcher,
    ):
        start = time.monotonic()
        fetcher.ensure(urls, "image")
        took = time.monotonic() - start
        return [fetcher.answers.outcome(url) for url in urls], took


@pytest.mark.parametrize("status", [429, 503])
def test_a_requested_wait_is_observed(tmp_path, status):
    class Once(dict):
        def get(self, url, default=None):
            return self.pop(url, None) if url in self else jpeg() if url.endswith("x.jpg") else default

    with CountingWeb() as web:
        web.things = Once({f"{A}/x.jpg": Thing(b"", status=status, headers=[("Retry-After", "1")], validator="none")})
        (outcome,), took = fetch(tmp_path, web, [f"{A}/x.jpg"])
    assert outcome.rule == "" and took >= 1.0


def test_a_host_that_asks_for_too_long_a_wait_is_not_requested_again(tmp_path):
    busy = Thing(b"", status=429, headers=[("Retry-After", "3600")], validator="none")
    urls = [f"{A}/{n}.jpg" for n in range(30)]
    with CountingWeb(dict.fromkeys(urls, busy)) as web:
        outcomes, took = fetch(tmp_path, web, urls, per_host=2, retries=3)
        asked = [one.url for one in web.log if one.url in urls]
    assert took < HANG and len(asked) <= 2 and len(set(asked)) == len(asked)
    result = {outcome.rule for outcome in outcomes}
    assert result == {"http_status", "retry_later"} and {o.value for o in outcomes if o.rule == "http_status"} == {"429"}
    with FetchStore(tmp_path / "store", writer=True) as store:
        assert store.forget_transient() == 30 - len(asked)


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": "Fri, 20 Nov 2026 10:02:00 GMT", "date": "Fri, 20 Nov 2026 10:00:00 GMT"}, 120.0),
        ({"retry-after": "Fri, 20 Nov 1999 10:02:00 GMT", "date": "Fri, 20 Nov 1999 10:00:00 GMT"}, 120.0),
        ({"retry-after": "Fri, 20 Nov 2026 09:00:00 GMT", "date": "Fri, 20 Nov 2026 10:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "²"}, 0.0),
        ({}, 0.0),
    ],
)
def test_retry_after_does_not_depend_on_clocks(sent, seconds):
    assert parse_retry_after(sent) == seconds


@given(st.text(max_size=40), st.text(max_size=40))
def test_retry_after_accepts_any_text(said, date):
    assert parse_retry_after({"retry-after": said, "date": date}) >= 0


@pytest.mark.parametrize(
    ("number", "words"), [(socket.EAI_NONAME, "no such name"), (socket.EAI_AGAIN, "names cannot be looked up")]
)
def test_a_name_without_an_address_has_its_own_failure_class(tmp_path, monkeypatch, number, words):
    asked = []

    def nowhere(*_, **__):
        asked.append(number)
        raise socket.gaierror(number, "not found")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    with FetchStore(tmp_path / "s", writer=True) as store, Fetcher(store, fetch_settings(retries=1)) as fetcher:
        fetcher.ensure(["http://gone.sample/x.jpg"], "image")
        robots = store.get("http://gone.sample/robots.txt")
        outcome = fetcher.answers.outcome("http://gone.sample/x.jpg")
    assert (robots.failure, robots.detail) == ("dns", words)
    assert (outcome.rule, outcome.value) == ("robots", "robots.txt: dns")
    assert len(asked) == (1 if number == socket.EAI_NONAME else 2), "what DNS answers is not asked twice"


def test_an_expired_certificate_error_mentions_the_clock(tmp_path):
    import ssl
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    certificate = make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    url = f"https://127.0.0.1:{server.server_address[1]}/robots.txt"
    try:
        with (
            FetchStore(tmp_path / "s", writer=True) as store,
            Fetcher(store, fetch_settings(allow_private=True, retries=0)) as fetcher,
        ):
            fetcher.ensure([url], "image")
            entry = store.get(url)
    finally:
        server.shutdown()
        server.server_close()
    assert entry.failure == "tls" and "certificate" in entry.detail


def make_certificate(folder):
    """A certificate that nobody signed, made for one day of 2020."""
    import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    day = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, day, day + datetime.timedelta(days=1)).sign(
        key, hashes.SHA256()
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "made.pem").write_bytes(pem + made.public_bytes(serialization.Encoding.PEM))
    return folder / "made.pem"
