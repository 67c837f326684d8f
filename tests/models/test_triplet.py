"""The triplet loss beside a plain loop over eq. 3 with the same draws, and the draws' uniformity."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from components.models.contrastive import draw_negatives, draw_uniforms, triplet
from components.models.matching import positives_mask


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**31), st.floats(0, 3))
def test_the_loss_equals_the_equation_for_the_same_draws(size: int, kinds: int, seed: int, margin: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    speech, images = (torch.randn(size, 4, dtype=torch.float64, generator=generator) for _ in range(2))
    group = torch.randint(0, kinds, (size,), generator=generator)
    mask, scores = positives_mask(group, group), (speech @ images.T).tolist()
    drawn = draw_uniforms(size, torch.Generator().manual_seed(seed + 1), speech.device)
    m, n = (draw_negatives(one, numbers).tolist() for one, numbers in zip((mask, mask.T), drawn, strict=True))
    wanted = 0.0
    for k in range(size):
        if any(other != group[k] for other in group.tolist()):
            wanted += max(0.0, scores[k][m[k]] - scores[k][k] + margin) + max(0.0, scores[n[k]][k] - scores[k][k] + margin)
    result = triplet(speech @ images.T, mask, margin, torch.Generator().manual_seed(seed + 1))
    assert float(result) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.integers(-3, 4), min_size=1, max_size=20), st.lists(st.integers(-3, 4), max_size=20), st.data())
def test_only_negatives_are_drawn(candidates: list[int], rows: list[int], data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.floats(0, 1, exclude_max=True), min_size=len(rows), max_size=len(rows)))
    mask = positives_mask(torch.tensor(rows, dtype=torch.long), torch.tensor(candidates))
    for row, index in zip(rows, draw_negatives(mask, torch.tensor(numbers, dtype=torch.float64)).tolist(), strict=True):
        assert candidates[index] != row or set(candidates) == {row}


@pytest.mark.parametrize("seed", range(3))
def test_each_negative_is_drawn_equally_often(seed: int) -> None:
    group, rounds = torch.tensor([4, 1, 4, 7, 1, 4, 9]), 20_000
    numbers = torch.rand(rounds, len(group), dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    for row in range(len(group)):
        drawn = draw_negatives((group != group[row]).expand(rounds, -1), numbers[:, row])
        share = torch.bincount(drawn, minlength=len(group)) / rounds
        wanted = (group != group[row]).double() / (group != group[row]).sum()
        # Five standard deviations of a share; what may not be drawn never is.
        assert bool(((share - wanted).abs() <= 5 * (wanted * (1 - wanted) / rounds).sqrt()).all())


def test_rows_and_columns_have_separate_draws_and_equal_generators_equal_ones() -> None:
    device = torch.device("cpu")
    one, other = (draw_uniforms(50, torch.Generator().manual_seed(3), device) for _ in range(2))
    assert torch.equal(one, other) and not torch.equal(one[0], one[1])
    torch.manual_seed(5)
    assert not torch.equal(draw_uniforms(50, None, device), draw_uniforms(50, None, device))


def test_gradients_are_those_of_finite_differences() -> None:
    torch.manual_seed(0)
    sides, group = (
        [torch.randn(6, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)],
        torch.tensor([0, 1, 0, 2, 3, 3]),
    )
    mask = positives_mask(group, group)
    assert torch.autograd.gradcheck(lambda a, b: triplet(a @ b.T, mask, 0.7, torch.Generator().manual_seed(1)), sides)


def test_scores_of_ten_thousand_in_bfloat16_leave_value_and_gradient_finite() -> None:
    sides = [(torch.eye(4) * 100 * sign).bfloat16().requires_grad_() for sign in (1, -1)]
    value = triplet(sides[0] @ sides[1].T, ~torch.eye(4, dtype=torch.bool), 1.0, torch.Generator().manual_seed(0))
    value.backward()
    assert value.dtype == torch.float32 and value.item() == pytest.approx(8e4, rel=0.01)
    assert all(side.grad is not None and bool(side.grad.isfinite().all()) and bool(side.grad.any()) for side in sides)


def test_a_batch_of_positives_only_has_zero_loss_and_gradient() -> None:
    sides = [torch.randn(4, 3, requires_grad=True) for _ in range(2)]
    value = triplet(sides[0] @ sides[1].T, torch.zeros(4, 4, dtype=torch.bool), 0.5)
    assert float(value) == 0.0 and not any(bool(gradient.any()) for gradient in torch.autograd.grad(value, sides))


def test_mismatched_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="same square"):
        triplet(torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.bool), 0.1)
