"""Splits by published lists: an image is in the split of its list; misfits are ledger rows, and no image is in two splits."""

from __future__ import annotations

import json

import pytest

from components.core.errors import HearsightError
from components.core.params import parse_settings
from components.core.stage_output import StageOutput
from components.stages.split import Params, Published
from components.stages.split.published import Lists
from components.stages.split.run import run
from tests.support import make_output, make_stage, row

LISTS = Lists(train="train.txt", validation="dev.txt", test="test.txt")
SETTINGS = Published(lists=LISTS)


@pytest.fixture
def split(tmp_path):
    """Splits images, given as (name, sha256), by lists given as text."""

    def go(images, train="a.jpg\n", dev="b.jpg\n", test="c.jpg\n", params=SETTINGS, output="crawl"):
        for name, text in (("train", train), ("dev", dev), ("test", test)):
            if text is not None:
                (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        rows = [
            row(
                output,
                key=f"{n:04d}",
                image_url=f"file:some/{name}",
                image_sha256=sha,
                alt="x",
                **({"group": sha} if output == "dedup" else {}),
            )
            for n, (name, sha) in enumerate(images)
        ]
        source = make_output(tmp_path, output, [rows[:2], rows[2:]])
        stage = make_stage(tmp_path, "split", params=params, inputs={"input": source})
        run(stage)
        stage.finish()
        return StageOutput(stage.out)

    return go


def splits_of(output):
    return {r["key"]: r["split"] for r in output.table().to_pylist()}


def rules(output):
    return {r["key"]: (r["kind"], r["rule"]) for r in output.ledger().to_pylist() if r["rule"]}


def test_names_decide_the_split_and_unlisted_or_missing_images_are_ledger_rows(split):
    images = [("a.jpg", "1"), ("b.jpg", "2"), ("c.jpg", "3"), ("c.jpg", "3"), ("d.jpg", "4")]
    output = split(images, test="\ufeffc.jpg\r\n\r\nlost.jpg\r\nc.jpg\r\n")
    assert splits_of(output) == {"0000": "train", "0001": "validation", "0002": "test", "0003": "test"}
    assert rules(output) == {"0004": ("record", "unlisted"), "lost.jpg": ("image", "no_record")}


def test_names_match_without_escapes_and_folders(split):
    assert splits_of(split([("a%20b.jpg", "1")], train="images/a b.jpg\n")) == {"0000": "train"}


@pytest.mark.parametrize("output", ["crawl", "dedup"])
def test_an_image_with_two_names_is_kept_in_test(split, output):
    written = split([("a.jpg", "same"), ("b.jpg", "same"), ("c.jpg", "same"), ("a.jpg", "other")], output=output)
    assert splits_of(written) == {"0002": "test", "0003": "train"}
    assert set(rules(written).values()) == {("record", "duplicate_across_sides")}


def test_an_image_in_two_lists_gives_a_one_line_error(split):
    with pytest.raises(HearsightError, match=r"dev\.txt: name 2: contains c\.jpg, which is also in the list of test"):
        split([("a.jpg", "1")], dev="b.jpg\nc.jpg\n")


def test_a_test_only_set_needs_no_other_lists(split):
    images = [("a.jpg", "1"), ("b.jpg", "2"), ("c.jpg", "3")]
    alone = SETTINGS.model_copy(update={"lists": Lists(train="", validation="", test="test.txt")})
    written = split(images, params=alone)
    assert splits_of(written) == {"0002": "test"} and rules(written) == dict.fromkeys(("0000", "0001"), ("record", "unlisted"))
    every = SETTINGS.model_copy(update={"lists": Lists(train="", validation="dev.txt", test="*")})
    assert splits_of(split(images, params=every)) == {"0000": "test", "0001": "validation", "0002": "test"}


@pytest.mark.parametrize("train, test, message", [("", "", "are all empty"), ("*", "*", "is set for two splits")])
def test_empty_lists_and_two_full_lists_give_a_one_line_error(split, train, test, message):
    with pytest.raises(HearsightError, match=message):
        split([("a.jpg", "1")], params=SETTINGS.model_copy(update={"lists": Lists(train=train, validation="", test=test)}))


def test_a_karpathy_file_is_a_list_for_each_split(split, tmp_path):
    images_by_split = (("train", "a.jpg"), ("restval", "b.jpg"), ("val", "c.jpg"), ("test", "d.jpg"))
    images = [{"filename": name, "filepath": "val2014", "split": part, "sentences": []} for part, name in images_by_split]
    (tmp_path / "dataset_coco.json").write_text(json.dumps({"images": images}))
    lists = Lists(train="dataset_coco.json", validation="dataset_coco.json", test="dataset_coco.json")
    params = SETTINGS.model_copy(update={"lists": lists})
    written = split([(name, name) for _, name in images_by_split], params=params)
    assert splits_of(written) == {"0000": "train", "0001": "train", "0002": "validation", "0003": "test"}


def test_a_subset_of_pracegover_is_a_list_for_each_split(split, tmp_path):
    content = {part: [{"filename": f"{part}.jpg", "caption": "uma foto"}] for part in ("train", "validation", "test")}
    (tmp_path / "pracegover_63k.json").write_text(json.dumps(content))
    lists = Lists(train="pracegover_63k.json", validation="pracegover_63k.json", test="pracegover_63k.json")
    written = split([(f"{part}.jpg", part) for part in content], params=SETTINGS.model_copy(update={"lists": lists}))
    assert splits_of(written) == {"0000": "train", "0001": "validation", "0002": "test"}


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"train": 3}', '{"test": []}', '{"images": [{"filename": "a.jpg"}]}', '{"images": 3}']
)
def test_a_json_file_that_is_not_a_list_gives_a_one_line_error(split, tmp_path, text):
    (tmp_path / "names.json").write_text(text)
    params = SETTINGS.model_copy(update={"lists": Lists(train="names.json", validation="", test="")})
    with pytest.raises(HearsightError, match=r"names\.json: is not a Karpathy split file"):
        split([("a.jpg", "1")], params=params)


@pytest.mark.parametrize("text, message", [("\n \n", r"contains no image name"), (None, r"test\.txt: cannot be read")])
def test_a_missing_or_empty_list_gives_a_one_line_error(split, text, message):
    with pytest.raises(HearsightError, match=message):
        split([("a.jpg", "1")], test=text)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"lists": {}}, r"split\.lists: are all empty"),
        ({"by": "text"}, "split.lists: is not a setting of by: text — remove it; it belongs to by: published"),
        ({"test": 0.2}, "split.test: is not a setting of by: published — remove it; it belongs to by: group"),
    ],
)
def test_settings_without_effect_are_refused(split, changes, message):
    with pytest.raises(HearsightError, match=message):
        split([("a.jpg", "1")], params=parse_settings(Params, SETTINGS.plain() | changes, "params.yaml: english.split"))
