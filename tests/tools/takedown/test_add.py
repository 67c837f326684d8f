"""`hearsight takedown add` says what an entry covers, and lists nothing that covers nothing unless told to."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from components.cli.main import app
from components.core.errors import HearsightError
from components.tools.takedown.scan import scan
from components.web.store import FetchStore
from components.web.takedown_list import NAME, read_takedown
from components.web.warc import Entry
from tests.support import PROJECT, make_output, row
from tests.support.settings_files import write_settings
from tests.support.storage.projects import small_params

OWNER = "ann@example.social"
PAGE, IMAGE, PROFILE = "http://a.sample/x,y/page", "http://img.a.sample/%7Eann/1.jpg", "https://example.social/@ann"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two records of one crawl and one answer of its snapshot."""
    write_settings(tmp_path, small_params())
    shutil.copy(PROJECT / "dvc.yaml", tmp_path / "dvc.yaml")
    rows = [
        row("crawl", key="a" * 16, page_url=PAGE, image_url=IMAGE, host="a.sample", owner=""),
        row("crawl", key="b" * 16, page_url="http://b.sample/", image_url="http://b.sample/2.jpg", host="b.sample", owner=OWNER),
    ]
    make_output(tmp_path, "crawl", [rows])
    with FetchStore(tmp_path / "data" / "store" / "s", writer=True) as store:
        store.add(Entry(PAGE, 200, type="text/html"), b"<p>a page")
        store.finish({"web": "open"})
    monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path))
    monkeypatch.setenv("HEARSIGHT_TRACKING", "off")
    return tmp_path


def add(*words: str) -> Result:
    return CliRunner().invoke(app, ["takedown", "add", *words])


@pytest.mark.parametrize(
    ("words", "records", "answers"),
    [
        (("--url", "https://A.sample.:443/./x%2Cy//page#top"), 1, 1),
        (("--url", "http://img.a.sample/~ann/1.jpg"), 1, 0),
        (("--host", "*.A.sample"), 1, 1),
        (("--host", "b.sample:8080"), 1, 0),
        (("--owner", PROFILE), 1, 0),
        (("--owner", "@Ann@example.social"), 1, 0),
    ],
)
def test_any_spelling_covers_its_records_and_says_so(project: Path, words: tuple[str, str], records: int, answers: int) -> None:
    done = add(*words)
    assert done.exit_code == 0, done.exception
    line = json.loads(done.stdout)
    assert (line["records"], line["answers"], line["new"]) == (records, answers, True)
    assert line["in"] == {"english": 1} and line["snapshots"] == ({"s": 1} if answers else {})
    assert not json.loads(add(*words).stdout)["new"] and len(read_takedown(project / NAME).entries) == 1
    kind, value = words[0].removeprefix("--"), words[1]
    places = {item["where"] for report in (scan(project), scan(project, [(kind, value)])) for item in report.left}
    assert any(place.startswith("data/english/crawl/shards") for place in places)


@pytest.mark.parametrize(
    "words", [("--url", "http://a.sample/other"), ("--host", "c.sample"), ("--owner", "ann"), ("--host", "b.sample", "--url", "http://c.sample/")]
)  # fmt: skip
def test_what_covers_nothing_is_listed_in_advance_only(project: Path, words: tuple[str, ...]) -> None:
    refused = add(*words)
    assert isinstance(refused.exception, HearsightError) and "covers no record and no stored answer" in str(refused.exception)
    assert not (project / NAME).exists(), "a part of what was given was listed"
    done = add(*words, "--in-advance")
    assert done.exit_code == 0 and len(read_takedown(project / NAME).entries) == len(words) // 2
    assert add(*words).exit_code == 0, "an entry of the list was refused"


@pytest.mark.parametrize("words", [("--host", "a.*"), ("--url", "http://*.a.sample/"), ("--owner", "https://a.sample/x/y/z")])
def test_a_pattern_is_refused_in_one_line(project: Path, words: tuple[str, str]) -> None:
    refused = add(*words, "--in-advance")
    assert isinstance(refused.exception, HearsightError) and "is no " in str(refused.exception)
    assert not (project / NAME).exists()
