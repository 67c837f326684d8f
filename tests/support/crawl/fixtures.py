"""Fixtures of crawls that other folders of tests share."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from tests.support import make_stage
from tests.support.crawl.counting_web import Asked, CountingWeb
from tests.support.crawl.crawls import crawled, fixture_params
from tests.support.crawl.daily_site import HOST
from tests.support.crawl.fixture_web import build_fixture_web


@pytest.fixture(scope="session")
def drawn_web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small fixture web: 8 pages of 3 images, and its faults."""
    return build_fixture_web(tmp_path_factory.mktemp("drawn") / "web", pages=8)


@pytest.fixture
def web(tmp_path: Path, drawn_web: Path) -> Path:
    """A copy of that web for one test, which may change it."""
    return Path(shutil.copytree(drawn_web, tmp_path / "web"))


@pytest.fixture
def stage(tmp_path: Path, web: Path) -> Callable[..., Stage]:
    """Makes crawl stages over that web in the same folders, so that a later one finds the results of the first."""
    return lambda **changes: make_stage(tmp_path, "crawl", params=fixture_params(**changes))


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
