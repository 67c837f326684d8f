"""Training data of a captioner: encoding, draws by record and epoch, and damaged shards."""

from __future__ import annotations

import pickle
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.models.captioners import NETWORKS, build
from components.models.captioners.interface import CaptionerConfig
from components.models.vocabulary import END, PAD, SPECIAL, START, UNKNOWN
from components.stages.train_captioner.data import (
    build_vocabulary,
    encode_captions,
    encode_known_captions,
    group_captions,
    read_split,
)
from components.stages.train_captioner.items import FeatureItems, ImageItems
from components.training.members import Members
from components.vision.training_images import open_image, random_crop, random_view
from tests.support import make_output, row
from tests.support.train_captioner.project import features_of, image_of, npy, prepared

WORDS = st.lists(st.lists(st.text(min_size=1, max_size=4) | st.sampled_from(["a", "dog", *SPECIAL]), max_size=8), max_size=8)


@given(WORDS, st.integers(1, 3), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_encoded_captions_are_those_of_the_plain_definition(captions: list[list[str]], min_count: int, longest: int) -> None:
    column = pa.array(captions, pa.list_(pa.string()))
    vocabulary = build_vocabulary(column, min_count)
    flat = [word for caption in captions for word in caption if word not in SPECIAL]
    common = {word for word in flat if flat.count(word) >= min_count}
    assert vocabulary == [*SPECIAL, *sorted(common, key=lambda word: (-flat.count(word), word))]
    result = encode_captions(column, vocabulary, longest)
    assert result.shape == (len(captions), longest + 2)
    for caption, encoded in zip(captions, result.tolist(), strict=True):
        numbers = [vocabulary.index(word) if word in common else UNKNOWN for word in caption[:longest]]
        assert encoded == [START, *numbers, END] + [PAD] * (longest - len(numbers))


def test_a_sliced_column_is_encoded_like_a_whole_one() -> None:
    column = pa.array([["x"], ["a", "b"], [], ["b"]], pa.list_(pa.string())).slice(1)
    assert build_vocabulary(column, 1)[4:] == ["b", "a"]
    assert encode_captions(column, build_vocabulary(column, 1), 2).tolist() == [[1, 5, 4, 2], [1, 2, 0, 0], [1, 4, 2, 0]]


def items_of(root: Path, **chosen: Any) -> FeatureItems:
    split = read_split(prepared(root), "train")
    split, words, _ = encode_known_captions(split, build_vocabulary(split.words, 1), 5, "x")
    return FeatureItems(split.members, split.image, words, split.table["key"], 7, grid=True, **chosen)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_grouped_captions_are_each_images_captions_in_parts(images: list[int], most: int) -> None:
    words = np.array([[START, 4 + number, END] for number in range(len(images))], np.int32)
    first, grouped = group_captions(np.array(images), words, most)
    assert grouped.shape[1:] == (most, 3) and first.tolist() == sorted(first.tolist())
    filled = [[row for row in group.tolist() if row != [START, PAD, PAD]] for group in grouped]
    assert sorted(row for rows in filled for row in rows) == words.tolist()
    for number, rows in zip(first.tolist(), filled, strict=True):
        assert rows[0] == words[number].tolist() and {images[row[1] - 4] for row in rows} == {images[number]}
    for image in set(images):
        sizes = [len(rows) for number, rows in zip(first.tolist(), filled, strict=True) if images[number] == image]
        assert sizes == [most] * (len(sizes) - 1) + [sizes[-1]]


@pytest.mark.parametrize("network", NETWORKS)
def test_captions_read_together_have_the_loss_of_captions_read_alone(network: str) -> None:
    torch.manual_seed(0)
    config = CaptionerConfig(network, 12, image_features=6, width=8, heads=2, layers=1, feedforward=16, dropout=0.0, longest=4)
    captioner = build(config)
    images = np.array([0, 1, 0, 0, 1])
    words = np.array([[1, 5, 6, 2, 0], [1, 7, 2, 0, 0], [1, 8, 9, 10, 2], [1, 5, 2, 0, 0], [1, 11, 4, 2, 0]], np.int32)
    features = torch.rand(2, 4 if config.grid else 1, 6)
    alone = captioner.loss(features[images], torch.from_numpy(words).long(), 0.1)
    first, grouped = group_captions(images, words, 3)
    together = captioner.loss(features[images[first]], torch.from_numpy(grouped).flatten(0, 1).long(), 0.1)
    assert torch.allclose(alone, together, atol=1e-5)


def test_views_are_drawn_by_record_and_epoch_and_each_is_used(tmp_path: Path) -> None:
    items = items_of(tmp_path)
    epochs = [items.__getitems__([(epoch, item) for item in range(len(items))]).features for epoch in range(30)]
    wanted = {item: np.round(features_of(item % 4, item)[:, 1:].astype(float), 2) for item in range(len(items))}
    met: dict[int, set[int]] = {}
    for features in epochs:
        for item, result in enumerate(features.float().numpy()):
            same = [view for view, array in enumerate(wanted[item]) if np.allclose(array, result, atol=0.02)]
            assert len(same) == 1
            met.setdefault(item, set()).add(same[0])
    assert all(views == {0, 1, 2} for views in met.values())
    # Neither the batch nor its order matters, only the epoch.
    alone = items.__getitems__([(3, 5)])
    assert (alone.features[0] == epochs[3][5]).all() and alone.words.shape == (1, 5)
    held_out = items_of(tmp_path / "other", training=False).__getitems__([(9, 2)]).features[0].numpy()
    assert (held_out == features_of(2, 2)[0, 1:]).all()


def test_the_split_does_not_depend_on_the_shards(tmp_path: Path) -> None:
    def shape(output: Any) -> tuple[Any, ...]:
        split = read_split(output, "train")
        return split.table["key"].to_pylist(), split.image.tolist(), split.sha256, split.group

    source = prepared(tmp_path)
    rows = source.table().to_pylist()
    media: list[dict[str, bytes]] = [{}, {}]
    for one in rows:
        shard, _, member = one["media"].partition("/")
        media[int(shard)][member] = source.read_media(one["media"])
    merged = make_output(tmp_path / "one", "extract_features", [rows[::-1], []], media=media)
    keys = [one["key"] for one in rows if one["split"] == "train"]
    assert shape(merged) == shape(source) and shape(source)[0] == sorted(keys)


def test_arrays_are_views_of_the_file_and_broken_ones_are_named(tmp_path: Path) -> None:
    whole = np.arange(24, dtype=np.float16).reshape(2, 3, 4)
    broken = {"cut.npy": npy(whole)[:-2], "none.npy": b"", "text.npy": b"no array at all", "f.npy": npy(np.asfortranarray(whole))}
    source = make_output(
        tmp_path, "extract_features", [[row("extract_features", key="a")]], media=[{"good.npy": npy(whole), **broken}]
    )
    members = Members(source, ["00000/good.npy", *(f"00000/{name}" for name in broken)])
    result = members.array(0)
    assert (result == whole).all() and not result.flags.owndata and not result.flags.writeable
    for number in range(1, 5):
        with pytest.raises(HearsightError, match=r"00000\.tar: has a member \d that is not a complete array"):
            members.array(number)
    with pytest.raises(HearsightError, match=r"has no member 'other\.npy'"):
        Members(source, ["00000/other.npy"])
    tar = source.path / "media" / "00000.tar"
    tar.write_bytes(tar.read_bytes()[:600])
    with pytest.raises(HearsightError, match=r"00000\.tar: ends inside a member"):
        pickle.loads(pickle.dumps(members)).array(0)


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_a_crop_lies_inside_and_covers_half_to_all(width: int, height: int, seed: int) -> None:
    left, top, right, bottom = random_crop(width, height, Random(seed))
    assert 0 <= left < right <= width + 1e-6 and 0 <= top < bottom <= height + 1e-6
    assert 0.5 - 1e-9 <= (right - left) * (bottom - top) / (width * height) <= 1 + 1e-9


def test_images_are_cropped_anew_each_epoch_and_validated_uncropped(tmp_path: Path) -> None:
    split = read_split(prepared(tmp_path, images=True), "train")
    given = (split.members, split.image, None, split.table["key"], 7)
    training, judging = ImageItems(*given, side=32), ImageItems(*given, side=32, training=False)
    first, again, later = (training.__getitems__([(epoch, 1), (epoch, 4)]) for epoch in (0, 0, 1))
    assert first.features.shape == (2, 3, 32, 32) and first.words.shape == (2, 0)
    assert (first.features == again.features).all() and not (first.features == later.features).all()
    seen = [judging.__getitems__([(epoch, 1)]).features for epoch in (0, 1)]
    assert (seen[0] == seen[1]).all()


@given(st.binary(max_size=60), st.integers(0, 400))
@settings(max_examples=60, deadline=None)
def test_bytes_that_are_not_an_image_are_refused_with_one_line(noise: bytes, cut: int) -> None:
    for data in (noise, image_of(1, 1)[: min(cut, 60)]):
        with pytest.raises(HearsightError, match="cannot be decoded as an image"):
            random_view(open_image(data, 32, "k1"), 32, Random(0))
