"""The hold-out of COCO: lists that `split` reads, drawn by names and seed alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from components.cli.main import app
from components.core.errors import HearsightError
from components.stages.split.published import Lists, read_lists
from components.tools.datasets.holdout import draw_holdout

NAMES = st.sets(st.integers(0, 10**6).map(lambda number: f"COCO_val2014_{number:012d}.jpg"), min_size=2, max_size=60)


def annotations(split: str, ids: range) -> str:
    """COCO's captions of some images, two an image; the last image has none."""
    images = [{"id": number, "file_name": f"COCO_{split}_{number:012d}.jpg"} for number in (*ids, ids.stop)]
    notes = [{"id": 0, "image_id": number, "caption": text} for number in reversed(ids) for text in ("a dog", "a cat")]
    return json.dumps({"info": {}, "images": images, "annotations": notes})


def draw(folder: Path, *words: str) -> str:
    for split, ids in (("train2014", range(100, 130)), ("val2014", range(200, 220))):
        path = folder / f"captions_{split}.json"
        if not path.exists():
            path.write_text(annotations(split, ids))
    files = {"--train": "captions_train2014.json", "--val": "captions_val2014.json", "--out": "lists"}
    options = {option: str(folder / name) for option, name in files.items()} | dict(zip(words[::2], words[1::2], strict=True))
    done = CliRunner().invoke(app, ["dataset", "holdout", *(word for pair in options.items() for word in pair)])
    if isinstance(done.exception, HearsightError):
        return str(done.exception)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_split_reads_the_lists_and_every_captioned_image_is_in_one(tmp_path: Path) -> None:
    printed = json.loads(draw(tmp_path, "--size", "7"))
    assert printed["seed"] == 1 and sorted(each["images"] for each in printed["lists"].values()) == [7, 43]
    splits = read_lists(Lists(train="lists/train.txt", validation="lists/validation.txt"), tmp_path)
    train = {f"COCO_train2014_{number:012d}.jpg" for number in range(100, 130)}
    val = {f"COCO_val2014_{number:012d}.jpg" for number in range(200, 220)}
    assert set(splits) == train | val
    held = {name for name, split in splits.items() if split == "validation"}
    assert len(held) == 7 and held < val
    before = (tmp_path / "lists" / "validation.txt").read_bytes()
    draw(tmp_path, "--size", "7")
    assert (tmp_path / "lists" / "validation.txt").read_bytes() == before
    draw(tmp_path, "--size", "7", "--seed", "2", "--out", str(tmp_path / "other"))
    assert (tmp_path / "other" / "validation.txt").read_bytes() != before


@given(NAMES, st.data(), st.integers(0, 10))
def test_a_draw_is_disjoint_complete_of_exact_size_and_depends_on_names_and_seed_alone(val, data, seed) -> None:
    train = {name.replace("val", "train") for name in val}
    size = data.draw(st.integers(1, len(val) - 1))
    lists = draw_holdout(train, val, size, seed)
    held, rest = set(lists["validation"]), set(lists["train"])
    assert len(lists["validation"]) == len(held) == size and held < val
    assert not held & rest and held | rest == train | val and len(lists["train"]) == len(rest)
    assert draw_holdout(set(sorted(train)[1:]), set(val), size, seed)["validation"] == lists["validation"]
    # Without one image that was not drawn, the others are drawn as before.
    left = sorted(val - held)[0]
    if size < len(val) - 1:
        assert draw_holdout(train, val - {left}, size, seed)["validation"] == lists["validation"]


@pytest.mark.parametrize(
    ("name", "content", "words", "message"),
    [
        ("", "", ("--size", "20"), "captions_val2014.json: has 20 images, so 20 cannot be held out"),
        ("", "", ("--size", "0"), "so 0 cannot be held out"),
        ("captions_val2014.json", annotations("train2014", range(129, 140)), ("--size", "2"), "names 1 images of"),
        ("captions_val2014.json", "{", (), "captions_val2014.json: line 1: is not JSON"),
        ("captions_val2014.json", '{"images": []}', (), "is not of the layout 'coco': it has no list 'annotations'"),
        ("captions_val2014.json", '{"images": [], "annotations": []}', (), "captions_val2014.json: has no captions"),
        (
            "captions_train2014.json",
            json.dumps(
                {"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": [{"image_id": n, "caption": "a"} for n in (1, 2)]}
            ),
            (),
            "annotation 2 has no image of a known name (unknown_image image_id 2)",
        ),
        ("", "", ("--train", "nowhere.json"), "nowhere.json: cannot be read"),
        ("lists/train.txt", "COCO_val2014_000000000001.jpg\n", ("--size", "3"), "lists/train.txt: is another list"),
    ],
)
def test_a_wrong_file_or_size_gives_one_line_and_writes_nothing(tmp_path, name, content, words, message) -> None:
    if name:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    printed = draw(tmp_path, *words)
    assert message in printed and "\n" not in printed
    assert not (tmp_path / "lists" / "validation.txt").exists()
