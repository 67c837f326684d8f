"""What is drawn, merged and shown, the ledger, caches and refused settings."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import soundfile
from PIL import Image

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.ratings.items import RatingItems
from components.stages.check import check
from tests.stages.build_rating_items.world import World, key, noise
from tests.support import PROJECT, WORKERS


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def read(stage: Any) -> tuple[RatingItems, list[dict[str, Any]]]:
    items = RatingItems.open(stage.out)
    return items, [items.item(name) for name in items.keys]


def uses(items: list[dict[str, Any]], table: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(use, item) for item in items for use in item["uses"] if use["table"] == table]


@pytest.mark.long
def test_every_table_has_its_places_and_equal_pairs_are_one_item(tmp_path: Path, world: World) -> None:
    stage = world.stage(tmp_path)
    items, records = read(stage)
    shown = [(item["image_sha256"], item["crop"], item["caption"]) for item in records]
    assert len(set(shown)) == len(shown) == len(items)
    test = {key(number): number for number in world.test}

    dataset = uses(records, "dataset")
    assert {use["query"] for use, _ in dataset} == test.keys() and len(dataset) == len(test)
    for use, item in dataset:
        number = test[use["query"]]
        assert (item["image_sha256"], item["crop"], item["caption"]) == (world.sha[number], "whole", f"caption {number}")
        assert use["source"] == "english" and use["known"]

    # The first seed of each captioner, on this data set alone; two that write the same are one item.
    model = uses(records, "model")
    assert Counter(use["source"] for use, _ in model) == {"english-t2t8x8-1": len(test), "other-t2t8x8-1": len(test)}
    assert all(item["caption"] == f"a thing {test[use['query']]}" and len(item["uses"]) == 2 for use, item in model)
    assert {item["raters"] for _, item in model} == {3}

    truth = uses(records, "truth")
    assert {(use["query"], item["crop"]) for use, item in truth} == {
        (name, crop) for name in test for crop in ("whole", "centre")
    }
    assert {item["raters"] for _, item in truth} == {5}

    retrieval = uses(records, "retrieval")
    assert Counter(use["source"] for use, _ in retrieval) == {"mms-4-1": 2 * 5 * len(test), "none-100-1": 2 * 5 * len(test)}
    for use, item in retrieval:
        to_image = use["direction"] == "speech_to_image"
        spoken, image = (use["query"], use["candidate"]) if to_image else (use["candidate"], use["query"])
        assert spoken.endswith(".0") and item["caption"] == f"caption {test[spoken[:-2]]}"
        assert item["image_sha256"] == image and item["crop"] == "whole" and item["raters"] == 5
        assert use["known"] == (use["rank"] == 1) == (image == world.sha[test[spoken[:-2]]])
    # The known pair at rank 1 of both models and directions is the dataset's and the ground truth's.
    merged = [item for item in records if {use["table"] for use in item["uses"]} == {"dataset", "truth", "retrieval"}]
    assert len(merged) == len(test) and {len(item["uses"]) for item in merged} == {6}
    assert all(item["uses"][0]["table"] == "dataset" for item in merged)
    assert {name: value for name, value, _ in stage.metrics} == {
        "items": len(records), "ratings_wanted": sum(item["raters"] for item in records), "items.dataset": len(test),
        "items.model": len(test), "items.truth": 2 * len(test), "items.retrieval": len({i["key"] for _, i in retrieval}),
    }  # fmt: skip

    shutil.copytree(PROJECT / "expectations", tmp_path / "expectations")
    assert len(check(tmp_path, "english", "build_rating_items").passed) >= 15


@pytest.mark.long
def test_a_sample_is_kept_when_records_are_added(tmp_path: Path, world: World) -> None:
    chosen: dict[str, Any] = {"sample": 4, "queries": 3, "ranks": 2}
    records = read(world.stage(tmp_path / "few", **chosen))[1]
    drawn = {use["query"] for use, _ in uses(records, "dataset")}
    asked = Counter((use["direction"], use["query"]) for use, _ in uses(records, "retrieval"))
    assert len(drawn) == 4 and Counter(direction for direction, _ in asked) == {"speech_to_image": 3, "image_to_speech": 3}
    assert set(asked.values()) == {4} and {use["rank"] for use, _ in uses(records, "retrieval")} == {1, 2}
    assert {use["query"] for use, _ in uses(records, "model")} == drawn == {use["query"] for use, _ in uses(records, "truth")}

    larger = World(tmp_path / "larger", records=15)
    added = {use["query"] for use, _ in uses(read(larger.stage(tmp_path / "more", **chosen))[1], "dataset")}
    new = {key(number) for number in range(10, 15)}
    assert len(added) == 4 and len(drawn - added) == len(added & new)
    other = {use["query"] for use, _ in uses(read(world.stage(tmp_path / "seed", **chosen, seed=2))[1], "dataset")}
    assert other != drawn


def test_every_record_and_place_is_in_exactly_one_state(tmp_path: Path, world: World) -> None:
    ledger = StageOutput(world.stage(tmp_path, sample=4).out).ledger().to_pylist()
    assert len({(row["kind"], row["key"]) for row in ledger}) == len(ledger)
    states = Counter((row["kind"], row["rule"]) for row in ledger)
    items = states.pop(("image", ""))
    assert items == len(RatingItems.open(tmp_path / "data" / "english" / "build_rating_items"))
    assert states == {
        ("record", ""): 4, ("record", "not_drawn"): 4, ("record", "other_split"): 2, ("model", ""): 8,
        ("utterance", ""): 2 * 2 * 5 * 8,
    }  # fmt: skip


def test_broken_images_and_empty_captions_are_dropped_with_their_places(tmp_path: Path) -> None:
    broken = noise(1)[:200]
    world = World(tmp_path / "world", images={1: broken, 2: b"no image"}, outputs=["", "  ", "a thing"])
    stage = world.stage(tmp_path)
    records = read(stage)[1]
    assert not {item["image_sha256"] for item in records} & {world.sha[1], world.sha[2]}
    ledger = StageOutput(stage.out).ledger().to_pylist()
    rules = {row["key"]: row["rule"] for row in ledger if row["kind"] == "record"}
    assert rules[key(1)] == rules[key(2)] == "unreadable_image" and rules[key(3)] == ""
    models = {row["key"]: row["rule"] for row in ledger if row["kind"] == "model"}
    assert models[f"{key(3)}.english-t2t8x8-1"] == "no_caption" and models[f"{key(8)}.english-t2t8x8-1"] == ""
    images = Counter(row["rule"] for row in ledger if row["kind"] == "image")
    assert images[""] == len(records) and images["unreadable_image"] > 0
    assert not any("0x" in row["detail"] for row in ledger)


def test_voiced_items_have_the_speech_that_was_searched_with(tmp_path: Path, world: World) -> None:
    items, records = read(world.stage(tmp_path, voiced=True))
    heard = {row["key"]: row["audio_sha256"] for row in world.inputs["speech"].table().to_pylist()}
    for item in records:
        tables = {use["table"] for use in item["uses"]}
        audio = items.audio(item["key"])
        assert (audio is not None) == bool(item["audio_sha256"]) == (not tables & {"dataset", "model"})
        if audio is not None:
            assert soundfile.info(io.BytesIO(audio)).format == "FLAC"
            spoken = {use["query"] + ".0" for use in item["uses"] if use["table"] == "truth"}
            spoken |= {use["query"] for use in item["uses"] if use["direction"] == "speech_to_image"}
            spoken |= {use["candidate"] for use in item["uses"] if use["direction"] == "image_to_speech"}
            assert {heard[name] for name in spoken} == {item["audio_sha256"]}


@pytest.mark.long
def test_tables_without_their_input_are_left_out(tmp_path: Path, world: World) -> None:
    for number, (without, tables) in enumerate(
        (
            (("captioners", "retrieval", "speech"), {"dataset", "truth"}),
            (("captions", "captioners"), {"retrieval", "truth"}),
            (("captions", "retrieval"), {"model", "truth"}),
        )
    ):
        records = read(world.stage(tmp_path / str(number), without))[1]
        assert {use["table"] for item in records for use in item["uses"]} == tables
    records = read(world.stage(tmp_path / "chosen", tables=["model"], trained_on=["other"]))[1]
    assert {use["source"] for item in records for use in item["uses"]} == {"other-t2t8x8-1"}


@pytest.mark.long
def test_a_second_run_and_worker_processes_give_the_same_output(tmp_path: Path, world: World) -> None:
    first = world.stage(tmp_path)
    digest = StageOutput(first.out).digest
    again = world.stage(tmp_path, engine=WORKERS)
    done, total = again.cache_summary()["images"].split(" of ")
    assert done == total and StageOutput(again.out).digest == digest
    assert StageOutput(world.stage(tmp_path / "parallel", engine=WORKERS).out).digest == digest


@pytest.mark.long
def test_images_are_made_again_only_where_one_was_added(tmp_path: Path, world: World) -> None:
    world.stage(tmp_path)
    larger = World(tmp_path / "larger", records=12)
    done, total = map(int, larger.stage(tmp_path).cache_summary()["images"].split(" of "))
    assert total - done in (1, 2), "records 10 and 11 are added, of which 11 is of the test split"


def test_refused_settings_and_inputs_are_named_in_one_line(tmp_path: Path, world: World) -> None:
    for chosen, line in (
        ({"tables": []}, r"english\.build_rating_items\.tables: \[\] is empty"),
        ({"split": "validation"}, r"nothing to rate in the validation split"),
    ):
        with pytest.raises(HearsightError, match=line):
            world.stage(tmp_path, **chosen)
    for without, line in (
        (["media"], "needs images"),
        (["captions", "speech"], "captions or speech"),
        (["speech"], "needs speech"),
    ):
        with pytest.raises(HearsightError, match=line):
            world.stage(tmp_path, without)


def test_an_image_other_than_its_record_names_is_refused(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.sha[1] = "0" * 64
    world.inputs["captions"], world.inputs["media"] = world._captions(), world._media()
    with pytest.raises(HearsightError, match="is not the image of its record"):
        world.stage(tmp_path, without=["retrieval", "captioners", "speech"])


def test_images_are_small_upright_and_without_metadata(tmp_path: Path) -> None:
    turned = Image.Exif()
    turned[0x0112], turned[0x010E] = 6, "a description"
    world = World(tmp_path / "world", images={2: noise(2, "JPEG", exif=turned, comment=b"a comment", quality=95)})
    items, records = read(world.stage(tmp_path))
    sizes = {}
    for item in records:
        data = items.image(item["key"])
        with Image.open(io.BytesIO(data)) as image:
            assert image.format == "JPEG" and not image.getexif() and "comment" not in image.info
            sizes[item["image_sha256"], item["crop"]] = image.size
    assert sizes[world.sha[2], "whole"] == (384, 640) and sizes[world.sha[2], "centre"] == (480, 480)
    assert sizes[world.sha[6], "whole"] == (200, 300) and sizes[world.sha[6], "centre"] == (200, 200)
    assert sizes[world.sha[4], "whole"] == (640, 640) and sizes[world.sha[8], "centre"] == (64, 64)
