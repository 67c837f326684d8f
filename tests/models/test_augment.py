"""Cropping, padding and SpecAugment's masks."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from components.models.augment import crop_or_pad, spec_augment


def ramps(lengths: list[int]) -> list[torch.Tensor]:
    """Clips of two rows whose frames tell where they come from: 1, 2, 3 …"""
    return [torch.arange(1.0, length + 1).expand(2, -1) for length in lengths]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.integers(1, 20), st.booleans(), st.booleans(), st.integers(0, 99))
def test_a_crop_is_contiguous_and_the_rest_is_padding(
    lengths: list[int], length: int, at_random: bool, to_longest: bool, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    found, own = crop_or_pad(ramps(lengths), length, at_random=at_random, generator=generator, to_longest=to_longest, fill=-1.0)
    assert own.tolist() == [min(one, length) for one in lengths]
    assert found.shape == (len(lengths), 2, max(own.tolist()) if to_longest else length)
    for row, kept in zip(found, own.tolist(), strict=True):
        assert (row[:, kept:] == -1.0).all() and torch.equal(row[0], row[1])
        first = float(row[0, 0]) if kept else 1.0
        assert torch.equal(row[0, :kept], torch.arange(first, first + kept))
        assert at_random or first == 1.0


def test_random_crops_start_uniformly() -> None:
    generator = torch.Generator().manual_seed(0)
    found, _ = crop_or_pad(ramps([13] * 6_000), 10, at_random=True, generator=generator)
    counts = torch.bincount(found[:, 0, 0].long())[1:]
    # Four places: 1,500 each, standard deviation 34.
    assert len(counts) == 4 and (counts - 1_500).abs().max() < 5 * 34


def test_samples_are_cut_and_padded_like_features() -> None:
    found, own = crop_or_pad([torch.ones(7), torch.ones(3)], 5)
    assert found.tolist() == [[1.0] * 5, [1.0, 1.0, 1.0, 0.0, 0.0]] and own.tolist() == [5, 3]


def test_empty_batches_and_lengths_below_one_are_refused() -> None:
    for clips, length in (([], 5), ([torch.ones(3)], 0)):
        with pytest.raises(ValueError, match="at least one clip"):
            crop_or_pad(clips, length)


def hidden(masked: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Which rows and which columns of each clip are masked wholly."""
    return (masked == 0).all(2), (masked == 0).all(1)


def test_masks_stay_within_f_and_t_and_within_the_speech() -> None:
    generator = torch.Generator().manual_seed(3)
    lengths = torch.tensor([200, 30, 1] * 40)
    rows, columns = hidden(spec_augment(torch.ones(120, 128, 200), lengths, generator=generator))
    assert rows.sum(1).max() <= 20 and columns[lengths == 200].sum(1).max() <= 40
    assert not columns[lengths == 30][:, 30:].any() and not columns[lengths == 1][:, 1:].any()


def test_mask_widths_are_uniform_and_every_position_is_reached() -> None:
    count, generator = 21_000, torch.Generator().manual_seed(4)
    masked = spec_augment(torch.ones(count, 24, 48), torch.full((count,), 48), frequency=20, time=6, generator=generator)
    rows, columns = hidden(masked)
    for found, span in ((rows, 20), (columns, 6)):
        widths = torch.bincount(found.sum(1), minlength=span + 1)
        expected = count / (span + 1)
        # 99.99 % of chi-square with 20 degrees is 52.4, with 6 it is 27.9.
        assert len(widths) == span + 1 and float(((widths - expected) ** 2 / expected).sum()) < {20: 52.4, 6: 27.9}[span]
        assert found.any(0).all()
    # Given a width of one column, its place is uniform too: 48 places, 99.99 % of chi-square with 47 degrees is 91.3.
    places = columns[columns.sum(1) == 1].sum(0)
    expected = float(places.sum()) / 48
    assert float(((places - expected) ** 2 / expected).sum()) < 91.3


def test_each_mask_is_contiguous_and_filled() -> None:
    features = torch.rand(50, 128, 100) + 1.0
    masked = spec_augment(features, torch.full((50,), 100), fill=-3.0, generator=torch.Generator().manual_seed(1))
    assert ((masked == features) | (masked == -3.0)).all() and (features >= 1.0).all()
    for clip in masked:
        for whole in ((clip == -3.0).all(1), (clip == -3.0).all(0)):
            assert whole.int().diff().abs().sum() <= 2


def test_masks_are_a_function_of_the_generator_and_differ_between_clips() -> None:
    features, lengths = torch.ones(8, 128, 100), torch.full((8,), 100)

    def drawn(seed: int) -> torch.Tensor:
        return spec_augment(features, lengths, generator=torch.Generator().manual_seed(seed))

    assert torch.equal(drawn(5), drawn(5)) and not torch.equal(drawn(5), drawn(6))
    assert len({tuple(clip.flatten().tolist()) for clip in drawn(5)}) == 8
