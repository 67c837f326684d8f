"""The fetcher is polite, careful, and its results do not depend on timing. Everything happens on loopback."""

from __future__ import annotations

import itertools
import socket
import threading
import time

import pytest

from components.sample.serving import SampleWeb
from components.sample.sites import Quirks, Reply, Site
from components.web.answers import Answers
from components.web.fetch import Fetcher, interleave_hosts
from components.web.request import PrivateAddress, PublicResolver
from components.web.robots import Rules
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from tests.support import HANG
from tests.support.crawl.crawls import fetch_settings

HTML = b"<!doctype html><p>x"


class Scripted(Site):
    """A host that answers as told, one reply after another for each path."""

    def __init__(self, **replies):
        self.replies = {
            f"/{name.replace('_', '.')}": itertools.chain(part[:-1], itertools.repeat(part[-1])) for name, part in replies.items()
        }
        self.times: list[tuple[float, str]] = []

    def answer(self, target):
        self.times.append((time.monotonic(), target))
        return next(self.replies[target]) if target in self.replies else Reply(404)


def run(tmp_path, hosts, urls, role="page", bound=None, **changes):
    """Fetch ``urls``; returns (outcomes by URL, the web)."""
    with (
        SampleWeb(hosts=hosts) as web,
        FetchStore(tmp_path / "store", writer=True) as store,
        Fetcher(store, fetch_settings(**changes), proxy=web.proxy) as fetcher,
    ):
        fetcher.ensure(urls, role, bound)
        return {url: fetcher.answers.outcome(url, bound) for url in urls}, web


def test_robots_txt_is_requested_once_and_obeyed(tmp_path):
    site = Scripted(robots_txt=[Reply(200, b"User-agent: *\nDisallow: /no\nAllow: /no/but\n")], page=[Reply(200, HTML)])
    urls = [f"http://a.sample/{name}" for name in ("page", "no/page", "no/but/this")]
    outcomes, web = run(tmp_path, {"a.sample": site}, urls)
    assert [outcomes[url].rule for url in urls] == ["", "robots", "http_status"]
    assert web.log.count("http://a.sample/robots.txt") == 1 and "http://a.sample/no/page" not in web.log


@pytest.mark.parametrize(("status", "allowed"), [(404, True), (403, True), (429, False), (500, False), (503, False), (200, True)])
def test_an_unreadable_robots_txt_follows_rfc_9309(status, allowed):
    assert Rules.of(status, b"", "hearsight").allow("http://a.sample/x") is allowed


def test_a_group_for_this_robot_overrides_the_general_one():
    text = b"User-agent: *\nDisallow: /\nUser-agent: Hearsight\nDisallow: /x\n"
    rules = Rules.of(200, text, "hearsight")
    assert (
        rules.allow("http://a.sample/y") and not rules.allow("http://a.sample/x/1") and rules.allow("http://a.sample/robots.txt")
    )


def test_redirects_are_followed_hop_by_hop_and_recorded(tmp_path):
    site = Scripted(a=[Reply(301, headers={"Location": "b"})], b=[Reply(302, headers={"Location": "/c"})], c=[Reply(200, HTML)])
    outcomes, _ = run(tmp_path, {"a.sample": site}, ["http://a.sample/a"])
    outcome = outcomes["http://a.sample/a"]
    assert outcome.final == "http://a.sample/c" and outcome.hops == ("301 http://a.sample/b", "302 http://a.sample/c")
    with FetchStore(tmp_path / "store") as store:
        assert [(e.url, e.status) for e in store if "robots" not in e.url] == [
            (f"http://a.sample/{n}", s) for n, s in zip("abc", (301, 302, 200), strict=True)
        ]


def test_a_redirect_loop_ends_after_five_hops(tmp_path):
    site = Scripted(a=[Reply(302, headers={"Location": "/b"})], b=[Reply(302, headers={"Location": "/a"})])
    outcomes, web = run(tmp_path, {"a.sample": site}, ["http://a.sample/a"])
    assert outcomes["http://a.sample/a"].rule == "redirect" and web.requests == 3


def test_images_but_not_pages_are_followed_to_other_hosts(tmp_path):
    hosts = {
        "a.sample": Scripted(x=[Reply(301, headers={"Location": "http://b.sample/y"})]),
        "b.sample": Scripted(y=[Reply(200, b"img", "image/png")]),
    }
    outcomes, web = run(tmp_path / "1", hosts, ["http://a.sample/x"], bound={"a.sample"})
    assert outcomes["http://a.sample/x"].rule == "redirect" and "http://b.sample/y" not in web.log
    outcomes, _ = run(tmp_path / "2", hosts, ["http://a.sample/x"], role="image")
    assert outcomes["http://a.sample/x"].final == "http://b.sample/y"


def test_only_transient_failures_are_retried(tmp_path):
    site = Scripted(
        busy=[Reply(503), Reply(200, HTML)],
        lost=[Reply(0, reset=True), Reply(200, HTML)],
        gone=[Reply(410), Reply(200, HTML)],
        dead=[Reply(0, reset=True)],
    )
    urls = [f"http://a.sample/{name}" for name in ("busy", "lost", "gone", "dead")]
    outcomes, web = run(tmp_path, {"a.sample": site}, urls, retries=2)
    assert [outcomes[url].rule for url in urls] == ["", "", "http_status", "connection"]
    assert web.log.count("http://a.sample/gone") == 1
    # aiohttp itself asks once more when it was a kept-alive connection that was lost.
    assert 3 <= web.log.count("http://a.sample/dead") <= 6


def test_a_host_that_does_not_answer_times_out(tmp_path):
    outcomes, _ = run(
        tmp_path, {"a.sample": Scripted(slow=[Reply(200, HTML, delay=6.0)])}, ["http://a.sample/slow"], timeout=2.0, retries=0
    )
    assert outcomes["http://a.sample/slow"].rule == "timeout"


def test_a_body_above_the_limit_is_not_read_completely(tmp_path):
    outcomes, _ = run(
        tmp_path,
        {"a.sample": Scripted(big=[Reply(200, b"x" * 500_000, "image/png")])},
        ["http://a.sample/big"],
        "image",
        max_image_bytes=1000,
    )
    outcome = outcomes["http://a.sample/big"]
    assert (outcome.rule, outcome.value, outcome.threshold) == ("image_too_large", "500000 bytes", "1000 bytes")


def test_bodies_of_other_types_are_not_read(tmp_path):
    outcomes, _ = run(tmp_path, {"a.sample": Scripted(x=[Reply(200, b"%PDF", "application/pdf")])}, ["http://a.sample/x"])
    assert (outcomes["http://a.sample/x"].rule, outcomes["http://a.sample/x"].value) == ("not_html", "application/pdf")


def test_private_addresses_are_refused_without_a_request(tmp_path):
    urls = ["http://127.0.0.1/x", "http://169.254.169.254/latest", "http://[::1]/", "http://localhost/"]
    outcomes, web = run(tmp_path, {"a.sample": Scripted()}, urls, role="image")
    assert {outcome.rule for outcome in outcomes.values()} == {"private_address"} and web.requests == 0


def test_a_redirect_into_a_private_network_is_refused(tmp_path):
    site = Scripted(x=[Reply(302, headers={"Location": "http://10.0.0.1/admin"})])
    outcomes, web = run(tmp_path, {"a.sample": site, "10.0.0.1": Scripted()}, ["http://a.sample/x"], role="image")
    assert outcomes["http://a.sample/x"].rule == "private_address" and not any("10.0.0.1" in url for url in web.log)


def test_a_name_that_resolves_into_a_private_network_is_refused(tmp_path, monkeypatch):
    import asyncio

    async def resolves():
        resolver = PublicResolver()
        try:
            return await resolver.resolve("rebind.sample", 80)
        finally:
            await resolver.close()

    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 80))])
    with pytest.raises(PrivateAddress):
        asyncio.run(resolves())
    with FetchStore(tmp_path / "s", writer=True) as store, Fetcher(store, fetch_settings()) as fetcher:
        fetcher.ensure(["http://rebind.sample/x"], "image")
        assert fetcher.answers.outcome("http://rebind.sample/x").rule == "private_address"


def test_a_delay_between_requests_is_observed(tmp_path):
    site = Scripted(robots_txt=[Reply(200, b"User-agent: *\nCrawl-delay: 1.0\n")])
    run(tmp_path, {"a.sample": site}, [f"http://a.sample/{number}" for number in range(3)], delay=0.05)
    starts = [moment for moment, target in site.times if target != "/robots.txt"]
    assert all(later - earlier > 0.3 for earlier, later in itertools.pairwise(starts))


def test_no_more_requests_than_allowed_are_in_flight_to_a_host(tmp_path):
    class Counting(Site):
        now = most = 0
        lock = threading.Lock()
        three = threading.Barrier(3, timeout=HANG)

        def __init__(self):
            pass

        def answer(self, target):
            if target == "/robots.txt":
                return Reply(404)
            with self.lock:
                Counting.now += 1
                Counting.most = max(Counting.most, Counting.now)
            Counting.three.wait()  # Fewer at once would break it.
            time.sleep(0.02)
            with self.lock:
                Counting.now -= 1
            return Reply(404)

    run(tmp_path, {"a.sample": Counting()}, [f"http://a.sample/{number}" for number in range(21)], per_host=3)
    assert Counting.most == 3


def test_requests_state_the_user_agent(tmp_path):
    seen = []

    class Listening(Site):
        def __init__(self):
            pass

        def answer(self, target):
            return Reply(404)

    import components.sample.serving as sample_web

    class Handler(sample_web._Handler):
        def do_GET(self):
            seen.append(self.headers.get("User-Agent"))
            super().do_GET()

    original, sample_web._Handler = sample_web._Handler, Handler
    try:
        run(tmp_path, {"a.sample": Listening()}, ["http://a.sample/x"], contact="http://example.org/robot")
    finally:
        sample_web._Handler = original
    assert set(seen) == {"hearsight/0.1 (+http://example.org/robot)"}


def test_hosts_take_turns():
    assert interleave_hosts(["http://a/1", "http://a/2", "http://b/1"]) == ["http://a/1", "http://b/1", "http://a/2"]


def test_conditional_and_host_header_requests_work(tmp_path):
    import http.client

    (tmp_path / "index.html").write_bytes(HTML)
    with SampleWeb(hosts={"a.sample": Site(tmp_path, quirks=Quirks())}) as web:
        port = int(web.proxy.rsplit(":", 1)[1])
        client = http.client.HTTPConnection("127.0.0.1", port)
        client.request("GET", "/", headers={"Host": "a.sample"})
        first = client.getresponse()
        assert first.status == 200 and first.read() == HTML
        client.request("GET", "/", headers={"Host": "a.sample", "If-None-Match": first.headers["ETag"]})
        second = client.getresponse()
        assert second.status == 304 and second.read() == b""
        client.request("GET", "/../../etc/passwd", headers={"Host": "a.sample"})
        assert client.getresponse().status == 404


def test_answers_depend_on_the_store_only(tmp_path):
    outcomes, _ = run(tmp_path, {"a.sample": Scripted(x=[Reply(200, HTML)])}, ["http://a.sample/x"])
    with FetchStore(tmp_path / "store") as store:
        assert Answers(store, FetchSettings()).outcome("http://a.sample/x") == outcomes["http://a.sample/x"]


@pytest.mark.parametrize(
    ("role", "page", "asked"),
    [("page", None, True), ("sitemap", None, True), ("index", None, True), ("image", None, False), ("image", True, True)],
)
def test_a_refusal_of_a_use_keeps_only_images_from_being_requested(tmp_path, role, page, asked):
    rules = Reply(200, b"User-agent: *\nContent-Signal: search=yes, ai-train=no\n")
    url = "http://a.sample/x"
    with (
        SampleWeb(hosts={"a.sample": Scripted(robots_txt=[rules], x=[Reply(200, HTML)])}) as web,
        FetchStore(tmp_path / "store", writer=True) as store,
        Fetcher(store, fetch_settings(), proxy=web.proxy) as fetcher,
    ):
        fetcher.ensure([url], role, page=page)
        rule = fetcher.answers.outcome(url, page=asked).rule
        assert (url in web.log) == asked and rule in ("", "content_signal", "not_an_image")


def test_an_address_that_is_an_image_and_a_page_is_asked_for_as_either(tmp_path):
    rules = Reply(200, b"User-agent: *\nContent-Signal: search=yes, ai-train=no\n")
    url = "http://a.sample/x"
    with (
        SampleWeb(hosts={"a.sample": Scripted(robots_txt=[rules], x=[Reply(200, HTML)])}) as web,
        FetchStore(tmp_path / "store", writer=True) as store,
        Fetcher(store, fetch_settings(), proxy=web.proxy) as fetcher,
    ):
        fetcher.ensure([url], "image", wait=False)
        fetcher.ensure([url], "page")
        assert fetcher.answers.outcome(url, page=True).entry is not None and url in web.log
