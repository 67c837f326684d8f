"""A crawl over a web that misbehaves in every way we know ends, with every URL in the ledger under the expected rule."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.stages.crawl import run
from components.web.budget import Budget
from tests.stages.crawl.conftest import fixture_params
from tests.stages.crawl.hostile_web import HTML, LIMIT, ROBOTS, images, jpeg, page, pages, redirect
from tests.stages.crawl.tls_faults import TLS, tls_server
from tests.support import HANG, make_stage
from tests.web.raw_web import RawWeb, plain

TIMEOUT = 20.0
"""Seconds of one request of the crawl: many times what a busy machine needs for a sound one."""


class Told(NamedTuple):
    """What the server says of itself."""

    port: int
    pages: dict[str, str]
    """URL → the rules, one of which its ledger row has."""
    images: dict[str, str]


def serve(home: Path, line: Connection) -> None:
    """A process that serves the hostile web until the other end of ``line`` closes; the crawl's own process has enough to do."""
    page_cases, image_cases = pages(), images()
    scripts = {path: case.script for path, case in (page_cases | image_cases).items()}
    scripts |= {f"/calendar/{day}": page(f'<a href="/calendar/{day + 1}">next</a>') for day in range(1, 40)}
    scripts["/circle-2"] = redirect(b"/circle")
    with ExitStack() as servers:
        web = servers.enter_context(RawWeb(scripts))
        shown = {web.url(path): case.rule for path, case in image_cases.items()}
        for case in ROBOTS.values():
            host = servers.enter_context(RawWeb({"/robots.txt": case.script, "/x.jpg": plain(jpeg() + case.what.encode())}))
            shown[host.url("/x.jpg")] = case.rule
        for name, fault in TLS.items():
            port = servers.enter_context(tls_server(home / name, fault))
            shown[f"https://127.0.0.1:{port}/x.jpg"] = "robots"
        with socket.create_server(("127.0.0.1", 0)) as closed:
            shown[f"http://127.0.0.1:{closed.getsockname()[1]}/x.jpg"] = "robots"
        shown["http://no-such-host.invalid/x.jpg"] = "robots"
        links = "".join(f'<a href="{path}">x</a>' for path in page_cases)
        figures = "".join(f'<img src="{url}" alt="picture number {n} of the hostile web">' for n, url in enumerate(shown))
        web.paths["/"] = plain(f"<!doctype html><html lang=en>{links}{figures}".encode(), HTML)
        line.send(Told(web.port, {web.url(path): case.rule for path, case in page_cases.items()}, shown))
        line.poll(None)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The finished crawl: its ledger by key, its records, what was expected of each URL, and the seconds it took."""
    home = tmp_path_factory.mktemp("hostile")
    here, there = Pipe()
    server = get_context("spawn").Process(target=serve, args=(home, there), daemon=True)
    server.start()
    there.close()
    assert here.poll(HANG)
    told: Told = here.recv()
    stage = crawl_stage(home, told.port)
    start = time.monotonic()
    run(stage)
    seconds = time.monotonic() - start
    here.close()
    server.join(HANG)
    stage.finish()
    output = StageOutput(stage.out)
    rows = {row["key"]: row for row in output.ledger().to_pylist()}
    yield {"rows": rows, "records": output.table().to_pylist(), "told": told, "seconds": seconds}


def crawl_stage(home: Path, port: int) -> Stage:
    params = fixture_params(
        web="open",
        web_root="",
        contact="http://example.org/robot",
        seeds=[f"http://127.0.0.1:{port}/"],
        hosts=[f"127.0.0.1:{port}"],
        depth=5,
        max_pages=300,
        per_host=8,
        connections=32,
        timeout=TIMEOUT,
        connect_timeout=TIMEOUT,
        retries=0,
        max_page_bytes=LIMIT,
        max_image_bytes=LIMIT,
        allow_private=True,
        budget=Budget(host_failures=1000, page_seconds=5.0, image_seconds=3.0),
    )
    return make_stage(home, "crawl", params=params)


def test_the_crawl_over_a_hostile_web_ends(crawled):
    assert crawled["seconds"] < HANG


@pytest.mark.parametrize("path", sorted(pages()))
def test_every_hostile_page_is_in_the_ledger_under_its_rule(crawled, path):
    url = f"http://127.0.0.1:{crawled['told'].port}{path}"
    row = crawled["rows"].get(url)
    assert row is not None, "not in the ledger"
    assert row["rule"] in crawled["told"].pages[url].split(" "), row


def test_every_image_is_in_the_ledger_under_its_rule(crawled):
    by_image = {row["detail"].split(" ")[0]: row for row in crawled["rows"].values() if row["kind"] == "record"}
    rules = {url: by_image[url]["rule"] if url in by_image else "not in the ledger" for url in crawled["told"].images}
    wrong = [
        (url, found, crawled["told"].images[url])
        for url, found in rules.items()
        if found not in crawled["told"].images[url].split(" ")
    ]
    assert wrong == []


def test_sound_pictures_among_hostile_ones_are_kept(crawled):
    kept = {record["image_url"] for record in crawled["records"]}
    expected = {url for url, rules in crawled["told"].images.items() if rules == ""}
    assert expected <= kept


def test_no_text_of_the_hostile_web_reaches_a_record_with_control_characters(crawled):
    for record in crawled["records"]:
        assert record["alt"].isprintable(), record
