"""Sites and images with statements about their use."""

from __future__ import annotations

from tests.support.crawl.counting_web import Thing
from tests.support.crawl.fixture_web import drawn_image

A = "http://a.sample"
JPEG = drawn_image(("red", "house", "on a green field"))


def jpeg(*headers: tuple[str, str]) -> Thing:
    return Thing(JPEG, "image/jpeg", headers=list(headers))
