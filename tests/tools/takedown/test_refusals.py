"""A purge that would take an older output for the current one, or that has nothing to go by, is refused in one line."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pytest
from dvc.repo import Repo

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.ledger import ledger_table
from components.core.params import read_params_file
from components.core.shards import write_table
from components.core.stage_output import StageOutput
from components.stages.crawl.consent_ledger import SCHEMA, ledger_path
from components.tools.takedown.listing import add
from components.tools.takedown.plan import open_repo, purge
from components.tools.takedown.scan import scan
from components.web.erase import erase
from components.web.store import FetchStore
from components.web.takedown_journal import append_removal
from components.web.takedown_list import NAME, read_takedown, takedown_row
from components.web.warc import Entry
from tests.support import row
from tests.support.command import hearsight
from tests.support.settings_files import copy_settings
from tests.support.takedown.unpack import read_unpacked
from tests.support.takedown.versions import dvc
from tests.support.tracking.project import finish


@pytest.fixture
def root(tmp_path: Path) -> Path:
    copy_settings(tmp_path)
    finish(tmp_path, "crawl", {}, [row("crawl", key="a", page_url="http://stays.sample/", host="stays.sample")])
    finish(tmp_path, "filter", {"input": "english/crawl"}, [row("filter", key="a", page_url="http://stays.sample/")])
    return tmp_path


def test_an_empty_list_is_no_reason_to_purge_or_scan(root: Path) -> None:
    for call in (lambda: purge(root, apply=True), lambda: scan(root)):
        with pytest.raises(HearsightError, match="lists nothing"):
            call()


def test_an_output_of_an_older_input_is_refused(root: Path) -> None:
    add(root, "host", "gone.sample")
    assert purge(root, apply=True).items == []
    finish(root, "crawl", {}, [row("crawl", key="b", page_url="http://stays.sample/", host="stays.sample")])
    with pytest.raises(HearsightError, match=r"made from an older english/crawl.*dvc repro"):
        purge(root, apply=True)


def test_an_output_with_a_listed_item_is_refused_and_unchanged(root: Path) -> None:
    add(root, "url", "http://stays.sample/")
    before = StageOutput(root / "data/english/crawl").digest
    with pytest.raises(HearsightError, match="still holds what is listed"):
        purge(root, apply=True)
    assert StageOutput(root / "data/english/crawl").digest == before
    left = scan(root).left
    assert {item["where"] for item in left} >= {f"data/english/{stage}/shards/00000.parquet" for stage in ("crawl", "filter")}


def write_snapshots(root: Path, *answers: tuple[str, bytes]) -> str:
    """Store answers (address, body) in the snapshot that the settings name and in one of last year; return the first's name."""
    current: str = read_params_file(root / "params.yaml")["english"]["crawl"]["snapshot"]
    for name in (current, "of-last-year"):
        with FetchStore(root / "data/store" / name, writer=True) as store:
            for url, body in answers:
                store.add(Entry(url, 200, type="text/html"), body, [("Content-Type", "text/html")], "OK")
            store.finish({"web": "open", "seeds": ["http://gone.sample/"]})
    return current


def test_a_purge_clears_snapshots_that_no_run_reads(root: Path) -> None:
    image = ("http://media.sample/1.jpg", b"\xff\xd8 an image that only the host's page showed")
    others = ("http://stays.sample/2.jpg", b"\xff\xd8 another's")
    current = write_snapshots(root, ("http://gone.sample/", b"<p>"), image, others)
    add(root, "host", "gone.sample")
    # The next run: the image's own address is on no list.
    erase(root / "data/store" / current, read_takedown(root / NAME), [image[0]])
    plan = purge(root, apply=True)
    assert {(item.where, item.what) for item in plan.items} == {("data/store/of-last-year", "2 answers")}
    for name in (current, "of-last-year"):
        left = read_unpacked(root / "data/store" / name)
        assert image[1] not in left and b"gone.sample" not in left and others[1] in left
    assert scan(root).left == [] and purge(root, apply=True).items == []


def test_a_scan_for_a_value_finds_what_was_removed_for_it_and_not_for_another_entry(root: Path) -> None:
    image = ("http://media.sample/1.jpg", b"\xff\xd8 an image that only the host's page showed")
    current = write_snapshots(root, ("http://gone.sample/", b"<p>the host's page"), image)
    add(root, "host", "gone.sample")
    erase(root / "data/store" / current, read_takedown(root / NAME))
    erase(root / "data/store/of-last-year", read_takedown(root / NAME))
    erase(root / "data/store" / current, read_takedown(root / NAME), [image[0]])  # as a crawl removes what no page shows
    left = scan(root).left
    assert {item["what"] for item in left} >= {"a WARC record's body"}
    assert scan(root, [("host", "*.GONE.sample")]).left == left
    for value in ("nosuch.sample", "www.gone.sample"):
        assert scan(root, [("host", value)]).left == []


def test_a_scan_for_a_value_leaves_out_the_records_and_pages_of_other_entries(root: Path) -> None:
    entry, _ = add(root, "host", "gone.sample")
    add(root, "host", "other.sample")
    snapshot = root / "data/store/of-last-year"
    snapshot.mkdir(parents=True)
    (snapshot / "index.jsonl").touch()
    bodies = [sha256_bytes(b"gone")]
    append_removal(snapshot, {"before": "", "after": "", "entries": [entry.sha256], "bodies": bodies, "texts": []})
    finish(root, "crawl", {}, [row("crawl", key="b")])
    write_table(root / "data/english/crawl/ledger/00001.parquet", ledger_table([takedown_row("a", entry.sha256)]))
    (root / "data/english/filter/shards/00000.parquet").unlink()  # whose record that is, until the next run
    (root / "reports" / "copy.html").write_bytes(b"gone")
    (root / "reports" / "a.jpg").write_bytes(b"a thumbnail by its record's key")
    assert {item["where"] for item in scan(root, [("host", "gone.sample")]).left} >= {"reports/copy.html", "reports/a.jpg"}
    assert scan(root, [("host", "other.sample")]).left == []


def test_a_purge_removes_statements_about_listed_pages_that_an_older_crawl_kept(root: Path) -> None:
    with FetchStore(root / "data/store/of-last-year", writer=True) as store:
        store.finish({"web": "open"})
    for dataset, host in (("english", "gone.sample"), ("portuguese", "stays.sample")):
        path = ledger_path(root / "data/store/of-last-year", dataset)
        values = dict.fromkeys(SCHEMA.names, "") | {"address": f"http://{host}/p", "hops": [], "pages": []}
        write_table(path, pa.Table.from_pylist([values], schema=SCHEMA))
    add(root, "host", "gone.sample")
    assert [item["where"] for item in scan(root).left] == ["data/store/of-last-year/consent/english.parquet"]
    assert [item.where for item in purge(root, apply=True).items] == ["data/store/of-last-year/consent/english.parquet"]
    assert scan(root).left == [] and path.exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [("receipt.pdf", b"is no .html or .json"), ("", b"--out: is empty"), ("nosuch/receipt.html", b"there is no such folder")],
)
def test_a_receipt_of_another_kind_or_place_is_refused_before_the_search(root: Path, name: str, says: bytes) -> None:
    (root / NAME).write_text("no list")  # which the search would refuse
    done = hearsight("takedown", "answer", "--host", "gone.sample", "-o", "receipt.json", "-o", name, cwd=root)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count(b"\n") == 1, done.stderr
    assert not [path for path in root.iterdir() if path.name in ("receipt.json", "receipt.pdf", "nosuch")]


def test_another_command_at_the_stores_is_told_in_one_plain_sentence(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dvc.lock.DEFAULT_TIMEOUT", 0)
    dvc(root, "init", "-q", "--no-scm")
    with Repo(str(root)) as other, other.lock, pytest.raises(HearsightError) as refused, ExitStack() as locks:
        open_repo(root, locks)
    assert str(refused.value) == f"{root / '.dvc'}: is in use by another command — wait until it ends"


def test_a_damaged_annotation_store_gives_a_one_line_error(root: Path) -> None:
    add(root, "host", "gone.sample")
    folder = root / ".hearsight" / "annotations"
    folder.mkdir(parents=True)
    (folder / "image.look-v1-x.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(HearsightError, match="the annotation cache failed"):
        purge(root, apply=True)


@pytest.mark.long
@pytest.mark.parametrize("with_artefacts", [True, False])
def test_a_copied_project_touches_no_file_of_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_artefacts: bool
) -> None:
    from mlflow.tracking._tracking_service import utils

    from components.tracking.recorder import record_run

    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    copy_settings(first)
    params = {"seeds": ["http://gone.sample/"]}
    assert record_run(finish(first, "crawl", {}, [row("crawl", key="a", page_url="http://stays.sample/")], params=params))
    monkeypatch.delenv("MLFLOW_TRACKING_URI")  # MLflow sets it to what it was connected to
    # Without the artefacts its database still names those of the first by absolute addresses.
    shutil.copytree(first, second, ignore=None if with_artefacts else shutil.ignore_patterns("mlartifacts"))
    shutil.rmtree(second / "data")
    utils._artifact_repos_cache.clear()  # MLflow keeps the folder of a run as long as the process
    before = {path: path.read_bytes() for path in first.rglob("*") if path.is_file()}
    add(second, "host", "gone.sample")
    plan = purge(second, apply=True)
    assert any("this one was copied from" in line for line in plan.manual)
    assert not any(b"gone.sample" in path.read_bytes() for path in (second / "mlartifacts").rglob("*") if path.is_file())
    assert {path: path.read_bytes() for path in first.rglob("*") if path.is_file()} == before
