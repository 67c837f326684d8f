"""Crawl stages over the fixture web in temporary folders."""

from __future__ import annotations

import ipaddress
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from components.core.stage_output import StageOutput
from components.execution.engine import LocalEngine
from components.execution.stage import Stage
from components.stages.crawl import Params
from components.stages.crawl.run import run
from components.web.settings import FetchSettings
from tests.support import make_stage
from tests.support.crawl.counting_web import Asked, CountingWeb
from tests.support.crawl.daily_site import HOST
from tests.support.crawl.fixture_web import HOSTS, build_fixture_web, fixture_seeds
from tests.support.crawl.social import Social

OF_ARCHIVES: dict[str, Any] = {"source": "archives", "seeds": [], "hosts": []}


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reject connections to other machines, even where a test breaks a guard."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not ipaddress.ip_address(address[0]).is_loopback:
            raise AssertionError(f"a test connects to {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


SITE = ("seeds", "hosts", "depth", "max_pages", "sitemaps")
"""What a site has of the settings that follow; sources of other kinds have it only where a test gives it."""


def nested(values: dict[str, Any]) -> dict[str, Any]:
    """Settings of a crawl whose source and web are spelled flat, as params.yaml has them: what only a source has goes into it."""
    values = dict(values)
    source: dict[str, Any] = {"kind": values.pop("source")}
    if source["kind"] == "posts":
        source |= {"provider": "mastodon", "server": "http://social.sample"}
    for name in list(values):
        if name not in Params.model_fields and name not in ("web_root", "proxy"):
            source[name] = values.pop(name)
    if source["kind"] != "site":  # what is empty is left out where it is of a site alone
        source = {name: value for name, value in source.items() if name not in SITE or value}
    if source.get("provider") == "jsonl":
        for name in ("window_days", "max_pages", *(("server",) if source["server"] in ("", "http://social.sample") else ())):
            source.pop(name, None)
    web: dict[str, Any] = {"kind": values["web"]}
    for name, own in (("web_root", "root"), ("proxy", "proxy")):
        if value := values.pop(name, ""):
            web[own] = value
    return {**values, "source": source, "web": web}


def fixture_block(**changes: Any) -> dict[str, Any]:
    """Return the settings of a crawl over the fixture web; those of its source and web are given by their own names."""
    values: dict[str, Any] = {
        "snapshot": "fixture",
        "source": "site",
        "web": "folder",
        "seeds": fixture_seeds(),
        "hosts": list(HOSTS),
        "depth": 6,
        "max_pages": 500,
        "sitemaps": False,
        "per_host": 4,
        "delay": 0.0,
        "timeout": 10.0,
        "retries": 1,
        "backoff": 0.01,
        "max_page_bytes": 1_000_000,
        "max_image_bytes": 1_000_000,
        "max_retry_after": 5.0,
        "tdmrep": False,
        "shard_size": 10,
    }
    if changes.get("source", "site") != "site":
        values = {name: value for name, value in values.items() if name not in SITE}
    if changes.get("web", "folder") == "folder":
        values["web_root"] = "web"
    return nested(values | changes)


def fixture_params(**changes: Any) -> Params:
    """Return the same settings as the stage reads them."""
    return Params(**fixture_block(**changes))


def fetch_settings(**changes: Any) -> FetchSettings:
    """Return the settings of the fetcher from :func:`fixture_params`."""
    params = fixture_params(**changes)
    return FetchSettings(**{name: getattr(params, name) for name in FetchSettings.model_fields})


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """The folder of a small fixture web: 8 pages of 3 images, and its faults."""
    return build_fixture_web(tmp_path / "web", pages=8)


@pytest.fixture
def stage(tmp_path: Path, web: Path) -> Callable[..., Stage]:
    """Makes crawl stages over that web in the same folders, so that a later one finds the results of the first."""
    return lambda **changes: make_stage(tmp_path, "crawl", params=fixture_params(**changes))


def crawled(job: Stage) -> StageOutput:
    """Run a crawl from an empty output folder and return its finished output."""
    shutil.rmtree(job.out, ignore_errors=True)
    job.out.mkdir(parents=True)
    run(job)
    job.finish()
    return StageOutput(job.out)


@pytest.fixture
def crawl(stage: Callable[..., Stage]) -> Callable[..., StageOutput]:
    """Crawls the named archives, or the fixture web with changed parameters; each snapshot has its own output."""

    def go(*names: str, engine: LocalEngine | None = None, **changes: Any) -> StageOutput:
        job = stage(**(OF_ARCHIVES | {"inputs": list(names)} if names else {}) | changes)
        job.engine = engine or job.engine
        if "snapshot" in changes:
            job.out = job.out.parent.parent / changes["snapshot"] / "crawl"
        return crawled(job)

    return go


def posts_block(proxy: str, **changes: Any) -> dict[str, Any]:
    """Return the settings of a collection by hashtag; ``changes`` may name settings of the source and web directly."""
    values = {"source": "posts", "web": "open", "proxy": proxy, "contact": "mail@example.org", "snapshot": "day-1"}
    return fixture_block(**(values | {"window_days": 7000.0, "max_pages": 50} | changes))


def posts_params(proxy: str, **changes: Any) -> Params:
    """Return the same settings as the stage reads them."""
    return Params(**posts_block(proxy, **changes))


@pytest.fixture
def collect(tmp_path: Path) -> Callable[..., StageOutput]:
    """Collects posts into a snapshot and returns the finished output."""

    def go(proxy: str, snapshot: str = "day-1", base: str = "", **changes: Any) -> StageOutput:
        return crawled(make_stage(tmp_path, "crawl", params=posts_params(proxy, snapshot=snapshot, base=base, **changes)))

    return go


@pytest.fixture
def social() -> Iterator[Social]:
    """A running server with Mastodon's and Instagram's API."""
    with Social() as server:
        yield server


@pytest.fixture
def table(stage: Callable[..., Stage]) -> Callable[..., StageOutput]:
    """Crawls the table of an existing set in a temporary folder."""

    def crawl(layout: str, *names: str, **changes: Any) -> StageOutput:
        values = {"source": "table", "seeds": [], "hosts": [], "layout": layout, "inputs": list(names), "language": "en"}
        return crawled(stage(**(values | changes)))

    return crawl


@pytest.fixture
def crawl_day(tmp_path: Path) -> Callable[..., tuple[StageOutput, list[Asked], Stage]]:
    """Crawls a web into a snapshot over a base; returns (output, requests of this crawl, stage)."""

    def go(web: CountingWeb, snapshot: str, base: str = "", **changes: Any) -> tuple[StageOutput, list[Asked], Stage]:
        start = len(web.log)
        values = {"web": "open", "proxy": web.proxy, "contact": "mail@example.org", "seeds": [f"{HOST}/"], "hosts": ["a.sample"]}
        params = fixture_params(**(values | {"snapshot": snapshot, "base": base, "max_pages": 1000} | changes))
        job = make_stage(tmp_path, "crawl", params=params)
        return crawled(job), web.log[start:], job

    return go
