"""The losses against naive loops over eqs. 3, 5 and 6."""

from __future__ import annotations

import math

import pytest
import torch

from components.models.losses import margin_at, masked_margin_softmax, positives_mask, triplet


def naive(scores: list[list[float]], mask: list[list[bool]], margin: float) -> float:
    size, total = len(scores), 0.0
    for transposed in (False, True):
        for i in range(size):
            own = math.exp(scores[i][i] - margin)
            others = 0.0
            for j in range(size):
                z, m = (scores[j][i], mask[j][i]) if transposed else (scores[i][j], mask[i][j])
                others += math.exp(z) if m else 0.0
            total -= math.log(own / (own + others)) / size
    return total


@pytest.mark.parametrize("seed", range(10))
def test_masked_margin_softmax_equals_the_equations(seed: int) -> None:
    torch.manual_seed(seed)
    size = 2 + seed
    scores = torch.randn(size, size, dtype=torch.float64) * 3
    same = torch.randint(0, max(2, size // 2), (size,))
    mask = positives_mask(same, same)
    margin = 0.4 * seed
    assert float(masked_margin_softmax(scores, mask, margin)) == pytest.approx(
        naive(scores.tolist(), mask.tolist(), margin), abs=1e-9
    )


def test_another_positive_of_the_batch_has_no_influence() -> None:
    scores = torch.zeros(3, 3)
    mask = positives_mask(torch.tensor([0, 0, 1]), torch.tensor([0, 0, 1]))
    moved = scores.clone()
    moved[0, 1] = 50.0
    assert torch.equal(masked_margin_softmax(scores, mask, 0.1), masked_margin_softmax(moved, mask, 0.1))


def test_a_batch_of_nothing_but_positives_costs_nothing() -> None:
    same = torch.zeros(4, dtype=torch.long)
    assert float(masked_margin_softmax(torch.randn(4, 4), positives_mask(same, same), 0.5)) == 0.0
    assert float(triplet(torch.randn(4, 4), positives_mask(same, same), 0.5)) == 0.0


def test_the_mask_is_symmetric_with_an_empty_diagonal() -> None:
    group = torch.tensor([3, 1, 3, 2])
    mask = positives_mask(group, group)
    assert torch.equal(mask, mask.T) and not mask.diagonal().any()


@pytest.mark.parametrize(("step", "margin"), [(0, 0.001), (100_000, 0.00122), (1_000_000, 0.00737), (3_000_000, 0.401)])
def test_the_margin_follows_the_paper(step: int, margin: float) -> None:
    assert margin_at(step) == pytest.approx(margin, rel=0.01)


def test_the_triplet_loss_draws_each_negative_equally_often() -> None:
    # One hinge is open only for item 1, so the mean loss tells how often item 1 was drawn for row 0.
    scores = torch.full((4, 4), -10.0)
    scores.fill_diagonal_(0.0)
    scores[0, 1] = 1.0
    group = torch.arange(4)
    generator = torch.Generator().manual_seed(0)
    losses = [float(triplet(scores, positives_mask(group, group), 0.0, generator)) for _ in range(2000)]
    # Row 0 draws it with 1/3, and column 1 draws row 0 with 1/3.
    assert sum(losses) / 2000 == pytest.approx(2 / 3, abs=0.06)
