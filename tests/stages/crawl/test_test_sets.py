"""Published test sets are imported completely: Karpathy's split, COCO's 40 references, Flickr 1K, the CC validation set."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from components.core.stage_output import StageOutput
from components.stages import split
from components.stages.split.published import Lists
from components.stages.split.run import run as run_split
from tests.support import make_stage
from tests.support.crawl import sets


def split_by(root: Path, source: StageOutput, **lists: str) -> dict[str, Counter[str]]:
    """Split by the published lists and return split → group → number of captions."""
    files = Lists(**lists)
    params = split.Published(lists=files)
    stage = make_stage(root, "split", params=params, inputs={"input": source})
    run_split(stage)
    stage.finish()
    result: dict[str, Counter[str]] = {}
    for row in StageOutput(stage.out).table(["split", "group", "caption"]).to_pylist():
        assert row["caption"]
        result.setdefault(row["split"], Counter())[row["group"]] += 1
    return result


def test_karpathys_split_is_read_from_the_published_file(table, tmp_path):
    sets.images(tmp_path / "images")
    sets.karpathy(tmp_path / "dataset_coco.json")
    source = table("karpathy", "dataset_coco.json", image_folder="images")
    result = split_by(tmp_path, source, train="dataset_coco.json", test="dataset_coco.json")
    assert {side: sorted(groups.values()) for side, groups in result.items()} == {"train": [2], "test": [1]}


def test_forty_references_of_an_image_are_one_group(table, tmp_path):
    name = "COCO_val2014_000000000042.jpg"
    sets.images(tmp_path / "val2014", (name,))
    captions = [{"id": n, "image_id": 42, "caption": f"A red kite on the sea, number {n}."} for n in range(40)]
    (tmp_path / "captions_c40.json").write_text(json.dumps({"images": [{"id": 42, "file_name": name}], "annotations": captions}))
    source = table("coco", "captions_c40.json", image_folder="val2014")
    assert [sorted(groups.values()) for groups in split_by(tmp_path, source, test="*").values()] == [[40]]


def test_flickr_1k_is_exactly_the_test_list(table, tmp_path):
    sets.images(tmp_path / "images")
    rows = [f"{name}#{n}\tA image, told the {n}th time ." for name in sets.NAMES for n in range(5)]
    (tmp_path / "results_20130124.token").write_text("\n".join(rows) + "\n")
    (tmp_path / "flickr30k_test.txt").write_text(f"{sets.NAMES[1]}\n{sets.NAMES[3]}\n")
    source = table("flickr30k", "results_20130124.token", image_folder="images")
    result = split_by(tmp_path, source, test="flickr30k_test.txt")
    assert {side: sorted(groups.values()) for side, groups in result.items()} == {"test": [5, 5]}


def test_the_conceptual_captions_validation_file_is_a_complete_test_split(table, tmp_path):
    sets.cc3m(tmp_path / "Validation_GCC-1.1.0-Validation.tsv")
    source = table("cc3m", "Validation_GCC-1.1.0-Validation.tsv")
    result = split_by(tmp_path, source, test="*")
    assert {side: sorted(groups.values()) for side, groups in result.items()} == {"test": [1, 1]}
