"""A crawl over images that exceed the budget: each is a ledger row, the others are kept, a larger budget decodes them."""

from __future__ import annotations

import os
import sqlite3

import pytest

from components.core.errors import HearsightError
from components.stages.crawl import image_decoding
from components.stages.crawl.image_decoding import DecodeAhead
from components.web.budget import Budget
from components.web.images import inspection
from components.web.images.image import decode_image
from components.web.store import FetchStore
from components.web.warc import Entry
from tests.support import WORKERS, make_stage
from tests.support.crawl.crawls import fixture_params
from tests.support.crawl.fixture_web import drawn_image
from tests.support.web.image_answers import crawl
from tests.support.web.image_bombs import gif_outside, png, webp
from tests.support.web.raw_web import RawWeb, plain

GOOD = [drawn_image((colour, "fish", "in the snow at night")) for colour in ("red", "blue", "green")]
BOMB = webp(9000, 9000)


@pytest.mark.long
def test_images_over_budget_get_rows_and_a_larger_budget_requests_them_again(tmp_path):
    paths = {
        "/good": GOOD[0],
        "/dear": png(9000, 9000),
        "/wide": png(20_001, 300),
        "/far": gif_outside(65_000, 4),
        "/last": GOOD[1],
    }
    alts = {path: f"a picture of {path[1:]} things" for path in paths}
    small = Budget(image_memory=1 << 25)
    with RawWeb({path: plain(data) for path, data in paths.items()}) as web:
        rows, digest, _ = crawl(tmp_path, web, "dear", alts, budget=small)
        assert {path: (row["rule"], row["value"], row["threshold"]) for path, row in rows.items()} == {
            "/good": ("", "", ""),
            "/dear": ("image_over_budget", "memory", f"{1 << 25} bytes"),
            "/wide": ("image_too_large", "20001 x 300 px", "20000 px a side"),
            "/far": ("image_too_large", "65010 x 14 px", "20000 px a side"),
            "/last": ("", "", ""),
        }
        asked = len(web.asked)
        assert crawl(tmp_path, web, "dear", alts, budget=small)[1] == digest
        rows = crawl(tmp_path, web, "dear", alts)[0]
        assert [path for path, row in rows.items() if row["rule"]] == ["/wide", "/far"] and len(web.asked) == asked


def test_a_smaller_pixel_limit_gives_the_rows_of_a_crawl_under_that_limit(tmp_path):
    paths = {"/large": png(400, 300), "/good": GOOD[0]}
    alts = {path: f"a picture of {path[1:]} things" for path in paths}
    with RawWeb({path: plain(data) for path, data in paths.items()}) as web:
        assert {row["rule"] for row in crawl(tmp_path, web, "more", alts)[0].values()} == {""}
        later = crawl(tmp_path, web, "more", alts, budget=Budget(image_side=399))[0]
        assert (later["/large"]["rule"], later["/large"]["threshold"]) == ("image_too_large", "399 px a side")
        fresh = crawl(tmp_path / "fresh", web, "less", alts, budget=Budget(image_side=399))[0]
        assert [fresh[path]["rule"] for path in paths] == [later[path]["rule"] for path in paths]


def seen_ahead(tmp_path, bodies, budget):
    """Return the sha256 of each image that the workers decoded."""
    job = make_stage(tmp_path, "crawl", params=fixture_params(budget=budget))
    job.engine = WORKERS
    with FetchStore(tmp_path / "s", writer=True) as store, DecodeAhead(job, store):
        for number, data in enumerate(bodies):
            store.add(Entry(f"http://a.sample/{number}", 200, type="image/png"), data, [], "OK")
    result: set[str] = set()
    for path in (job.state / "annotations").glob("image.look*.sqlite"):
        with sqlite3.connect(path) as base:
            result |= {key for (key,) in base.execute("SELECT key FROM results")}
    return result


def test_an_image_over_its_memory_budget_does_not_affect_other_images_of_a_worker(tmp_path):
    result = seen_ahead(tmp_path, [BOMB, GOOD[0], BOMB + b"x", GOOD[1], BOMB + b"y", GOOD[2]], Budget(image_memory=1 << 27))
    assert result >= {decode_image(data).sha256 for data in GOOD} and len(result) == 6


def test_a_worker_killed_by_an_image_continues_with_the_next_images(tmp_path, monkeypatch):
    def looked(budget, data):
        while data == GOOD[0]:
            pass
        return decode_image(data)

    monkeypatch.setattr(image_decoding, "decode_within", looked)
    monkeypatch.setattr(image_decoding, "MESSAGES_PER_BATCH", 1)  # what a process had in hand goes with it
    assert seen_ahead(tmp_path, GOOD, Budget(image_seconds=0.5)) == {decode_image(data).sha256 for data in GOOD[1:]}


@pytest.mark.parametrize("most", [1, 3])
def test_workers_stop_after_too_many_images_killed_them(tmp_path, monkeypatch, most):
    monkeypatch.setattr(image_decoding, "decode_within", lambda *_: os.abort())
    monkeypatch.setattr(image_decoding, "MESSAGES_PER_BATCH", 1)
    monkeypatch.setattr(image_decoding, "MAX_CHILDREN", most)
    assert seen_ahead(tmp_path, [GOOD[0] + bytes([number]) for number in range(20)], Budget()) == set()


def test_a_decoder_crash_in_a_job_is_a_ledger_row(tmp_path, monkeypatch):
    def looked(data, budget):
        return os.abort() if data == GOOD[0] else decode_image(data, budget)

    monkeypatch.setattr(inspection, "decode_image", looked)
    alts = {"/one": "a picture of one thing", "/two": "a picture of two things"}
    with RawWeb({"/one": plain(GOOD[0]), "/two": plain(GOOD[1])}) as web:
        rows = crawl(tmp_path, web, "crash", alts)[0]
    assert (rows["/one"]["rule"], rows["/one"]["value"]) == ("image_over_budget", "crash") and rows["/two"]["verdict"] == "kept"
    assert rows["/one"]["threshold"] == f"10 s and {1 << 30} bytes"


def test_a_damaged_stored_image_is_an_error_that_names_its_snapshot(tmp_path):
    with RawWeb({"/one": plain(GOOD[0])}) as web, pytest.MonkeyPatch.context() as patch:
        patch.setattr(image_decoding, "read_body", lambda *_: None)
        with pytest.raises(HearsightError, match=r"the stored image [0-9a-f]{16} is damaged — remove the snapshot's folder"):
            crawl(tmp_path, web, "torn", {"/one": "a picture of one thing"})
