"""A crawl over images that exceed the budget: each is a ledger row, the others are kept, a larger budget decodes them."""

from __future__ import annotations

import os

import pytest

from components.core.errors import HearsightError
from components.stages.crawl import image_decoding
from components.web.budget import Budget
from components.web.images import inspection
from components.web.images.image import decode_image
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
