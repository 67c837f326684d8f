"""Indexed items, ledger and metrics, and the page of nearest neighbours."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.retrieval.pairs import read_pairs, sets_of
from components.search.queries import parse_query
from components.search.searcher import SEARCH, Searcher
from components.stages.build_search_index.building import choose_model
from components.stages.build_search_index.page import PAGE
from components.stages.check import check
from tests.support import PROJECT
from tests.support.html import Page
from tests.support.search_index.world import drawn_image, models, run, spoken_set


def test_every_image_is_indexed_once_and_every_utterance_with_its_captions_languages_and_splits(stage: Any) -> None:
    rows = StageOutput(stage.out).table().to_pylist()
    images = [row for row in rows if row["kind"] == "image"]
    assert len(images) == 6 and len(rows) == 6 + 12
    assert all(
        row["languages"] == ["es", "fr"] and len(row["captions"]) == 2 and row["caption"].startswith("<es>") for row in images
    )
    assert {tuple(row["splits"]) for row in rows} == {("train",), ("test",)}
    ledger = StageOutput(stage.out).ledger().to_pylist()
    assert (
        sorted((r["kind"], r["rule"]) for r in ledger)
        == [("image", "")] * 6 + [("utterance", "")] * 12 + [("utterance", "other_split")] * 4
    )
    assert all(StageOutput(stage.out).file(f"{SEARCH}/{row['thumbnail']}").read_bytes()[:2] == b"\xff\xd8" for row in rows)


@pytest.mark.long
def test_the_output_passes_its_check(stage: Any) -> None:
    (stage.project / "expectations").mkdir(exist_ok=True)
    shutil.copy(PROJECT / "expectations" / "build_search_index.json", stage.project / "expectations")
    assert check(stage.project, "stamps", "build_search_index").passed


def test_an_indexed_file_is_its_own_first_result(stage: Any) -> None:
    searcher = Searcher.open(stage.out / SEARCH)
    for split in ("train", "test"):
        pairs = read_pairs(sets_of(stage.inputs), split, ["image"])
        for place, (key, sha) in enumerate(zip(pairs.keys, pairs.utterances["image_sha256"].to_pylist(), strict=True)):
            files = {key: pairs.audio.read(place), sha: pairs.media.read(int(pairs.image[place]))}
            for wanted, data in files.items():
                query = parse_query(data, wanted)
                vector = searcher.encoder.embed(query)
                row = searcher.index.items["key"].to_pylist().index(wanted)
                np.testing.assert_allclose(vector, searcher.index.embeddings[row], rtol=1e-4, atol=1e-5)


def test_equal_input_gives_equal_bytes_and_computes_no_embedding(
    stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = stage.manifest.digest
    again = run(stage.project, stage.inputs)
    assert again.manifest.digest == first and again.cache_summary() == {"embed": "2 of 2"}


@pytest.mark.parametrize(("wanted", "expected"), [("best", "c-1"), ("a-0", "a-0")])
def test_the_best_model_is_that_of_the_highest_validation_and_the_lower_seed(wanted: str, expected: str) -> None:
    rows = [("a-0", 0, 0.1), ("b-2", 2, 0.4), ("c-1", 1, 0.4)]
    there = [{"key": key, "seed": seed, "validation": value, "kind": "dual_encoder"} for key, seed, value in rows]
    assert choose_model(there, wanted, "")["key"] == expected
    with pytest.raises(HearsightError, match=r"no model 'd'.*best, a-0, b-2, c-1"):
        choose_model(there, "d", "")
    with pytest.raises(HearsightError, match="train a dual encoder"):
        choose_model([], "best", "")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"splits": []}, "splits"),
        ({"splits": ["dev"]}, "splits"),
        ({"splits": ["test", "test"]}, "splits"),
        ({"splits": ["train"]}, "'test' is not indexed"),
    ],
)
def test_unusable_settings_are_named(stage: Any, tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(HearsightError, match=message):
        run(tmp_path, stage.inputs, **changed)


def test_the_page_shows_all_four_pairings_and_plays_its_recordings(stage: Any) -> None:
    text = StageOutput(stage.out).file(PAGE).read_text()
    page = Page(text)
    headings = re.findall(r"<h3>(Nearest [a-z ]+)</h3>", text)
    assert headings == ["Nearest images", "Nearest spoken captions"] * 4
    assert re.findall(r'<h2 id="query-\d">\d\. ([A-Za-z ]+)</h2>', text) == ["A spoken caption"] * 2 + ["An image"] * 2
    for element in page.of("audio"):
        sound = stage.out / str(element["src"])
        assert sound.read_bytes()[:4] == b"fLaC" and "controls" in element and "caption" in str(element["aria-label"])
    for element in page.of("img"):
        assert (stage.out / str(element["src"])).read_bytes()[:2] == b"\xff\xd8"
        assert "caption" in str(element["alt"]) and element["lang"] in ("es", "fr")
    assert page.of("audio") and page.of("img") and not page.of("script")
    # Nothing of the world outside, and what a caption holds is text.
    assert not re.search(r"https?://", text) and "<fr> & caption" in page.text
    identifiers = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(identifiers) == len(set(identifiers))
    assert {str(a["href"])[1:] for a in page.of("a")} <= set(identifiers)
    assert {attrs["lang"] for tag, attrs in page.tags if tag == "span" and "lang" in attrs} == {"es", "fr"}


def test_a_query_is_excluded_from_its_neighbours_and_its_duplicates_are_named(stage: Any) -> None:
    from components.search.items import Items, Split
    from components.stages.build_search_index.building import Built
    from components.stages.build_search_index.page import gather

    searcher = Searcher.open(stage.out / SEARCH)
    pairs = read_pairs(sets_of(stage.inputs), "test", ["image", "text", "group"])
    items = Items([Split("test", pairs, np.zeros((len(pairs), 8)), np.zeros((len(pairs.sha256), 8)))])
    # The index also holds the training split, whose rows come first among its images: here the test split alone is asked for.
    root = stage.project / "test-only"
    alone = run(root, stage.inputs, splits=["test"])
    searcher = Searcher.open(alone.out / SEARCH)
    actual = gather(Built(items, searcher, {}), "test", 1, 8, 12)
    assert len(actual) == 8 + 4
    for each in actual:
        near = [n.result.item["key"] for kind in each.near.values() for n in kind]
        assert each.query["key"] not in near and len(near) == 4 + 8 - 1
        results = {n.result.item["key"]: n.match for kind in each.near.values() for n in kind}
        key = each.query["key"]
        if key == "07fr.0":
            assert results["03fr.0"] == "the same recording" and results["07es.0"] == "of the same image"
            assert results["03es.0"] == "the same caption" or results["03es.0"] == "through other matches"
            assert results["01fr.0"] == "" and results[each.query["image_sha256"]] == "its own image"
        if key == "01es.0":
            assert {k for k, match in results.items() if match} == {"01fr.0", each.query["image_sha256"]}


def test_the_queries_are_drawn_by_their_keys(stage: Any) -> None:
    from components.stages.build_search_index.page import draw_queries

    records = StageOutput(stage.out).table().to_pylist()
    keys = [records[row]["key"] for row in draw_queries(records, "test", 1, 3)]
    turned = records[::-1]
    assert [turned[row]["key"] for row in draw_queries(turned, "test", 1, 3)] == keys
    assert len({tuple(records[row]["key"] for row in draw_queries(records, "test", seed, 3)) for seed in range(5)}) > 1
    assert all("test" in records[row]["splits"] for row in draw_queries(records, "test", 1, 99))
    assert len(draw_queries(records, "test", 1, 99)) == 8 + 4


def test_the_page_is_made_without_thumbnails_and_with_another_crop(tmp_path: Path) -> None:
    inputs = spoken_set(tmp_path, thumbnails=False) | {"input": models(tmp_path)}
    made = run(tmp_path, inputs, crop="whole", model="both-100-1")
    text = (made.out / PAGE).read_text()
    assert "no thumbnail is stored" in text and "both-100-1" in text and "whole, padded to a square" in text
    assert json.loads((made.out / SEARCH / "search.json").read_text())["crop"] == "whole"
    wide = parse_query(drawn_image(3), "")
    centre = run(
        tmp_path, inputs, crop="centre", model="both-100-1", page={"split": "test", "seed": 1, "queries": 0, "neighbours": 1}
    )
    assert not (centre.out / PAGE).exists()
    key = "index/embeddings.npy"
    assert (centre.out / SEARCH / key).stat().st_size and not np.allclose(
        Searcher.open(centre.out / SEARCH).encoder.embed(wide), _whole(made, wide)
    )


def _whole(made: Any, wide: Any) -> Any:
    from components.search.query_encoder import QueryEncoder

    return QueryEncoder(made.out / SEARCH / "model", "whole").embed(wide)


def test_a_split_without_utterances_is_refused_with_one_line(tmp_path: Path) -> None:
    inputs = spoken_set(tmp_path, images=2) | {"input": models(tmp_path)}
    page: dict[str, Any] = {"split": "validation", "seed": 1, "queries": 1, "neighbours": 1}
    with pytest.raises(HearsightError, match="nothing to index in validation"):
        run(tmp_path, inputs, splits=["validation"], page=page)
    # One side that is empty beside one that is not is no reason to stop.
    assert "The split has no queries." in (run(tmp_path, inputs, splits=["test", "validation"], page=page).out / PAGE).read_text()
