"""The answer to a request names all that came from an address, before and after it is listed, dropped and purged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from selectolax.lexbor import LexborHTMLParser
from typer.testing import CliRunner

from components.cli.main import app
from components.core.addresses import lineage_path
from components.core.errors import HearsightError
from components.core.files import publish_json
from components.core.ledger import dropped, kept, ledger_table
from components.core.stage_output import StageOutput
from components.ratings.running import ADDRESS, database_url
from components.ratings.store import RatingStore
from components.tools.release.kinds import release
from components.tools.release.publish import RELEASES, list_releases, note_release
from components.tools.takedown.answer import NOT_SEARCHED, Answer, answer
from components.tools.takedown.evidence import HOLDERS, REMOVED
from components.tools.takedown.listing import add
from components.tools.takedown.plan import purge
from components.tools.takedown.tracked import MAYBE, YES, Tracker
from components.tracking.record import TAG, connect
from components.web.erase import CONSENT
from tests.support import make_output, row
from tests.support.release.project import WEB, project
from tests.support.settings_files import copy_settings
from tests.support.takedown.indexed import GONE, IMAGES, init, make_index

pytestmark = pytest.mark.long

PAGE = f"http://{GONE}/{IMAGES - 1}"
KEYS = [f"{IMAGES - 1:02d}{language}" for language in ("es", "fr")]


@dataclass
class States:
    """The answers about one host, in the order of what is done about it."""

    root: Path
    asked: Answer
    listed: Answer
    dropped: Answer
    """After the run that dropped it; its older versions are still there."""
    purged: Answer
    other: Answer
    """After all, about an address that nothing came from."""
    added: Answer
    """The same, once it is listed too."""
    cloned: Answer
    """As purged, without what the purge noted."""


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Iterator[States]:
    patch = pytest.MonkeyPatch()
    for name in ("MLFLOW_TRACKING_URI", "HEARSIGHT_PIPELINE_RUN"):
        patch.delenv(name, raising=False)
    patch.setenv("HEARSIGHT_TRACKING", "now")
    root = init(tmp_path_factory.mktemp("asked") / "project")
    make_index(root, IMAGES)
    copy_settings(root)
    split = StageOutput(root / "data" / "stamps" / "extract_features").digest
    line = {"release": "stamps-1", "dataset": "stamps", "version": "1.0.0", "sums_sha256": "0" * 64, "split": split}
    (root / RELEASES).write_text(json.dumps(line) + "\n" + json.dumps(line | {"release": "stamps-0", "split": "1" * 64}) + "\n")
    asked = answer(root, "url", f"HTTPS://{GONE.upper()}/./{IMAGES - 1}#top", "2026-11-30")
    entry, _ = add(root, "host", GONE)
    listed = answer(root, "host", GONE)
    (root / "dvc.yaml").unlink()
    make_index(root, IMAGES - 1, entry.sha256)
    copy_settings(root)
    dropped = answer(root, "host", GONE)
    purge(root, apply=True)
    purged = answer(root, "host", GONE)
    other = answer(root, "host", "other.sample")
    add(root, "host", "other.sample")
    added = answer(root, "host", "other.sample")
    (root / REMOVED).rename(root / "noted.json")
    cloned = answer(root, "host", GONE)
    (root / "noted.json").rename(root / REMOVED)
    yield States(root, asked, listed, dropped, purged, other, added, cloned)
    patch.undo()


def found(receipt: Answer, stage: str) -> Any:
    """The row of a stage of the set; None where it holds nothing."""
    return next((row for row in receipt.found if (row["dataset"], row["stage"]) == ("stamps", stage)), None)


def test_records_are_found_by_any_spelling_of_their_page_with_their_keys(states: States) -> None:
    line = found(states.asked, "crawl")
    assert line == {
        "dataset": "stamps", "stage": "crawl", "what": "captioned images", "count": 2, "removed": "next run", "keys": KEYS,
    }  # fmt: skip
    assert sum(each["stage"] == "crawl" for each in states.asked.found) == 1


def test_utterances_are_found_by_their_record_and_not_by_equal_sound_of_another(states: States) -> None:
    line = found(states.asked, "import_recordings")
    # The French clip is that of another image too.
    assert line["what"] == "spoken captions" and line["keys"] == [f"{key}.0" for key in KEYS]


def test_features_are_found_by_their_record(states: States) -> None:
    line = found(states.asked, "extract_features")
    assert line["what"] == "image features" and line["keys"] == KEYS


def test_entries_of_a_search_index_are_found_with_the_image(states: States) -> None:
    line = found(states.asked, "build_search_index")
    assert line["what"] == "entries of a search index" and line["count"] == 3
    assert {f"{key}.0" for key in KEYS} < set(line["keys"])


def test_copies_are_counted_in_each_store(states: States) -> None:
    assert {"where": "DVC's cache", "what": "data files", "removed": "purge"}.items() <= states.dropped.copies[0].items()
    assert not states.dropped.found and states.dropped.copies[0]["count"] >= 4


def test_releases_are_named_by_version_and_only_those_that_held_it(states: States) -> None:
    for receipt in (states.asked, states.listed, states.dropped, states.purged):
        assert [(each["release"], each["version"], each["held"]) for each in receipt.releases] == [("stamps-1", "1.0.0", "yes")]
    assert states.other.releases == states.added.releases == []


def test_models_are_named_with_their_run_and_whether_they_are_current(states: States) -> None:
    client = connect(states.root)
    for receipt, current in ((states.asked, True), (states.listed, True), (states.dropped, False)):
        models = {each["model"]: each for each in receipt.models}
        assert set(models) == {"stamps-dual_encoder/1", "stamps-dual_encoder/2"}
        assert all(each["saw"] == "yes" and each["current"] is current for each in models.values())
        assert models["stamps-dual_encoder/2"]["latest"] is current
        version = client.get_model_version("stamps-dual_encoder", "1")
        assert models["stamps-dual_encoder/1"]["run"] == version.run_id
    assert {alias for each in states.asked.models for alias in each["aliases"]} == {"best"}


def test_after_a_purge_nothing_is_left_and_the_models_that_saw_it_are_still_named(states: States) -> None:
    assert not states.purged.found and not states.purged.copies
    assert {each["model"]: each["saw"] for each in states.purged.models} == {
        "stamps-dual_encoder/1": "yes",
        "stamps-dual_encoder/2": "yes",
    }
    assert "Nothing was found" in states.purged.page()
    tagged = {each["model"]: each["saw"] for each in states.cloned.models}
    assert tagged == dict.fromkeys(("stamps-dual_encoder/1", "stamps-dual_encoder/2"), "maybe")


def test_what_is_in_use_and_saw_it_is_trained_and_built_again(states: States) -> None:
    again = ["dvc repro finetune_retrieval@stamps", "dvc repro build_search_index@stamps"]
    assert states.asked.again == states.listed.again == again
    assert states.dropped.again == states.purged.again == []


def test_the_date_is_the_one_given_or_the_entrys(states: States) -> None:
    assert states.asked.date == "2026-11-30" and not states.asked.listed
    assert states.listed.listed and len(states.listed.date) == 10 and states.other.date == ""
    with pytest.raises(HearsightError, match="is no day"):
        answer(states.root, "host", GONE, "today")


def test_an_address_that_nothing_came_from_gets_an_empty_answer_listed_or_not(states: States) -> None:
    for receipt in (states.other, states.added):
        assert not (receipt.found or receipt.copies or receipt.releases or receipt.models or receipt.again)
    assert states.added.listed


def test_the_page_says_what_the_json_says_and_names_nobody_else(states: States, tmp_path: Path) -> None:
    for receipt in (states.asked, states.listed, states.dropped, states.purged, states.other):
        for name in ("receipt.json", "receipt.html"):
            receipt.write(tmp_path / name)
        content, page = json.loads((tmp_path / "receipt.json").read_text()), (tmp_path / "receipt.html").read_text()
        assert content == receipt.plain() and set(content) == set(Answer.__dataclass_fields__)
        tree = LexborHTMLParser(page)
        rows = [[cell.text() for cell in line.css("th, td")] for line in tree.css("tbody tr")]
        told = [(row["what"], f"data set {row['dataset']}, step {row['stage']}", str(row["count"])) for row in content["found"]]
        told += [(row["what"], row["where"], str(row["count"])) for row in content["copies"]]
        assert [tuple(row[:3]) for row in rows[: len(told)]] == told
        assert [row[0] for row in rows[len(told) :]] == [row["model"] for row in content["models"]]
        items = [item.text() for item in tree.css("li")]
        assert items[: len(content["releases"])] == [
            f"{row['release']} (data set {row['dataset']}, version {row['version']})" for row in content["releases"]
        ]
        assert [code.text() for code in tree.css("code")] == content["again"]
        assert (content["date"] or "not stated") in page
        assert "stays.sample" not in page + json.dumps(content) and "caption 7" not in page and KEYS[0] not in page


def test_the_command_prints_and_writes_the_answer(states: States, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HEARSIGHT_ROOT", str(states.root))
    page, content = tmp_path / "receipt.html", tmp_path / "receipt.json"
    words = ["takedown", "answer", "--host", GONE, "--date", "2026-11-30", "-o", str(page), "-o", str(content)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.exception
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["model"] for line in lines if "model" in line] == [each["model"] for each in states.purged.models]
    assert lines[-1] == {
        "date": "2026-11-30",
        "listed": True,
        "nothing found": True,
        "not searched": NOT_SEARCHED,
        "removed before, not compared": 0,
    }
    printed = json.loads(CliRunner().invoke(app, [*words[:-4], "--json"]).stdout)
    assert printed == json.loads(content.read_text()) and printed["date"] in page.read_text()
    for wrong in (words[:2], [*words, "--url", PAGE]):
        assert "answers one request" in str(CliRunner().invoke(app, wrong).exception)


def test_values_are_escaped_on_the_page() -> None:
    page = Answer("url", "http://a.sample/<script>alert(1)</script>", "", False).page()
    assert "<script" not in page and LexborHTMLParser(page).css_first("script") is None


def test_the_page_says_of_releases_that_later_ones_left_it_out() -> None:
    line = {"release": "stamps-1", "dataset": "stamps", "version": "", "held": "yes"}
    told = [Answer("host", "a.sample", "", *each).page() for each in ((True, [], [], [line]), (False, [], [], [line]), (True,))]
    assert ["Those made after it was put on our list left it out." in page for page in told] == [True, False, False]


def test_an_item_to_rate_is_found_by_whose_it_is_and_not_by_equal_sound_or_pictures(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    copy_settings(tmp_path)
    keys, image, sound = ["a" * 16, "b" * 16], "1" * 64, "2" * 64
    pages = [row("crawl", key=key, page_url=f"http://{key[0]}.sample/", image_sha256=image) for key in keys]
    make_output(tmp_path, "crawl", [pages])
    spoken = [row("synthesize", key=f"{key}.0", record=key, audio_sha256=sound, image_sha256=image) for key in keys]
    make_output(tmp_path, "synthesize", [spoken])
    place = {"table": "dataset", "source": "english", "direction": "", "candidate": "", "rank": 0, "known": True}
    shown = {"audio_sha256": sound, "image_sha256": image}
    items = [
        row("build_rating_items", key=f"{n}" * 16, uses=[place | {"query": f"{key}.0"}], **shown) for n, key in enumerate(keys)
    ]
    make_output(tmp_path, "build_rating_items", [items])
    receipt = answer(tmp_path, "url", "http://a.sample/")
    assert {each["stage"]: each["keys"] for each in receipt.found} == {
        "crawl": keys[:1], "synthesize": [f"{keys[0]}.0"], "build_rating_items": [items[0]["key"]],
    }  # fmt: skip


def test_an_image_that_another_dataset_shows_too_counts_where_only_the_address_showed_it(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    copy_settings(tmp_path)
    alone, shared = "1" * 64, "2" * 64
    shown = {
        "stamps": [("a", "a.sample", alone), ("b", "a.sample", shared), ("c", "c.sample", shared)],
        "english": [("d", "d.sample", alone)],
    }
    for dataset, pages in shown.items():
        rows = [row("crawl", key=key * 16, page_url=f"http://{host}/", image_sha256=image) for key, host, image in pages]
        make_output(tmp_path, "crawl", [rows], dataset)
    # An index and its entries of images name no record.
    entries = [row("build_search_index", key=image, kind="image", image_sha256=image) for image in (alone, shared)]
    make_output(tmp_path, "build_search_index", [entries], "stamps")
    make_output(tmp_path, "build_rating_items", [[row("build_rating_items", key="e" * 16, image_sha256=alone)]], "english")
    for address, keys in (("http://a.sample/", [alone]), ("http://c.sample/", None), ("http://d.sample/", ["e" * 16])):
        found = [each["keys"] for each in answer(tmp_path, "url", address).found if each["stage"] != "crawl"]
        assert found == ([keys] if keys else []), address


def ask_about_other_places(root: Path, monkeypatch: Any, *requests: tuple[str, str]) -> list[Answer]:
    """The answers of a project in which ledgers, statements, logs, a run and a running rating name a.sample, and one record."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv(ADDRESS, raising=False)
    copy_settings(root)
    output = make_output(root, "crawl", [[row("crawl", key="a" * 16, page_url="http://a.sample/1")]])
    missing = dropped("http://a.sample/gone", "http_status", 404, 200, kind="page")
    shown = [
        kept(key, detail=f"http://{host}/i%20.png on http://{host}/1") for key, host in (("a" * 16, "a.sample"), ("b", "b.c"))
    ]
    (ledger,) = (output.path / "ledger").glob("*.parquet")
    pq.write_table(ledger_table([missing, *shown, kept("c" * 16, detail="like a.sample.org")]), ledger)
    snapshot = root / "data" / "store" / "fixture"
    (snapshot / CONSENT).mkdir(parents=True)
    (snapshot / "index.jsonl").touch()
    stated = {"address": ["http://a.sample/1", "http://b.c/"], "final": ["http://b.c/", "http://b.c/"]}
    pq.write_table(pa.table(stated), snapshot / CONSENT / "english.parquet")
    log = root / ".hearsight" / "logs" / "stages" / "english.crawl.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text('{"error": "http://a.sample/1: no image"}\n')
    client = connect(root)
    client.log_param(client.create_run(client.create_experiment("english")).info.run_id, "seeds", "['http://a.sample/']")
    with closing(RatingStore(database_url(root))) as store:
        store.open_campaign("english", "digest", {"a" * 16: 1, "b" * 16: 1})
    return [answer(root, *request) for request in requests]


def test_ledgers_statements_logs_runs_and_running_ratings_are_searched_too(tmp_path: Path, monkeypatch: Any) -> None:
    asked, other = ask_about_other_places(tmp_path, monkeypatch, ("host", "A.sample"), ("host", "d.sample"))
    assert [(each["where"], each["count"], each["removed"]) for each in asked.copies] == [
        ("data set english, step crawl", 2, "next run"),
        ("snapshot fixture", 1, "purge"),
        ("logs", 1, "purge"),
        ("records of training runs", 1, "purge"),
        ("the database of a running rating", 1, "purge"),
    ]
    assert not other.copies and not other.found


def test_an_empty_answer_says_where_it_did_not_look(tmp_path: Path, monkeypatch: Any) -> None:
    copy_settings(tmp_path)
    page = answer(tmp_path, "host", "d.sample").page()
    assert "Nothing was found" in page and NOT_SEARCHED in page
    assert "none of our data" not in page and "Nothing is left" not in page and "No registered model" not in page


def test_the_page_names_no_file_of_ratings_no_remote_and_no_bucket() -> None:
    places = [
        ("files of ratings", "ratings/english/zoe.csv"),
        ("data files", "DVC remote zoe-s-disk"),
        ("data files", "s3://zoe/x"),
    ]
    copies = [{"what": what, "where": where, "count": 1, "removed": "purge"} for what, where in places]
    receipt = Answer("host", "a.sample", "", False, copies=[*copies, {**copies[1], "where": "DVC's cache"}])
    page = receipt.page()
    cells = [[cell.text() for cell in line.css("th, td")][:2] for line in LexborHTMLParser(page).css("tbody tr")]
    remote = ["data files", "a remote store"]
    assert cells == [["files of ratings", "ratings"], remote, remote, ["data files", "DVC's cache"]] and "zoe" not in page
    assert all(where in json.dumps(receipt.plain()) for _, where in places)


def test_a_purged_entry_that_no_request_can_be_compared_with_is_said(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    copy_settings(tmp_path)
    page, host = (add(tmp_path, kind, value)[0] for kind, value in (("url", "http://a.sample/1"), ("host", "b.sample")))
    publish_json(tmp_path / REMOVED, {HOLDERS: {"older": [page.sha256], "newer": [page.sha256, host.sha256]}})
    counts = {"http://a.sample/1": 1, "http://a.sample/2": 2, "http://b.sample/1": 1}
    assert {url: answer(tmp_path, "url", url).not_compared for url in counts} == counts
    asked = answer(tmp_path, "host", "a.sample")
    assert asked.not_compared == 2 and "Of 2 earlier removals we keep no addresses" in asked.page()
    publish_json(tmp_path / REMOVED, {HOLDERS: {"older": [host.sha256]}})
    assert "earlier removals" not in answer(tmp_path, "host", "b.sample").page()


def test_a_database_of_ratings_that_cannot_be_opened_is_said_without_its_address(tmp_path: Path, monkeypatch: Any) -> None:
    (before,) = ask_about_other_places(tmp_path, monkeypatch, ("host", "a.sample"))
    monkeypatch.setenv(ADDRESS, "postgresql://user:secret@127.0.0.1:1/ratings")  # pragma: allowlist secret
    after = answer(tmp_path, "host", "a.sample")
    assert len(after.unreached) == len(before.unreached) + 1 and "127.0.0.1" not in after.page()


def test_a_model_that_only_read_one_which_saw_it_may_have_seen_it(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    client = connect(tmp_path)
    experiment = client.create_experiment("spoken")
    made = {  # output → its stage and the outputs that it reads
        "seen": ("split", []), "other": ("split", []), "pretrained": ("pretrain_retrieval", ["seen"]),
        "finetuned": ("finetune_retrieval", ["other", "pretrained"]),
    }  # fmt: skip
    for name, (stage, parents) in made.items():
        read = json.dumps([{"name": parent, "manifest_sha256": parent} for parent in parents])
        tags = {f"{TAG}stage": stage, f"{TAG}output_digest": name, f"{TAG}parents": read}
        run = client.create_run(experiment, tags=tags, run_name=name).info.run_id
        if stage != "split":
            client.create_registered_model(name)
            client.create_model_version(name, f"file:///{name}", run, tags={f"{TAG}output_digest": name})
    tracker = Tracker(tmp_path)
    versions = {version.name: version for version in tracker.list_versions()}
    grades = {name: tracker.grade(version, {"seen"}, ()) for name, version in versions.items()}
    assert grades == {"pretrained": YES, "finetuned": MAYBE}
    assert not any(tracker.grade(version, {"else"}, ()) for version in versions.values())
    copy_settings(tmp_path)
    entry, _ = add(tmp_path, "host", "a.sample")
    publish_json(tmp_path / REMOVED, {HOLDERS: {"seen": [entry.sha256]}})
    receipt = answer(tmp_path, "host", "a.sample")
    assert {each["model"].partition("/")[0]: each["saw"] for each in receipt.models} == grades
    rows = [[cell.text() for cell in line.css("th, td")] for line in LexborHTMLParser(receipt.page()).css("tbody tr")]
    assert {line[0]: line[2] for line in rows} == {"pretrained/1": YES, "finetuned/1": MAYBE}


def test_a_model_that_starts_from_one_that_saw_it_is_trained_again_too(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    copy_settings(tmp_path)
    made = make_output(tmp_path, "crawl", [[row("crawl", key="a" * 16, page_url=PAGE)]], "stamps").digest
    for name, parent in (("spoken/pretrain_retrieval", made), ("stamps/finetune_retrieval", "of spoken/pretrain_retrieval")):
        path = lineage_path(tmp_path / "data" / name)
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"manifest_sha256": f"of {name}", "parents": [{"manifest_sha256": parent}]}))
    again = ["dvc repro pretrain_retrieval@spoken", "dvc repro finetune_retrieval@stamps"]
    assert answer(tmp_path, "url", PAGE).again == again and not answer(tmp_path, "url", f"{PAGE}/other").again


def test_a_release_is_noted_once_and_found_by_the_images_of_its_records(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    root, out = project(tmp_path / "project"), tmp_path / "english-1"
    copy_settings(root)
    with (root / "params.yaml").open("a") as file:
        file.write('\nrelease: {english: {version: "1.2.0"}}\n')
    release(root, "english", out)
    address = f"{WEB}/0004.jpg"
    (given,) = answer(root, "url", address, folders=[out]).releases
    assert (given["release"], given["version"], given["held"]) == ("english-1", "1.2.0", "yes")
    note_release(root, out)
    note_release(root, out)
    assert len(list_releases(root)) == 1 and answer(root, "url", address, folders=[out]).releases == [given]
    assert answer(root, "url", f"{WEB}/0003.jpg").releases == []
    with pytest.raises(HearsightError, match="is no release"):
        answer(root, "url", address, folders=[tmp_path])
    for line in ("[]", "{}", "not json", '"text"'):
        (root / RELEASES).write_text(f"\n{line}\n")
        with pytest.raises(HearsightError, match="is no release"):
            list_releases(root)
