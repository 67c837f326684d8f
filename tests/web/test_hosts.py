"""One host has a budget: what it asks for, fails at or delays costs its own URLs and nobody else's."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import ExitStack

import pytest

from components.web import hosts
from components.web.budget import Budget
from components.web.fetch import Fetcher
from components.web.hosts import Host, Slots
from components.web.robots import Rules
from components.web.store import FetchStore
from tests.support import HANG
from tests.support.crawl.crawls import fetch_settings
from tests.support.web.raw_web import RawWeb, head, plain

PAGE = plain(b"<p>x", "text/html")


def fetch(tmp_path, urls, **changes):
    """Fetch pages; returns their outcomes."""
    settings = {"allow_private": True, "retries": 0, "backoff": 0.0} | changes
    with FetchStore(tmp_path / "store", writer=True) as store, Fetcher(store, fetch_settings(**settings)) as fetcher:
        fetcher.ensure(urls, "page")
        return [fetcher.answers.outcome(url) for url in urls]


@pytest.mark.parametrize("delay", ["1000000000", "61", "86400.5"])
def test_a_host_that_asks_for_too_long_a_delay_is_dropped_by_a_rule(tmp_path, delay):
    robots = plain(f"User-agent: *\nCrawl-delay: {delay}\n".encode(), "text/plain")
    with RawWeb({"/robots.txt": robots, "/x": PAGE}) as web:
        (outcome,) = fetch(tmp_path, [web.url("/x")])
        assert "/x" not in web.asked
    assert (outcome.rule, outcome.value, outcome.threshold) == ("crawl_delay", f"{float(delay):g} s", "at most 60 s")


@pytest.mark.parametrize("delay", ["nan", "inf", "-1", "1e999", "soon", ""])
def test_an_invalid_delay_is_ignored(delay):
    assert Rules.of(200, f"User-agent: *\nCrawl-delay: {delay}\n".encode(), "hearsight").delay == 0.0


def test_the_cap_on_the_delay_is_a_setting(tmp_path):
    with RawWeb({"/robots.txt": plain(b"User-agent: *\nCrawl-delay: 0.2\n", "text/plain"), "/x": PAGE}) as web:
        (outcome,) = fetch(tmp_path, [web.url("/x")], budget=Budget(crawl_delay=0.1))
    assert outcome.rule == "crawl_delay"


@pytest.mark.parametrize("fault", ["reset", "busy", "slow"])
def test_a_host_that_fails_many_times_in_a_row_is_given_up(tmp_path, fault):
    def slow(_):
        time.sleep(0.15)
        yield head(200, "text/html", 4)
        yield b"<p>x"

    script = {"reset": lambda _: [None], "busy": plain(b"", "text/html", 503), "slow": slow}[fault]
    paths = {f"/{n}": script for n in range(30)}
    with RawWeb(paths) as web:
        budget = Budget(host_failures=4, slow_answer=0.1)
        outcomes = fetch(tmp_path, [web.url(path) for path in paths], per_host=1, budget=budget)
        # A lost connection is tried once more by aiohttp when it was a kept one.
        assert 4 <= len([path for path in web.asked if path != "/robots.txt"]) <= 8
    dropped = [outcome for outcome in outcomes if outcome.rule == "host_failing"]
    assert len(dropped) == 26
    assert {(one.value, one.threshold) for one in dropped} == {("4 failures or slow answers in a row", "fewer than 4")}
    with FetchStore(tmp_path / "store", writer=True) as store:
        assert store.forget_transient() >= 26, "a later run asks again"


def test_a_host_that_fails_sometimes_is_not_given_up(tmp_path):
    paths = {f"/{n}": PAGE if n % 3 == 2 else (lambda _: [None]) for n in range(30)}
    with RawWeb(paths) as web:
        outcomes = fetch(tmp_path, [web.url(path) for path in paths], per_host=1, budget=Budget(host_failures=3))
    assert {outcome.rule for outcome in outcomes} == {"", "connection"}


@pytest.mark.long
def test_hosts_that_never_answer_do_not_delay_others(tmp_path):
    """With 4 connections and 8 hosts that hang, a good host is finished while they still hang."""
    release, finished = threading.Event(), threading.Event()

    def hangs(_):
        release.wait(HANG)
        yield head(200, "text/plain", 0)

    good = [f"/good{n}" for n in range(40)]

    def last(_):
        finished.set()
        return PAGE(0)

    with ExitStack() as webs:
        web = webs.enter_context(RawWeb(dict.fromkeys(good, PAGE) | {good[-1]: last}))
        hanging = [webs.enter_context(RawWeb({"/robots.txt": hangs, "/x": PAGE})) for _ in range(8)]
        urls = [each.url("/x") for each in hanging] + [web.url(path) for path in good]
        answers: list[list[str]] = []
        settings = {"connections": 4, "timeout": HANG, "connect_timeout": HANG, "per_host": 1}
        fetching = threading.Thread(target=lambda: answers.append([o.rule for o in fetch(tmp_path, urls, **settings)]))
        fetching.start()
        try:
            assert finished.wait(HANG), "the good host waits for those that hang"
        finally:
            release.set()
            fetching.join(HANG)
    assert answers == [[""] * len(urls)]


def test_a_redirect_to_a_slow_host_does_not_delay_its_source(tmp_path):
    release, finished = threading.Event(), threading.Event()

    def hangs(_):
        release.wait(HANG)
        yield from PAGE(0)

    def last(_):
        finished.set()
        return PAGE(0)

    with RawWeb({"/slow": hangs}) as slow, RawWeb({"/last": last}) as web:
        web.paths |= {f"/{n}": lambda _: [head(302, "text/plain", 0, f"Location: {slow.url('/slow')}")] for n in range(8)}
        urls = [*(web.url(f"/{n}") for n in range(8)), web.url("/last")]
        rules: list[str] = []
        fetching = threading.Thread(target=lambda: rules.extend(o.rule for o in fetch(tmp_path, urls, per_host=1, timeout=HANG)))
        fetching.start()
        try:
            assert finished.wait(HANG)
        finally:
            release.set()
            fetching.join(HANG)
    assert rules == [""] * 9


def test_without_waiting_the_last_urls_are_read_by_the_next_call(tmp_path, monkeypatch):
    from components.web import fetch as fetch_module

    monkeypatch.setattr(fetch_module, "WINDOW", 5)
    paths = {f"/{n}": PAGE for n in range(40)}
    with (
        RawWeb(paths) as web,
        FetchStore(tmp_path / "store", writer=True) as store,
        Fetcher(store, fetch_settings(allow_private=True, per_host=1)) as fetcher,
    ):
        urls = [web.url(path) for path in paths]
        fetcher.ensure(urls[:20], "page", wait=False)
        assert 0 < sum(url in store for url in urls[:20]) < 20
        fetcher.ensure(urls[10:], "page", wait=False)
        fetcher.ensure((), "page")
        assert [fetcher.answers.outcome(url).rule for url in urls] == [""] * 40
        assert sorted(web.asked) == sorted([*paths, "/robots.txt"]), "each is asked for once"


def places(host_of, connections=8):
    """How many requests of a host may be in flight at a time."""

    async def count():
        slots, held = Slots(connections), 0
        fast = Host(fetch_settings())
        for _ in range(3):
            async with slots.slot(fast):
                await asyncio.sleep(0.001)
        host = host_of(fetch_settings())

        async def hold():
            nonlocal held
            async with slots.slot(host):
                held += 1
                await asyncio.Event().wait()

        tasks = [asyncio.ensure_future(hold()) for _ in range(200)]
        for _ in range(5):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with slots.slot(fast):  # all places were given back
            return held

    return asyncio.run(count())


def test_failing_and_slow_hosts_use_the_slow_lane():
    def failing(settings):
        host = Host(settings)
        host.note(good=False)
        return host

    def slow(settings):
        host = Host(settings)
        host.pace = HANG
        return host

    assert [places(kind) for kind in (Host, failing, slow)] == [8, 72, 72]


def test_a_long_request_moves_to_the_slow_lane(monkeypatch):
    monkeypatch.setattr(hosts, "LONG", 0.0)

    async def two():
        slots, host = Slots(1), Host(fetch_settings())
        async with slots.slot(host), asyncio.timeout(HANG), slots.slot(host):
            pass
        async with slots.slot(host):
            return True

    assert asyncio.run(two())


def test_idle_hosts_are_removed_from_memory(tmp_path, monkeypatch):
    from components.web import fetch as fetch_module

    monkeypatch.setattr(fetch_module, "HOSTS_IN_MEMORY", 3)
    with ExitStack() as stack:
        webs = [stack.enter_context(RawWeb({"/x": PAGE})) for _ in range(6)]
        failing = stack.enter_context(RawWeb({"/x": lambda _: [None]}))
        store = stack.enter_context(FetchStore(tmp_path / "store", writer=True))
        fetcher = stack.enter_context(Fetcher(store, fetch_settings(allow_private=True, retries=0)))
        fetcher.ensure([web.url("/x") for web in (*webs, failing)], "page")
        strikes = fetcher.host(failing.url("/x")).strikes
        fetcher.ensure([webs[0].url("/y")], "page")
        assert strikes == 1 == fetcher.host(failing.url("/x")).strikes
        assert len(fetcher._hosts) == 2
