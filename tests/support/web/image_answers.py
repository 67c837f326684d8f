"""Helpers of the image tests: images, and fetches and crawls of a web that serves them."""

from __future__ import annotations

import io

from PIL import Image

from components.web.fetch import Fetcher
from components.web.store import FetchStore
from tests.support import make_stage
from tests.support.crawl.crawls import crawled, fetch_settings, fixture_params
from tests.support.crawl.fixture_web import drawn_image
from tests.support.web.photographs import photograph
from tests.support.web.raw_web import RawWeb, plain

GOOD = drawn_image(("red", "house", "on a green field"))


LARGE = photograph(1600, 1200)


def fetched(tmp_path, paths, **changes):
    """Fetch every path of a raw web as an image; returns (path → outcome, the web)."""
    changes = {"allow_private": True, "retries": 0, "timeout": 3.0} | changes
    with (
        RawWeb(paths) as web,
        FetchStore(tmp_path / "store", writer=True) as store,
        Fetcher(store, fetch_settings(**changes)) as fetcher,
    ):
        fetcher.ensure([web.url(path) for path in paths], "image")
        outcomes = {path: fetcher.answers.outcome(web.url(path)) for path in paths}
        digest = store.digest()
    with FetchStore(tmp_path / "store", writer=True) as store:
        assert store.digest() == digest
    return outcomes, web


def drawn(width, height, name="PNG"):
    buffer = io.BytesIO()
    Image.effect_noise((width, height), 60).save(buffer, name)
    return buffer.getvalue()


def crawl(tmp_path, web, name, alts, **changes):
    """The whole stage over a page of images; returns (alt → ledger row, digest of the output, the snapshot's)."""
    page = "".join(f'<img src="{path}" alt="{alt}">' for path, alt in alts.items())
    web.paths["/"] = plain(b"<!doctype html><title>x</title>" + page.encode(), "text/html")
    host = web.url("").removeprefix("http://")
    values = {"web": "open", "contact": "http://example.org/", "seeds": [web.url("/")], "hosts": [host], "allow_private": True}
    job = make_stage(
        tmp_path, "crawl", params=fixture_params(**values, **{"retries": 0, "snapshot": name, "timeout": 3.0} | changes)
    )
    output = crawled(job)
    rows = [row for row in output.ledger().to_pylist() if row["kind"] == "record"]
    by_path = {path: row for row in rows for path in alts if f"{web.url(path)} on" in row["detail"]}
    assert len(by_path) == len(rows) == len(alts)
    return by_path, output.digest, job.parents[0]["digest"]
