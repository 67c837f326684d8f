"""Crawl stages over the fixture web in temporary folders."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from components.core.stage_output import StageOutput
from components.execution.engine import LocalEngine
from components.execution.stage import Stage
from tests.support import make_stage
from tests.support.crawl.crawls import OF_ARCHIVES, crawled, posts_params
from tests.support.crawl.fixtures import crawl_day, drawn_web, stage, web
from tests.support.crawl.social import Social

__all__ = ["crawl_day", "drawn_web", "stage", "web"]


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reject connections to other machines, even where a test breaks a guard."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not ipaddress.ip_address(address[0]).is_loopback:
            raise AssertionError(f"a test connects to {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


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
