"""The masked margin softmax beside a plain loop over eqs. 4–6."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from components.models.contrastive import masked_margin_softmax
from components.models.matching import positives_mask


def loop(scores: list[list[float]], mask: list[list[bool]], margin: float) -> float:
    """Eqs. 4–6 as they stand, in double precision."""
    size, total = len(scores), 0.0
    for i in range(size):
        own = math.exp(scores[i][i] - margin)
        for others in (
            sum(math.exp(scores[i][j]) for j in range(size) if mask[i][j]),
            sum(math.exp(scores[j][i]) for j in range(size) if mask[j][i]),
        ):
            total -= math.log(own / (own + others)) / size
    return total


@st.composite
def batches(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor, float]:
    """Embeddings of a batch, identities, a margin."""
    size, width, kinds = draw(st.integers(1, 12)), draw(st.integers(1, 5)), draw(st.integers(1, 12))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    spread = draw(st.sampled_from([0.1, 1.0, 3.0]))
    sides = [torch.randn(size, width, dtype=torch.float64, generator=generator) * spread for _ in range(2)]
    return sides[0], sides[1], torch.randint(0, kinds, (size,), generator=generator), draw(st.floats(0, 2))


@settings(deadline=None)
@given(batches())
def test_the_loss_of_scores_equals_the_equations(batch: tuple[Tensor, Tensor, Tensor, float]) -> None:
    speech, images, group, margin = batch
    scores, mask = speech @ images.T, positives_mask(group, group)
    wanted = loop(scores.tolist(), mask.tolist(), margin)
    assert float(masked_margin_softmax(scores, mask, margin)) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_those_of_finite_differences(seed: int) -> None:
    torch.manual_seed(seed)
    group = torch.tensor([0, 1, 0, 2, 3])
    sides = [torch.randn(5, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    mask = positives_mask(group, group)
    assert torch.autograd.gradcheck(lambda a, b: masked_margin_softmax(a @ b.T, mask, 0.3), sides)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_scores_of_ten_thousand_leave_value_and_gradient_finite(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    group = torch.tensor([0, 1, 2, 2, 3, 4])
    for right in (True, False):
        # ± 1e4 everywhere, pairs at the best or at the worst of it.
        scores = torch.where(torch.eye(6, dtype=torch.bool) == right, 1e4, -1e4).to(dtype)
        leaf = scores.clone().requires_grad_()
        value = masked_margin_softmax(leaf, positives_mask(group, group), 0.4)
        value.backward()
        assert value.dtype == torch.float32 and bool(torch.isfinite(value))
        assert leaf.grad is not None and leaf.grad.dtype == dtype and bool(leaf.grad.isfinite().all())
        assert value.item() == (0.0 if right else pytest.approx(4e4, rel=0.01))
        assert bool(leaf.grad.any()) != right


def test_a_margin_below_the_precision_of_bfloat16_scores_has_an_effect() -> None:
    scores = torch.full((4, 4), 40.0, dtype=torch.bfloat16)
    mask = ~torch.eye(4, dtype=torch.bool)
    assert float(masked_margin_softmax(scores, mask, 0.001)) == pytest.approx(
        loop(scores.tolist(), mask.tolist(), 0.001), abs=1e-5
    )
    assert float(masked_margin_softmax(scores, mask, 0.001)) > float(masked_margin_softmax(scores, mask, 0.0)) + 0.001


def test_another_positive_of_the_batch_has_no_influence() -> None:
    scores, group = torch.zeros(3, 3), torch.tensor([0, 0, 1])
    mask, moved = positives_mask(group, group), scores.clone()
    moved[0, 1] = 50.0
    assert torch.equal(masked_margin_softmax(scores, mask, 0.1), masked_margin_softmax(moved, mask, 0.1))


def test_a_batch_of_positives_only_has_zero_loss_and_gradient() -> None:
    same, sides = torch.zeros(4, dtype=torch.long), [torch.randn(4, 3, requires_grad=True) for _ in range(2)]
    value = masked_margin_softmax(sides[0] @ sides[1].T, positives_mask(same, same), 0.5)
    assert value.item() == 0.0 and not any(bool(gradient.any()) for gradient in torch.autograd.grad(value, sides))


def test_mismatched_tensor_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="same square"):
        masked_margin_softmax(torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.bool), 0.1)
