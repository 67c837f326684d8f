"""A crawl over the hostile web terminates, and every URL is in the ledger under its expected rule."""

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
from components.stages.crawl.run import run
from components.web.budget import Budget
from tests.stages.crawl.hostile_images import jpeg
from tests.stages.crawl.hostile_scripts import HTML, page, redirect
from tests.stages.crawl.hostile_web import LIMIT, ROBOTS, images, pages
from tests.stages.crawl.tls_faults import TLS, tls_server
from tests.support import HANG, make_stage
from tests.support.crawl.crawls import fixture_params
from tests.support.web.raw_web import RawWeb, plain

pytestmark = pytest.mark.long

TIMEOUT = 20.0
"""Timeout of one request in seconds: far above what a valid answer takes on a busy machine."""


class Served(NamedTuple):
    """Addresses of the hostile web and the rules expected of each."""

    port: int
    pages: dict[str, str]
    """URL → the rules, separated by spaces, one of which its ledger row must have."""
    images: dict[str, str]


def serve(home: Path, sender: Connection) -> None:
    """Serve the hostile web, in a process of its own, until the other end of ``sender`` closes."""
    page_cases, image_cases = pages(), images()
    scripts = {path: case.script for path, case in (page_cases | image_cases).items()}
    scripts |= {f"/calendar/{day}": page(f'<a href="/calendar/{day + 1}">next</a>') for day in range(1, 40)}
    scripts["/circle-2"] = redirect(b"/circle")
    with ExitStack() as servers:
        web = servers.enter_context(RawWeb(scripts))
        image_rules = {web.url(path): case.rule for path, case in image_cases.items()}
        for case in ROBOTS.values():
            host = servers.enter_context(RawWeb({"/robots.txt": case.script, "/x.jpg": plain(jpeg() + case.what.encode())}))
            image_rules[host.url("/x.jpg")] = case.rule
        for name, fault in TLS.items():
            port = servers.enter_context(tls_server(home / name, fault))
            image_rules[f"https://127.0.0.1:{port}/x.jpg"] = "robots"
        with socket.create_server(("127.0.0.1", 0)) as closed:
            image_rules[f"http://127.0.0.1:{closed.getsockname()[1]}/x.jpg"] = "robots"
        image_rules["http://no-such-host.invalid/x.jpg"] = "robots"
        links = "".join(f'<a href="{path}">x</a>' for path in page_cases)
        figures = "".join(f'<img src="{url}" alt="picture number {n} of the hostile web">' for n, url in enumerate(image_rules))
        web.paths["/"] = plain(f"<!doctype html><html lang=en>{links}{figures}".encode(), HTML)
        sender.send(Served(web.port, {web.url(path): case.rule for path, case in page_cases.items()}, image_rules))
        sender.poll(None)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Crawl the hostile web; yield the ledger by key, the records, the expected rules and the seconds it took."""
    home = tmp_path_factory.mktemp("hostile")
    receiver, sender = Pipe()
    server = get_context("spawn").Process(target=serve, args=(home, sender), daemon=True)
    server.start()
    sender.close()
    assert receiver.poll(HANG)
    served: Served = receiver.recv()
    stage = crawl_stage(home, served.port)
    start = time.monotonic()
    run(stage)
    seconds = time.monotonic() - start
    receiver.close()
    server.join(HANG)
    stage.finish()
    output = StageOutput(stage.out)
    rows = {row["key"]: row for row in output.ledger().to_pylist()}
    yield {"rows": rows, "records": output.table().to_pylist(), "served": served, "seconds": seconds}


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
        budget=Budget(host_failures=1000, page_seconds=8.0, image_seconds=3.0),
    )
    return make_stage(home, "crawl", params=params)


def test_the_crawl_over_the_hostile_web_terminates(crawled):
    assert crawled["seconds"] < HANG


@pytest.mark.parametrize("path", sorted(pages()))
def test_every_hostile_page_is_in_the_ledger_under_its_rule(crawled, path):
    url = f"http://127.0.0.1:{crawled['served'].port}{path}"
    row = crawled["rows"].get(url)
    assert row is not None, "not in the ledger"
    assert row["rule"] in crawled["served"].pages[url].split(" "), row


def test_every_image_is_in_the_ledger_under_its_rule(crawled):
    by_image = {row["detail"].split(" ")[0]: row for row in crawled["rows"].values() if row["kind"] == "record"}
    rules = {url: by_image[url]["rule"] if url in by_image else "not in the ledger" for url in crawled["served"].images}
    wrong = [
        (url, rule, crawled["served"].images[url])
        for url, rule in rules.items()
        if rule not in crawled["served"].images[url].split(" ")
    ]
    assert wrong == []


def test_valid_images_among_hostile_ones_are_kept(crawled):
    kept = {record["image_url"] for record in crawled["records"]}
    expected = {url for url, rules in crawled["served"].images.items() if rules == ""}
    assert expected <= kept


def test_no_control_character_of_the_hostile_web_reaches_a_record(crawled):
    for record in crawled["records"]:
        assert record["alt"].isprintable(), record
