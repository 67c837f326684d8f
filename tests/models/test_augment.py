"""SpecAugment's masks."""

from __future__ import annotations

import torch

from components.models.augment import spec_augment


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
    for result, span in ((rows, 20), (columns, 6)):
        widths = torch.bincount(result.sum(1), minlength=span + 1)
        expected = count / (span + 1)
        # 99.99 % of chi-square with 20 degrees is 52.4, with 6 it is 27.9.
        assert len(widths) == span + 1 and float(((widths - expected) ** 2 / expected).sum()) < {20: 52.4, 6: 27.9}[span]
        assert result.any(0).all()
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
