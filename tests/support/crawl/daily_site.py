"""A site of two hosts that grows from day to day, for crawls over a base snapshot; its pages and images have validators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.core.stage_output import StageOutput
from tests.support.crawl.counting_web import Thing
from tests.support.crawl.fixture_web import COLOURS, PLACES, THINGS, drawn_image

SCENES = [(colour, thing, place) for colour in COLOURS for thing in THINGS for place in PLACES]
HOST, MEDIA = "http://a.sample", "http://media.sample"


def page(number: int, text: str = "") -> Thing:
    """Return page ``number`` with two images, one on each host."""
    images = "".join(f'<img src="{image(number, at)}" alt="Picture {number} {at} of many">' for at in (0, 1))
    return Thing(f"<!doctype html><html lang=en><p>{text} {images}".encode())


def image(number: int, at: int) -> str:
    """Return the address of a page's image on host ``at``."""
    return f"{(HOST, MEDIA)[at]}/{number:03d}-{at}.jpg"


def site(numbers: Sequence[int], media_validator: str = "modified") -> dict[str, Thing]:
    """Return address → content of a site with these pages."""
    things = {f"{HOST}/robots.txt": Thing(b"User-agent: *\nAllow: /\n", "text/plain")}
    links = "".join(f'<a href="/p{number:03d}.html">x</a>' for number in numbers)
    things[f"{HOST}/"] = Thing(f"<!doctype html><html lang=en>{links}".encode(), validator="none")
    for number in numbers:
        things[f"{HOST}/p{number:03d}.html"] = page(number)
        for at in (0, 1):
            data = drawn_image(SCENES[(2 * number + at) % len(SCENES)], seed=number)
            things[image(number, at)] = Thing(data, "image/jpeg", validator=("etag", media_validator)[at])
    return things


def ledger_rows(output: StageOutput, kind: str = "record") -> list[dict[str, Any]]:
    """Return the ledger rows of a kind."""
    return [row for row in output.ledger().to_pylist() if row["kind"] == kind]
