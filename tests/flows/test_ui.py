"""The pages `make ui` serves: the reports and the Data Docs, and nothing else of the project."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from flows.ui import Pages


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    for place, text in {
        "data/english/report/report.html": "the report",
        "data/english/crawl/manifest.json": "{}",
        "reports/data_docs/english/crawl/index.html": "the docs",
        "secret.txt": "a secret",
    }.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    (tmp_path / "reports" / "way-out").symlink_to(tmp_path / "secret.txt")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Pages, root=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=300) as answer:
        return answer.read().decode()


def test_the_index_lists_every_report_and_every_boundarys_docs_and_its_links_open(site):
    page = get(f"{site}/")
    for place, text in (
        ("data/english/report/report.html", "the report"),
        ("reports/data_docs/english/crawl/index.html", "the docs"),
    ):
        assert f'href="/{place}"' in page
        assert get(f"{site}/{place}") == text


@pytest.mark.parametrize(
    "place",
    [
        "secret.txt",
        "data/english/crawl/manifest.json",
        "reports/../secret.txt",
        "reports/way-out",
        "data/",
        "reports/%2e%2e/secret.txt",
    ],
)
def test_nothing_else_of_the_project_is_served(site, place):
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(f"{site}/{place}")
    assert refused.value.code == 404


def test_the_index_of_a_project_without_a_run_says_what_to_do(tmp_path):
    from flows.ui import index

    assert "dvc repro" in index(tmp_path)
