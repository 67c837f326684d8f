"""The triplet loss (CSC, eq. 3) of scores: for each pair one uniformly drawn negative image and one negative utterance."""

from __future__ import annotations

import torch
from torch import Tensor

from components.models.masked_margin_softmax import at_least_float32


def triplet(scores: Tensor, mask: Tensor, margin: float, generator: torch.Generator | None = None) -> Tensor:
    """Return L_T (eq. 3), a scalar in the scores' dtype or in float32. A pair that matches the whole batch adds 0.

    Args:
        scores: Z, B × B, the similarity of x_i and y_j; pairs are on the diagonal.
        mask: M, B × B boolean, True where (i, j) is a negative; False on the diagonal.
        margin: δ, on the scale of the scores.
        generator: draws 2 B numbers (:func:`draw_uniforms`); equal states draw the same negatives.

    Raises:
        ValueError: the scores are not square, or the mask has another shape.
    """
    if scores.dim() != 2 or scores.shape[0] != scores.shape[1] or mask.shape != scores.shape:
        raise ValueError(f"scores {tuple(scores.shape)} and mask {tuple(mask.shape)}; both must be the same square")
    scores = at_least_float32(scores)
    of_rows, of_columns = draw_uniforms(len(scores), generator, scores.device)
    return _hinge(scores, mask, of_rows, margin) + _hinge(scores.T, mask.T, of_columns, margin)


def draw_uniforms(count: int, generator: torch.Generator | None, device: torch.device) -> Tensor:
    """Draw two rows of ``count`` numbers in [0, 1), float64: one for the rows of a batch and one for its columns.

    Drawn on the generator's device, so that a CPU generator gives the same numbers for a batch on a GPU.
    """
    drawn_on = generator.device if generator is not None else device
    return torch.rand(2, count, dtype=torch.float64, generator=generator, device=drawn_on).to(device, non_blocking=True)


def draw_negatives(mask: Tensor, drawn: Tensor) -> Tensor:
    """Return for each row of an N × M mask the column of a negative, with equal probabilities; any where there is none.

    Args:
        drawn: N uniform numbers in [0, 1); the negatives are a function of them.
    """
    count = mask.sum(1)
    place = torch.minimum((drawn * count).long(), count - 1)
    # The first column up to which there are more negatives than before the chosen one.
    return (mask.cumsum(1) > place[:, None]).int().argmax(1)


def _hinge(scores: Tensor, mask: Tensor, drawn: Tensor, margin: float) -> Tensor:
    """Return the sum of the terms max(0, Z_km − Z_kk + δ) of one direction."""
    negatives = scores.gather(1, draw_negatives(mask, drawn)[:, None])[:, 0]
    return (negatives - scores.diagonal() + margin).clamp_min(0).masked_fill(~mask.any(1), 0.0).sum()
