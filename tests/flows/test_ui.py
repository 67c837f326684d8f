"""The pages `make ui` serves: those that stages write, the reports and the Data Docs, and nothing else of the project."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from components.core.graph import Graph, load_graph
from components.core.stage_output import StageOutput
from flows.ui import Pages, index
from tests.support import PROJECT, leave_warning

PAGES = {
    "data/english/report/report.html": "<title>English &amp; more</title>the report",
    "data/portuguese/posts_report/analysis.html": "the analysis",
    "data/stamps/evaluate_speech/listen.html": "what is heard",
    "data/captioners/evaluate_captioners/compare.html": "the captioners",
    "data/stamps/evaluate_retrieval/retrieval.html": "the scores",
    "data/stamps/build_search_index/neighbours.html": '<img src="pictures/1.jpg">',
    "reports/calibration/index.html": "the thresholds",
    "reports/data_docs/english/crawl/index.html": "the docs",
}
"""One page of each kind that the project's own graph has."""


def graph_of(root: Path) -> Graph:
    """The project's own graph, its outputs below ``root``."""
    return Graph(root, (own := load_graph(PROJECT)).stages, own.params)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    for place, text in {
        **PAGES,
        "data/stamps/build_search_index/pictures/1.jpg": "a picture",
        "data/english/crawl/manifest.json": "{}",
        "data/nobody/report/report.html": "of no dataset of the graph",
        "secret.txt": "a secret",
    }.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    (tmp_path / "reports" / "way-out").symlink_to(tmp_path / "secret.txt")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Pages, graph=graph_of(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=300) as answer:
        return answer.read().decode()


def test_the_index_links_every_page_and_the_docs_of_every_check(site):
    page = get(f"{site}/")
    assert page.count("<a href") == len(PAGES)
    for place, text in PAGES.items():
        assert f'href="/{place}"' in page
        assert get(f"{site}/{place}") == text
    assert ">English &amp; more</a>" in page


def test_the_pictures_of_a_page_are_served(site):
    assert get(f"{site}/data/stamps/build_search_index/pictures/1.jpg") == "a picture"


@pytest.mark.parametrize(
    "place",
    [
        "secret.txt",
        "data/english/crawl/manifest.json",
        "data/nobody/report/report.html",
        "reports/../secret.txt",
        "reports/way-out",
        "data/",
        "reports/%2e%2e/secret.txt",
    ],
)
def test_only_the_page_and_its_files_are_served(site, place):
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(f"{site}/{place}")
    assert refused.value.code == 404


def test_the_index_shows_the_warnings_of_every_check(site, tmp_path):
    assert "Warnings" not in get(f"{site}/")
    leave_warning(StageOutput(tmp_path / "data" / "english" / "evaluate_speech"))
    leave_warning(StageOutput(tmp_path / "data" / "captioners" / "cells" / "english-t2t8x8" / "train_captioner"))
    page = get(f"{site}/")
    assert "english/evaluate_speech: by_voice" in page and "captioners/cells/english-t2t8x8/train_captioner: by_voice" in page


def test_the_index_of_a_project_without_a_run_names_the_first_command(tmp_path):
    assert "dvc repro" in index(graph_of(tmp_path))
