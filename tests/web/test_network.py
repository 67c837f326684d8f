"""A crawl ends with "the network is lost" when that is so, and never because many hosts are down."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest

from components.core.errors import HearsightError
from components.web import client
from components.web.client import LoopLag, NetworkWatch
from components.web.fetch import Fetcher
from components.web.store import FetchStore
from tests.support.crawl.crawls import fetch_settings
from tests.support.web.raw_web import RawWeb, plain

GOOD = 40


@pytest.fixture
def quick(monkeypatch):
    """Few hosts and no time are enough to look like a lost network."""
    monkeypatch.setattr(client, "FAILED_HOSTS", 5)
    monkeypatch.setattr(client, "FAILED_SECONDS", 0.0)


@pytest.fixture
def dead() -> list[str]:
    """Addresses of hosts that refuse connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return [f"http://127.0.7.{n}:{port}/x.jpg" for n in range(1, 31)]


def fetcher(tmp_path, **changes):
    store = FetchStore(tmp_path / "store", writer=True)
    return store, Fetcher(store, fetch_settings(allow_private=True, retries=0, **changes))


def test_unreachable_hosts_among_others_do_not_count_as_a_lost_network(tmp_path, quick, dead):
    with RawWeb({f"/{n}": plain(b"<p>x", "text/html") for n in range(GOOD)}) as web:
        store, fetching = fetcher(tmp_path)
        good = [web.url(f"/{n}") for n in range(GOOD)]
        with store, fetching:
            fetching.ensure(good[:1], "page")
            fetching.ensure([*dead, *good], "page")
            rules = [fetching.answers.outcome(url).rule for url in good]
            assert rules == [""] * GOOD
            assert {fetching.answers.outcome(url).rule for url in dead} == {"robots"}


def test_a_lost_network_stops_the_crawl_and_failures_are_requested_again(tmp_path, quick, dead):
    store, fetching = fetcher(tmp_path)
    with store, fetching:
        with RawWeb({"/0": plain(b"<p>x", "text/html")}) as web:
            fetching.ensure([web.url("/0")], "page")
        with pytest.raises(HearsightError, match=r"the network is lost: .* hosts failed"):
            fetching.ensure(dead, "page")
    with FetchStore(tmp_path / "store", writer=True) as again:
        assert again.forget_transient() >= 5


def test_four_times_as_many_failed_hosts_are_needed_before_any_answer(tmp_path, quick, dead):
    store, fetching = fetcher(tmp_path)
    with store, fetching:
        fetching.ensure(dead[:19], "page")  # one fewer than 4 × 5
        with pytest.raises(HearsightError, match="the network is lost"):
            fetching.ensure(dead[19:], "page")


def test_one_failing_host_does_not_count_as_a_lost_network(tmp_path, quick, dead):
    with RawWeb({"/0": plain(b"<p>x", "text/html")}) as web:
        store, fetching = fetcher(tmp_path)
        with store, fetching:
            fetching.ensure([web.url("/0")], "page")
            fetching.ensure([f"{dead[0]}?{n}" for n in range(50)], "page")


def test_unknown_names_do_not_count_as_a_lost_network(tmp_path, quick, monkeypatch):
    def nowhere(host, *_, **__):
        raise socket.gaierror(socket.EAI_NONAME if "dead" in host else socket.EAI_AGAIN, "not found")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    store, fetching = fetcher(tmp_path)
    with store, fetching:
        fetching.ensure([f"http://dead{n}.sample/x.jpg" for n in range(30)], "image")
        with pytest.raises(HearsightError, match="the network is lost"):
            fetching.ensure([f"http://far{n}.sample/x.jpg" for n in range(30)], "image")


@pytest.mark.parametrize(("hosts", "seconds", "lost"), [(25, 15.0, True), (24, 15.0, False), (25, 14.9, False)])
def test_many_hosts_over_some_time_and_a_failed_probe_are_needed(hosts, seconds, lost):
    probed = []

    async def judge():
        async def probe(url):
            probed.append(url)
            return False

        watch = NetworkWatch(probe)
        watch.answered("good.example", "http://good.example/")
        for number in range(hosts):
            watch.failed(f"{number}.example")
        asyncio.get_running_loop().time = lambda start=watch._quiet_since: start + seconds  # type: ignore[method-assign]
        return await watch.lost()

    assert asyncio.run(judge()) is lost
    assert probed == (["http://good.example/"] if lost else [])


def test_a_host_that_answers_the_probe_counts_against_a_lost_network(quick):
    async def judge():
        async def probe(url):
            return url == "http://second.example/"

        watch = NetworkWatch(probe)
        for name in ("first", "second", "third"):
            watch.answered(f"{name}.example", f"http://{name}.example/")
        for number in range(9):
            watch.failed(f"{number}.example")
        return await watch.lost(), watch.failures

    assert asyncio.run(judge()) == (False, 0)


def test_the_lag_of_a_busy_machine_is_measured():
    async def busy():
        lag = LoopLag()
        task = asyncio.ensure_future(lag.watch())
        await asyncio.sleep(0)
        time.sleep(1.0)
        await asyncio.sleep(LoopLag.PERIOD)
        task.cancel()
        return lag.seconds

    assert asyncio.run(busy()) >= 0.5
