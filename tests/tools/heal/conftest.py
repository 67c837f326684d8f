"""A site and a web archive on loopback."""

from __future__ import annotations

import pytest

from tests.support.crawl.healing import GOOD, NAMES
from tests.support.web.raw_web import RawWeb, plain
from tests.support.web.simulated_archive import SimulatedArchive


@pytest.fixture
def archive():
    with SimulatedArchive() as running:
        yield running


@pytest.fixture
def web():
    images = "".join(f'<img src="/{name}.jpg" alt="the {name} picture">' for name in NAMES)
    with RawWeb({"/": plain(f'<html lang="en">{images}'.encode(), "text/html")}) as running:
        running.paths |= {f"/{name}.jpg": plain(GOOD) for name in NAMES}
        yield running
