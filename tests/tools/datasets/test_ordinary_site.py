"""The settings that `hearsight dataset add --site` writes keep the images of an ordinary site; the paper's keep none of them."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from components.cli.stages import check_draft
from components.core.graph import load_graph
from components.core.params import dataset_file
from components.core.stage_output import StageOutput
from components.core.yaml_edit import edited_yaml
from components.execution import runner
from components.stages.filter import Params
from components.stages.filter.image_rules import RECORD_RULES
from components.stages.filter.rules import first_failure
from components.tools.datasets.source_options import ORDINARY
from tests.support import InlineEngine
from tests.support.crawl.fixture_web import drawn_image
from tests.support.datasets import add, project
from tests.support.filter.subjects import PAPER, subject

SIZES = {
    "hero.webp": (640, 360), "teaser.jpg": (320, 180), "pin.jpg": (400, 600), "object.jpg": (380, 480), "shot.png": (300, 200),
    "banner.jpg": (900, 310),
}  # fmt: skip
"""File → px, as news, recipes, museums and manuals have them."""
ICONS = {"logo.png": (160, 48), "author.jpg": (64, 64), "pixel.png": (1, 1)}


@given(st.sampled_from(["JPEG", "PNG", "WEBP"]), st.integers(100, 700), st.floats(1.0, 3.0), st.booleans())
def test_an_image_of_ordinary_format_size_and_shape_is_kept(kind: str, side: int, ratio: float, tall: bool) -> None:
    width, height = side, int(side * ratio)
    image = subject(format=kind, width=min(width, height), height=max(width, height))
    image.width, image.height = (image.width, image.height) if tall else (image.height, image.width)
    assert first_failure(image, RECORD_RULES, Params(**ORDINARY["filter"])) is None


def make_site(folder: Path, elsewhere: str) -> None:
    """Write a page of images with alt-texts: of a lazily loaded one, of one in several sizes on another host, and icons."""
    drawn = Image.open(io.BytesIO(drawn_image(("red", "kite", "on the blue sea")))).convert("RGB")
    for at, (name, size) in enumerate((SIZES | ICONS).items()):  # of different content: equal images are one record
        drawn.rotate(7 * at).resize(size).save(folder / name)
    page = '<img src="pixel.png" data-src="hero.webp" alt="A kite above the sea">'
    page += f'<img src="{elsewhere}/author.jpg" srcset="{elsewhere}/pin.jpg 400w" alt="A tall kite">'
    page += "".join(
        f'<img src="{name}" alt="A kite called {name}">' for name in [*SIZES, *ICONS] if name not in ("hero.webp", "pin.jpg")
    )
    (folder / "index.html").write_text(f'<!doctype html><html lang="en"><body>{page}</body></html>')


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on loopback; yields its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.long
def test_a_site_on_loopback_is_added_by_one_command_and_loses_icons_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "project").mkdir()
    root = project(tmp_path / "project")
    monkeypatch.setattr(runner, "make_engine", lambda *_: InlineEngine())
    with served(tmp_path / "site") as home, served(tmp_path / "site") as elsewhere:
        make_site(tmp_path / "site", elsewhere)
        add(root, "mine", "--site", f"{home}/", "--contact", "mail@example.org", "--allow-private")
        with edited_yaml(dataset_file(root, "mine")) as content:
            content["crawl"]["delay"] = 0.0
        runner.run_stage(root, "crawl", "mine", check=check_draft)
    records = StageOutput(root / "data" / "mine" / "crawl").table().to_pylist()
    settings = runner.stage_settings(load_graph(root), "filter", "mine")
    kept, papers = set(), set()
    for record in records:
        image = subject(**{name: record[name] for name in ("format", "width", "height", "language")})
        name = record["image_url"].rpartition("/")[2]
        kept |= {name} if first_failure(image, RECORD_RULES, settings) is None else set()
        papers |= {name} if first_failure(image, RECORD_RULES, PAPER) is None else set()
    assert {record["image_url"].rpartition("/")[2] for record in records} == {*SIZES, *ICONS}
    assert (kept, papers) == (set(SIZES), set())
