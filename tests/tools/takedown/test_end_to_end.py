"""A host is taken down: after the next run and a purge a scan finds nothing of it, and before that it does."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from components.core.addresses import lineage_path
from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.execution.run_log import FAILED, RunLog, log_file, runs_file
from components.execution.runner import StageResult
from components.ratings.items import RatingItems
from components.tools.takedown.listing import add
from components.tools.takedown.plan import purge
from components.tools.takedown.scan import scan
from components.tracking.lineage import trace_lineage
from tests.support import InlineEngine
from tests.support.crawl.fixture_web import HOSTS, build_fixture_web, fixture_seeds
from tests.support.pipeline.harness import ENVIRONMENT, Project, leave_docs, make_project
from tests.support.pipeline.whole import small_params
from tests.support.settings_files import write_settings
from tests.support.tracking.project import finish, train_rows, weights

pytestmark = pytest.mark.long

GONE, STAYS = HOSTS
STAGES = ("crawl", "filter", "hypernymize", "dedup", "split")
ITEMS = "build_rating_items"
RATINGS = Path("ratings") / "english" / "hearsight.csv"
LEFT = (".hearsight/annotations", ".hearsight/cache", ".hearsight/logs", "DVC's cache", "DVC remote", "mlartifacts", "mlflow.db")
"""Places that still name the host before a purge."""
SHARED = "A house that both sites show on an envelope"


def short_params() -> dict[str, Any]:
    """The chain as far as split, and what people rate of it."""
    params = small_params()
    params["engine"]["workers"] = 1  # each worker loads the models
    for stage in list(params["chain"]):
        if stage not in STAGES:
            params["chain"][stage] = {}
            params["english"].pop(stage, None)
    absent = dict.fromkeys(("captioners", "retrieval", "speech"), "none")
    params["chain"][ITEMS] = {"english": {"captions": "english/split", "media": "english/crawl", **absent}}
    params["english"][ITEMS] = {"sample": 0, "split": "train"}
    return params


def web_with_a_shared_image(root: Path) -> None:
    build_fixture_web(root / "web", pages=8, seed=0)
    shutil.copy(next((root / "web" / GONE / "images").glob("*.jpg")), root / "web" / STAYS / "images" / "shared.jpg")
    for page in (root / "web").rglob("*.html"):
        page.write_text(re.sub(r'alt="([^"]+)"', r'alt="\1 on an envelope"', page.read_text()))
    page = min((root / "web" / STAYS).glob("page-*.html"))
    page.write_text(page.read_text() + f'<img src="images/shared.jpg" alt="{SHARED}">')


def run_chain(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Crawl under `dvc repro`; the rest as it would run it, in this process, and committed: the same versions, sooner."""
    from dvc.repo import Repo

    from components.execution import runner

    project.run("dvc", "repro", "--single-item", "crawl@english")
    with monkeypatch.context() as patch:
        patch.setenv("HEARSIGHT_TRACKING", "off")
        patch.setenv("HEARSIGHT_WORDNET", ENVIRONMENT["HEARSIGHT_WORDNET"])
        patch.setattr(runner, "make_engine", lambda *_: InlineEngine())
        for stage in (*STAGES[1:], ITEMS):
            runner.run_stage(project.root, stage, "english", check=leave_docs)
        patch.chdir(project.root)
        with Repo(str(project.root)) as repo:
            repo.commit(force=True)


def tell(project: Project, stage: str) -> None:
    """Tell MLflow of a stage that ran, as the runner does."""
    from components.tracking.recorder import record_run

    out = StageOutput(project.root / "data" / "english" / stage)
    results = json.loads(lineage_path(out.path).read_text())
    made = (project.root, "english", stage, out.path, out.manifest, results, [("kept", 1.0, None)], {})
    given = {name: value for name, value in results["params"].items() if name == "source"}
    result = StageResult(*made, given=given)
    assert record_run(result)


@dataclass
class Before:
    """What the first run left."""

    project: Project
    rows: dict[str, list[dict[str, Any]]]
    shared_image: str
    gone_image: str
    gone_items: list[str]
    """Rating items with an image or a caption of the host."""


def own(project: Project, stage: str, host: str) -> list[dict[str, Any]]:
    """A stage's records of one host, without what only says where things lie or who is alike."""
    table = StageOutput(project.root / "data" / "english" / stage).table()
    rows = table.filter(pc.equal(table["host"], host)).to_pylist()
    return sorted(
        ({name: value for name, value in row.items() if name not in ("media", "group", "split")} for row in rows),
        key=lambda row: row["key"],
    )


def annotated(root: Path) -> dict[str, set[str]]:
    import sqlite3

    result = {}
    for path in (root / ".hearsight" / "annotations").glob("*.sqlite"):
        base = sqlite3.connect(path)
        result[path.name.partition("-v")[0]] = {key for (key,) in base.execute("SELECT key FROM results")}
        base.close()
    return result


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Before]:
    patch = pytest.MonkeyPatch()
    patch.delenv("MLFLOW_TRACKING_URI", raising=False)
    root = tmp_path_factory.mktemp("takedown") / "project"
    project = make_project(root, short_params(), web_with_a_shared_image)
    run_chain(project, patch)
    rows = {stage: own(project, stage, STAYS) for stage in STAGES}
    crawled = StageOutput(root / "data/english/crawl").table()
    by_host = {host: crawled.filter(pc.equal(crawled["host"], host))["image_sha256"].to_pylist() for host in HOSTS}
    shared = set(by_host[GONE]) & set(by_host[STAYS])
    assert len(shared) == 1 and all(own(project, stage, GONE) for stage in ("crawl", "filter"))
    files = weights(root / "made/0", 0)
    for stage in (*STAGES, ITEMS):
        tell(project, stage)
    items = RatingItems.open(root / "data" / "english" / ITEMS)
    gone_keys = {row["key"] for row in own(project, "split", GONE)}
    gone_items = [key for key in items.keys if {use["query"] for use in items.item(key)["uses"]} <= gone_keys]
    assert gone_items and len(gone_items) < len(items)
    (root / RATINGS).parent.mkdir(parents=True)
    (root / RATINGS).write_text("".join(f"{key},r1,GOOD\n" for key in ["item", *items.keys]))
    log = RunLog(root / ".hearsight", "english", "crawl")
    for where in (f"http://{GONE}/page-0.html", gone_items[0], f"http://{STAYS}/page-0.html"):
        log.fail(HearsightError("cannot be read", where=where), 1.0)
    log.close()
    from components.tracking.recorder import record_run

    figure = root / "made" / "sheet.html"
    figure.write_text(f"<img src=http://{GONE}/images/0000.jpg>")
    files["sheet.html"] = figure
    result = finish(root, "pretrain_retrieval", {"input": "english/split"}, train_rows(files), files=files)
    assert record_run(result)
    from dvc.repo import Repo

    with (root / ".dvc" / "config").open("a") as config:
        config.write(f"[core]\n    remote = store\n['remote \"store\"']\n    url = {root.parent / 'remote'}\n")
    with Repo(str(root)) as repo:
        repo.push(run_cache=True)
    (gone_image,) = list(set(by_host[GONE]) - shared)[:1]
    yield Before(project, rows, shared.pop(), gone_image, gone_items)
    patch.undo()


def hearsight(monkeypatch: pytest.MonkeyPatch, root: Path, *words: str) -> int:
    """The console script in this process: its exit code."""
    from components.cli.main import main

    monkeypatch.setenv("HEARSIGHT_ROOT", str(root))
    monkeypatch.setattr("sys.argv", ["hearsight", *words])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_taken_down_host_is_removed_from_every_file_and_the_scan_confirms_it(
    before: Before, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, root = before.project, before.project.root
    assert before.rows["split"], "the fixture must carry something through the chain"
    untouched = everything(root / ".dvc" / "cache")

    # A purge before the next run is refused: what lies in data/ still refers to the host.
    add(root, "host", GONE)
    with pytest.raises(HearsightError, match="run `dvc repro` first"):
        purge(root, apply=True)

    params = project.params
    params["english"]["crawl"]["source"]["seeds"] = [seed for seed in fixture_seeds() if GONE not in seed]
    params["english"]["crawl"]["source"]["hosts"] = [STAYS]
    write_settings(root, params)
    shutil.rmtree(root / "made")
    run_chain(project, monkeypatch)
    for stage in (*STAGES, ITEMS):
        tell(project, stage)
    items = RatingItems.open(root / "data" / "english" / ITEMS)
    assert before.gone_image not in items.column("image_sha256") and not set(before.gone_items) & set(items.keys)

    # The other host's records are what they were, in every stage.
    for stage in STAGES:
        assert own(project, stage, STAYS) == before.rows[stage], stage
        assert not own(project, stage, GONE)

    # Old versions still hold it, and the scan says so, by the plain name and by the hashes.
    plain = scan(root, [("host", GONE)])
    hashes = scan(root)
    for report in (plain, hashes):
        places = " ".join(item["where"] for item in report.left)
        for where in LEFT:
            assert where in places, where
        assert report.models == [{"model": "english-captioner/1", "tainted": "yes"}]
    assert {item["where"] for item in plain.left} - {item["where"] for item in hashes.left} == set()
    assert before.gone_image in annotated(root)["image.look"]

    # A dry run touches nothing and names what it cannot reach.
    dry = purge(root, apply=False)
    assert dry.items and any("clone" in line for line in dry.manual)
    assert "data/english/pretrain_retrieval/sheet.html" in places
    assert untouched.items() <= everything(root / ".dvc" / "cache").items()

    shutil.rmtree(root / "data" / "english" / "pretrain_retrieval")
    done = purge(root, apply=True)
    assert {(item.where, item.what) for item in done.items} == {(item.where, item.what) for item in dry.items}
    # Lines of logs and ratings of what is gone are deleted, others stay.
    for path in (log_file(root / ".hearsight", "english", "crawl"), runs_file(root / ".hearsight", "english", "crawl")):
        failures = [line for line in map(json.loads, path.read_text().splitlines()) if line["event"] == FAILED]
        assert [STAYS in line["error"] for line in failures] == [True], path
    rated = [line.partition(",")[0] for line in (root / RATINGS).read_text().splitlines()]
    assert any("commit ratings/" in line for line in done.manual)
    assert set(items.keys) < set(rated) and not set(before.gone_items) & set(rated)
    for report in (scan(root, [("host", GONE)]), scan(root)):
        assert report.left == []
        assert report.files > 100 and report.models == [{"model": "english-captioner/1", "tainted": "yes"}]
    assert purge(root, apply=False).items == []

    # An independent result at the bytes: no file that is not packed names the host, in the project or at the remote.
    for folder in (root, root.parent / "remote"):
        named = [name for name, data in everything(folder).items() if GONE.encode() in data]
        assert [name for name in named if not name.startswith(("web/", "components/", "log.txt", ".git/"))] == []

    # What the current chain refers to is all there: the shared image, the outputs, DVC's state, the lineage.
    kept = annotated(root)["image.look"]
    assert before.shared_image in kept and before.gone_image not in kept
    for stage in STAGES:
        assert own(project, stage, STAYS) == before.rows[stage]
    shutil.rmtree(root / "data" / "english" / "split")
    project.run("dvc", "checkout", "split@english")
    assert own(project, "split", STAYS) == before.rows["split"]
    walked = [step.stage for step in trace_lineage(root, "english-captioner/1") if step.stage]
    assert walked == ["pretrain_retrieval", *reversed(STAGES)]


def test_the_scan_command_reports_its_result_as_exit_code(before: Before, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    root = before.project.root
    assert hearsight(monkeypatch, root, "takedown", "scan", "--host", GONE) == 0
    shown = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert shown["nothing left"] is True and shown["files"] > 100
    assert hearsight(monkeypatch, root, "takedown", "scan", "--host", STAYS) == 2
    output = capsys.readouterr()
    assert "places hold what was asked for" in output.err and len(output.err.strip().splitlines()) == 1
    assert {"where", "what"} == set(json.loads(output.out.splitlines()[0]))
