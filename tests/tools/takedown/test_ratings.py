"""People's ratings of removed records: found by key and digest in items, files and the database, and deleted from them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.ratings.items import RatingItems
from components.ratings.running import ADDRESS, FILE, database_url
from components.ratings.store import RatingStore
from components.tools.takedown import ratings
from components.tools.takedown.evidence import Content, collect_content, find_items
from components.tools.takedown.file_search import FileSearch, Matcher
from components.web.takedown_list import Takedown
from tests.support import make_output, row
from tests.support.ratings.audit import event_kinds
from tests.support.ratings.made_items import make_items
from tests.support.ratings.postgres import postgres

GONE, STAYS = "record-0", "record-1"


def search(*keys: str, digests: Iterable[str] = ()) -> FileSearch:
    return FileSearch(Matcher(Takedown([]), digests=digests), frozenset(keys))


def opened(path: Path) -> IO[bytes]:
    return path.open("rb")


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> RatingItems:
    return RatingItems.open(make_items(tmp_path_factory.mktemp("items")))


@pytest.fixture(scope="module")
def shards(items: RatingItems, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    made = make_items(tmp_path_factory.mktemp("shards"))
    return [partial(opened, shard.path) for shard in StageOutput(made).shards]


def test_items_are_removed_with_their_image_their_speech_and_their_query(items: RatingItems, shards: list[Any]) -> None:
    rows = [items.item(key) for key in items.keys]
    image = next(row["image_sha256"] for row in rows if any(use["query"] == GONE for use in row["uses"]))
    audio = next(row["audio_sha256"] for row in rows if row["audio_sha256"])
    rated: list[Any] = []
    collect_content(shards, Matcher(Takedown([])), Content(), rated)
    assert len(rated) == len(shards)
    assert find_items(rated, Content(images={image})) == {row["key"] for row in rows if row["image_sha256"] == image}
    assert find_items(rated, Content(audio={audio})) == {row["key"] for row in rows if row["audio_sha256"] == audio}
    asked = {row["key"] for row in rows if any(use["query"].partition(".")[0] == GONE for use in row["uses"])}
    assert find_items(rated, Content(keys={GONE})) == asked and asked
    assert find_items(rated, Content(keys={"another"})) == set()


def test_items_of_the_current_chain_are_not_removed() -> None:
    removed = Content(keys={GONE}, items={"a" * 16, "b" * 16})
    removed -= Content(keys={"a" * 16})
    assert removed.items == {"b" * 16} and removed.names == {GONE, "b" * 16}


def test_records_of_rated_things_are_found_by_their_keys(tmp_path: Path) -> None:
    place = {"table": "dataset", "source": "english", "direction": "", "candidate": "", "rank": 0, "known": True}
    for stage, values in (
        ("build_rating_items", {"key": "0" * 16, "uses": [place | {"query": f"{GONE}.0"}]}),
        ("build_rating_items", {"key": "0" * 16, "uses": [place | {"query": "x", "candidate": f"{GONE}.0"}]}),
        ("import_ratings", {"key": "a.r", "item": GONE}),
        ("import_ratings", {"key": f"{GONE}.r"}),
        ("evaluate_ratings", {"key": "0" * 16, "records": [STAYS, GONE]}),
    ):
        filled = {"verdict": "GOOD", "seconds": 1.0} if stage == "import_ratings" else {}
        output = make_output(tmp_path, stage, [[row(stage, **values, **filled)]])
        assert output.table().schema.equals(OUTPUT_SCHEMAS[stage][1])
        shard = output.path / "shards" / "00000.parquet"
        assert search(GONE).in_file(shard) and not search("record-9").in_file(shard), values


FORMS = {
    "hearsight.csv": "item,query,candidate,rank,rater,verdict\n{gone},q.0,,0,r1,GOOD\n{stays},record-1.0,,0,r1,BAD\n",
    "studio.json": json.dumps([{"id": 1, "data": {"item": "{gone}"}}, {"id": 2, "data": {"item": "{stays}"}}]),
    "argilla.json": json.dumps({"records": [{"metadata": {"q": "{gone}.0"}}, {"metadata": {"q": "{stays}.0"}}], "v": 2}),
    "argilla.jsonl": '{"item": "{gone}"}\n{"item": "{stays}"}\n',
}


@pytest.mark.parametrize("name", FORMS)
def test_ratings_of_removed_items_leave_a_file_and_the_others_stay(tmp_path: Path, name: str) -> None:
    path, gone, stays = tmp_path / "ratings" / "english" / name, "a" * 16, "b" * 16
    path.parent.mkdir(parents=True)
    path.write_text(FORMS[name].replace("{gone}", gone).replace("{stays}", stays))
    assert list(ratings.find_files(tmp_path, search("c" * 16))) == []
    assert list(ratings.find_files(tmp_path, search(gone))) == [path]
    ratings.clear_file(path, search(gone))
    text = path.read_text()
    assert gone not in text and stays in text and list(ratings.find_files(tmp_path, search(gone))) == []
    if name.endswith(".csv"):
        assert [line["item"] for line in csv.DictReader(io.StringIO(text))] == [stays]
    elif name.endswith(".json"):
        assert "1" not in text.split() and (name != "argilla.json" or json.loads(text)["v"] == 2)


def test_a_digest_is_removed_like_a_key_and_a_file_of_nothing_else_is_named(tmp_path: Path) -> None:
    digest = "d" * 64
    by_digest = search(digests=[digest])
    path = tmp_path / "ratings.csv"
    path.write_text(f"item,query\nx,{digest}.0\ny,z\n")
    ratings.clear_file(path, by_digest)
    assert path.read_text() == "item,query\ny,z\n"
    path.write_text(json.dumps({"about": digest}))
    with pytest.raises(HearsightError, match="names something removed outside of its rows"):
        ratings.clear_file(path, by_digest)


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), min_size=1, max_size=3), max_size=5))
def test_rows_with_any_text_stay_as_they_are(tmp_path_factory: pytest.TempPathFactory, cells: list[list[str]]) -> None:
    path, gone = tmp_path_factory.mktemp("any") / "x.csv", "a" * 16
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerows([["item", "note"], *([f"{gone}.1", *some] for some in cells)])
    kept = [["x-y", *some] for some in cells]
    csv.writer(target, lineterminator="\n").writerows(kept)
    path.write_text(target.getvalue(), encoding="utf-8", newline="")
    ratings.clear_file(path, search(gone))
    with path.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["item", "note"], *kept]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["file", "sqlite", "postgresql"])
def test_a_running_rating_loses_the_items_and_no_rating_leads_to_them(tmp_path: Path, monkeypatch: Any, kind: str) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    gone, stays = "a" * 16, "b" * 16
    assert ratings.find_running_items(tmp_path, search(gone)) == ([], "") and not (tmp_path / FILE).exists()
    with ExitStack() as stack:
        if kind != "file":
            elsewhere = f"sqlite:///{tmp_path / 'elsewhere.sqlite'}"
            monkeypatch.setenv(ADDRESS, elsewhere if kind == "sqlite" else stack.enter_context(postgres()))
        with closing(RatingStore(database_url(tmp_path))) as store:
            store.open_campaign("english", "digest", {gone: 1, stays: 1})
            (rater,) = store.invite("english")
            while (item := store.next_item(rater)) is not None:
                store.save(rater, item, "GOOD")
        assert ratings.find_running_items(tmp_path, search("c" * 16)) == ([], "")
        assert ratings.find_running_items(tmp_path, search(gone)) == ([gone], "")
        ratings.erase_running_items(tmp_path, [gone])
        assert ratings.find_running_items(tmp_path, search(gone)) == ([], "")
        with closing(RatingStore(database_url(tmp_path))) as store:
            assert [rating["item"] for rating in store.final_ratings("english")] == [stays]
            assert "erased" in event_kinds(store, "english")
    assert not [file for file in tmp_path.rglob("*.sqlite*") if gone.encode() in file.read_bytes()]


def test_ratings_of_a_removed_item_never_count_to_another_one(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    stays, new = "b" * 16, "c" * 16
    with closing(RatingStore(database_url(tmp_path))) as store:
        store.open_campaign("english", "digest-1", {stays: 1, "a" * 16: 1})
        (rater,) = store.invite("english")
        while key := store.next_item(rater):
            store.save(rater, key, "GOOD")
    for gone in ("a" * 16, stays):  # one of them is the last row, whose number SQLite would give again
        assert ratings.find_names(tmp_path / FILE, search(gone))
        ratings.erase_running_items(tmp_path, [gone])
        assert not ratings.find_names(tmp_path / FILE, search(gone))
        with closing(RatingStore(database_url(tmp_path))) as store:
            store.open_campaign("english", f"without {gone}", {new: 1} if gone == stays else {stays: 1, new: 1})
            assert new not in {rating["item"] for rating in store.final_ratings("english")}
            assert store.progress(rater).left == 1 and store.next_item(rater) == new


def test_a_database_that_cannot_be_reached_is_left_to_a_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS, "postgresql://user:secret@127.0.0.1:1/ratings")  # pragma: allowlist secret
    found, unreached = ratings.find_running_items(tmp_path, search("a"))
    assert not found and "not reached" in unreached and "secret" not in unreached
