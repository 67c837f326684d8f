"""Settings of crawls over the fixture web and of posts, and a crawl's finished output."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.stages.crawl import Params
from components.stages.crawl.run import run
from components.web.fetch import Fetcher
from components.web.settings import FetchSettings
from tests.support.crawl.fixture_web import HOSTS, fixture_seeds

OF_ARCHIVES: dict[str, Any] = {"source": "archives", "seeds": [], "hosts": []}
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


def crawled(job: Stage) -> StageOutput:
    """Run a crawl from an empty output folder and return its finished output."""
    shutil.rmtree(job.out, ignore_errors=True)
    job.out.mkdir(parents=True)
    run(job)
    job.finish()
    return StageOutput(job.out)


def posts_block(proxy: str, **changes: Any) -> dict[str, Any]:
    """Return the settings of a collection by hashtag; ``changes`` may name settings of the source and web directly."""
    values = {"source": "posts", "web": "open", "proxy": proxy, "contact": "mail@example.org", "snapshot": "day-1"}
    return fixture_block(**(values | {"window_days": 7000.0, "max_pages": 50} | changes))


def posts_params(proxy: str, **changes: Any) -> Params:
    """Return the same settings as the stage reads them."""
    return Params(**posts_block(proxy, **changes))


@contextmanager
def interrupted(after: int) -> Iterator[None]:
    """Interrupt the crawl of the block, as Ctrl-C does, when so many requests are sent."""
    ask, left = Fetcher._ask, [after]

    async def breaks(self: Fetcher, *arguments: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return await ask(self, *arguments)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Fetcher, "_ask", breaks)
        yield
