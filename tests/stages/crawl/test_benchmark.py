"""The benchmark script still runs with the present parameters."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.images import ours_crawl, ours_head, ours_look
from tests.support import PROJECT
from tests.support.crawl.fixture_web import drawn_image


@pytest.fixture
def folder(tmp_path):
    """A folder with two images, a truncated third, and the page that shows them."""
    home = tmp_path / "feed"
    home.mkdir()
    whole = [drawn_image((colour, "fish", "in the snow at night")) for colour in ("red", "blue")]
    for at, data in enumerate([*whole, whole[0][:900]]):
        (home / f"{at}.jpg").write_bytes(data)
    return home


def test_decoded_and_rejected_images_are_counted(folder):
    assert ours_look(str(folder))["kept"] == 2
    assert ours_head(str(folder))["kept"] == 0  # held to a side that none of them has


def test_a_served_feed_is_crawled(folder, tmp_path):
    images = "".join(f'<img src="/{at}.jpg" alt="picture {at}">' for at in range(4))
    (folder / "index.html").write_text(f"<!doctype html><title>Feed</title>{images}")
    command = [sys.executable, "-m", "benchmarks.images", "--verb", "serve", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as server:
        try:
            assert server.stdout is not None
            output = ours_crawl(f"http://127.0.0.1:{int(server.stdout.readline())}/", str(tmp_path / "home"))
        finally:
            server.kill()
    assert output["kept"] == 2 and output["processors"] > 0
