"""Sites and pictures with statements about their use."""

from __future__ import annotations

from tests.support.crawl.counting_web import Thing
from tests.support.crawl.fixture_web import picture

A = "http://a.sample"
JPEG = picture(("red", "house", "on a green field"))


def jpeg(*headers: tuple[str, str]) -> Thing:
    return Thing(JPEG, "image/jpeg", headers=list(headers))
