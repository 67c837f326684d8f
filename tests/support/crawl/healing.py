"""A site whose images die, and the settings under which they are healed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from components.execution.stage import Stage
from components.tools.heal.archives import Archive
from components.tools.heal.targets import heal_snapshot
from tests.support import make_stage
from tests.support.crawl.crawls import fixture_params
from tests.support.crawl.fixture_web import drawn_image
from tests.support.web.raw_web import RawWeb, head
from tests.support.web.simulated_archive import SimulatedArchive

GOOD, OTHER = drawn_image(("red", "house", "on a green field")), drawn_image(("blue", "fish", "in the snow at night"))
GONE = [head(404, "text/plain", 0)]
NAMES = ("alive", "archived", "changed", "page", "noai", "listless", "robot")
"""The site's images."""


def settings(web: RawWeb, **changes: Any) -> Any:
    host = web.url("").removeprefix("http://")
    values = {"web": "open", "contact": "http://example.org/", "seeds": [web.url("/")], "hosts": [host], "allow_private": True}
    return fixture_params(**(values | {"retries": 0, "timeout": 3.0, "snapshot": "new"} | changes))


def stage(root: Path, web: RawWeb, **changes: Any) -> Stage:
    return make_stage(root, "crawl", params=settings(web, **changes))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def heal(root: Path, web: RawWeb, archive: SimulatedArchive, kind: str = "cdx", **changes: Any) -> dict[str, Any]:
    """Heal the snapshot; ``changes``: settings, or ``digests`` and ``most`` of :func:`heal_snapshot`."""
    digests, most = changes.pop("digests", ("old",)), changes.pop("most", 5)
    spec = Archive.parse(getattr(archive, kind))
    return heal_snapshot(stage(root, web, **changes), [spec], list(digests), root / "heal.csv", most)
