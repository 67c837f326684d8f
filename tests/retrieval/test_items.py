"""What a step is given is a function of the seed, the epoch and the record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.models.mfcc import excerpt, mfcc
from components.retrieval.inputs import Coefficients
from components.retrieval.items import Batch, PairItems
from components.retrieval.pairs import SpokenSet, read_pairs
from components.speech.audio.files import from_flac
from components.training.batches import EpochBatches, loader
from components.training.settings import REFERENCE
from tests.support.retrieval.world import FEATURES, output, spoken_set


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> SpokenSet:
    """Eight training images, of one voice and with frozen features."""
    return spoken_set(tmp_path_factory.mktemp("spoken"))


def items_of(one: SpokenSet, split: str = "train", **settings: Any) -> PairItems:
    pairs = read_pairs([one], split, ["image"])
    chosen: dict[str, Any] = {"seed": 1, "frames": 12, "side": 0, "training": split == "train"} | settings
    return PairItems(pairs, Coefficients(pairs, 100), np.arange(len(pairs)), **chosen)


def same(one: Batch, other: Batch) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_batch_depends_on_its_epoch_and_items_only(one: SpokenSet) -> None:
    items, again = items_of(one), items_of(one)
    again.__getitems__([(0, 5), (3, 1)])
    batch = items.__getitems__([(2, item) for item in range(8)])
    assert same(batch, again.__getitems__([(2, item) for item in range(8)]))
    other = items.__getitems__([(3, item) for item in range(8)])
    assert not torch.equal(batch.speech, other.speech) and not torch.equal(batch.images, other.images)


def test_worker_processes_change_no_batch(one: SpokenSet) -> None:
    items = items_of(one)

    def batches(workers: int) -> list[Batch]:
        order = EpochBatches(len(items), 3, 0, by_epoch=True)
        return list(loader(items, order, REFERENCE.model_copy(update={"workers": workers})))

    assert all(same(a, b) for a, b in zip(batches(0), batches(2), strict=True))


def test_evaluation_crops_start_at_frame_zero_without_padding(one: SpokenSet) -> None:
    items = items_of(one, "validation", frames=500)
    batch = items.__getitems__([(0, 0), (9, 1)])
    for row, (clip, length) in enumerate(zip(batch.speech, batch.lengths, strict=True)):
        assert torch.equal(clip[:, :length], items.speech_input[row].float()) and not clip[:, length:].any()
    assert batch.speech.shape[2] == int(batch.lengths.max()) < 500
    cropped = items_of(one, "validation", frames=5, fixed=True).__getitems__([(0, 0), (0, 1)])
    assert cropped.speech.shape[2] == 5 and torch.equal(cropped.speech, batch.speech[:, :, :5])
    assert items_of(one, "validation", frames=90, fixed=True).__getitems__([(0, 0)]).speech.shape[2] == 90


def test_a_training_crop_is_a_part_of_the_clip_with_varying_offsets(one: SpokenSet) -> None:
    items = items_of(one)
    whole = items.speech_input[5].float()
    starts = set()
    for epoch in range(200):
        clip = items.__getitems__([(epoch, 5)]).speech[0]
        places = [s for s in range(whole.shape[1] - 11) if torch.equal(whole[:, s : s + 12], clip)]
        assert places
        starts.update(places)
    assert len(starts) == whole.shape[1] - 11


def test_training_uses_every_view_and_evaluation_the_centre_or_the_whole(one: SpokenSet) -> None:
    items = items_of(one)
    views = items.pairs.media.array(0)[:, 0]
    seen = {items.__getitems__([(epoch, 0)]).images[0].numpy().tobytes() for epoch in range(40)}
    assert seen == {view.tobytes() for view in views}
    centre, whole = (items_of(one, "test", crop=crop).__getitems__([(0, 0)]).images[0].numpy() for crop in ("centre", "whole"))
    judged = items_of(one, "test").pairs
    assert judged.centre is not None
    assert np.array_equal(centre, judged.centre.array(0)[0, 0]) and np.array_equal(whole, judged.media.array(0)[0, 0])
    assert centre.shape == (FEATURES,)


def test_images_are_read_as_pixels_for_towers_that_are_trained(tmp_path: Path) -> None:
    one = spoken_set(tmp_path, frozen=False)
    items = items_of(one, side=32)
    batch = items.__getitems__([(0, 0), (0, 1)])
    assert batch.images.shape == (2, 3, 32, 32) and batch.images.dtype == torch.uint8
    assert not torch.equal(batch.images, items.__getitems__([(1, 0), (1, 1)]).images)
    centre, whole = (items_of(one, "test", side=32, crop=crop).__getitems__([(0, 0)]).images for crop in ("centre", "whole"))
    # An image of 60 x 40 px is padded above and below when all of it is seen.
    assert (whole[0, :, 0] == 255).all() and not (centre[0, :, 0] == 255).all()


def test_a_set_without_centre_crops_is_refused_where_they_are_asked_for(one: SpokenSet) -> None:
    items = items_of(one, "test")
    object.__setattr__(items.pairs, "centre", None)
    with pytest.raises(HearsightError, match="centre"):
        items.__getitems__([(0, 0)])


def test_coefficients_do_not_depend_on_the_batch_and_are_cached_within_the_limit(one: SpokenSet) -> None:
    pairs = read_pairs([one], "train", ["image"])
    rows = {row["key"]: row for row in one.speech.table().to_pylist()}
    kept, anew = Coefficients(pairs, 1), Coefficients(pairs, 0)
    for item, key in enumerate(pairs.keys):
        alone = mfcc(torch.from_numpy(from_flac(one.speech.read_media(rows[key]["media"]))))
        assert torch.equal(kept[item], alone.half()) and torch.equal(anew[item], alone) and torch.equal(kept[item], kept[item])
    assert len(kept._kept) == len(pairs) and not anew._kept
    mean, deviation = kept.statistics(np.arange(len(pairs)), 0)
    frames = torch.cat([kept[item] for item in range(len(pairs))], dim=1).double()
    assert torch.allclose(mean.double(), frames.mean(1, keepdim=True), atol=1e-3)
    assert torch.allclose(deviation.double(), frames.std(1, keepdim=True, unbiased=False), atol=1e-3)


def test_a_damaged_clip_is_named(tmp_path: Path) -> None:
    one = spoken_set(tmp_path, images=2)
    rows = one.speech.table().to_pylist()
    media = {row["media"].partition("/")[2]: one.speech.read_media(row["media"])[:40] for row in rows}
    cut = output(tmp_path / "cut", "import_recordings", "stamps", rows, media)
    pairs = read_pairs([SpokenSet(cut, one.images)], "train", ["image"])
    with pytest.raises(HearsightError, match=r"stamps00\.0: is not a valid FLAC file"):
        Coefficients(pairs, 1)[0]


@pytest.mark.parametrize("training", [True, False])
def test_a_part_of_a_clip_equals_that_of_the_whole_clip(one: SpokenSet, training: bool) -> None:
    pairs = read_pairs([one], "train", ["image"])
    asked = [(epoch, item) for epoch in range(3) for item in range(len(pairs))]
    for frames in (1, 12, 40):  # of 11 to 27
        chosen: dict[str, Any] = {"seed": 1, "frames": frames, "side": 0, "training": training}
        kept, anew = (PairItems(pairs, Coefficients(pairs, held), np.arange(len(pairs)), **chosen) for held in (100, 0))
        # In full precision, which the cache itself does not keep.
        kept.speech_input._kept = {item: anew.speech_input[item] for item in range(len(pairs))}
        (whole, lengths), (part, again) = kept.speech(asked), anew.speech(asked)
        torch.testing.assert_close(part, whole, rtol=1e-5, atol=1e-4)
        assert torch.equal(lengths, again)
        assert len(kept.speech_input._kept) == len(pairs) and not anew.speech_input._kept


@given(st.integers(1, 4000), st.data())
def test_frames_are_those_of_their_excerpt(samples: int, data: st.DataObject) -> None:
    clip = torch.randn(samples, generator=torch.Generator().manual_seed(samples))
    whole = mfcc(clip)
    first = data.draw(st.integers(0, whole.shape[1] - 1))
    count = data.draw(st.integers(1, whole.shape[1] - first))
    start, end, before = excerpt(first, count)
    part = mfcc(clip[start : min(end, samples)])[:, before : before + count]
    torch.testing.assert_close(part, whole[:, first : first + count], rtol=1e-5, atol=1e-4)
