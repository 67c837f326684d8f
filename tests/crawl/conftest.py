"""Stages over the fixture web, in folders of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.core.stage import Stage
from components.crawl import Params
from components.crawl.web.fetch import FetchSettings
from tests.crawl.fixture_web import HOSTS, build_fixture_web, fixture_seeds
from tests.support import make_stage


def fixture_params(**changes: Any) -> Params:
    """The parameters of a crawl over the fixture web."""
    values: dict[str, Any] = {
        "snapshot": "fixture",
        "base": "",
        "fresh_for": 30.0,
        "source": "site",
        "inputs": [],
        "input_prefix": "",
        "sample": 0,
        "sample_seed": 0,
        "layout": "",
        "image_folder": "",
        "language": "",
        "web": "folder",
        "web_root": "web",
        "proxy": "",
        "seeds": fixture_seeds(),
        "hosts": list(HOSTS),
        "depth": 6,
        "max_pages": 500,
        "per_host": 4,
        "connections": 16,
        "delay": 0.0,
        "connect_timeout": 5.0,
        "timeout": 10.0,
        "retries": 1,
        "backoff": 0.01,
        "max_page_bytes": 1_000_000,
        "max_image_bytes": 1_000_000,
        "min_side": 0,
        "max_aspect": 0.0,
        "user_agent": "hearsight",
        "contact": "",
        "allow_private": False,
        "max_retry_after": 5.0,
        "sitemaps": False,
        "tdmrep": False,
        "consent": "opt_out",
        "consenting": [],
        "min_alt": 1,
        "shard_size": 10,
    }
    return Params(**(values | changes))


def fetch_settings(**changes: Any) -> FetchSettings:
    """The fetcher's share of them."""
    params = fixture_params(**changes)
    return FetchSettings(**{name: getattr(params, name) for name in FetchSettings.model_fields})


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """The folder of a small fixture web: 8 pages of 3 pictures, and the accidents."""
    return build_fixture_web(tmp_path / "web", pages=8)


@pytest.fixture
def stage(tmp_path: Path, web: Path) -> Callable[..., Stage]:
    """Makes a crawl stage over that web; equal folders each time, so a second one finds what the first left."""
    return lambda **changes: make_stage(tmp_path, "crawl", params=fixture_params(**changes))
