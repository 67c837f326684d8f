"""Losses for paired inputs in a batch: masked margin softmax and the triplet baseline (seed 003, eqs. 1–6)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def margin_at(step: int, *, start: float = 0.001, factor: float = 1.002, every: int = 1000) -> float:
    """The margin after ``step`` optimiser steps: ``start · factor^(step / every)``.

    The paper says "increased by a factor of 1.002 every 1000 steps" and not whether it jumps or glides; here it
    glides, and it is a function of the step alone, so a resumed run has it right.
    """
    return float(start * factor ** (step / every))


def positives_mask(first: Tensor, second: Tensor) -> Tensor:
    """M of eq. 2 as a boolean B×B: True where x_i and y_j do **not** match.

    Args:
        first, second: B integers each, the identity that makes a pair match. In this project both are the picture's
            near-duplicate group, so other voices of the same caption and copies of the picture are no negatives.
    """
    return first[:, None] != second[None, :]


def masked_margin_softmax(scores: Tensor, mask: Tensor, margin: float) -> Tensor:
    """L_MMS = L_xy + L_yx (eqs. 4–6), a scalar.

    Args:
        scores: Z, B×B, the similarity of x_i and y_j; pairs lie on the diagonal.
        mask: M, B×B boolean, True where (i, j) is a negative; False on the diagonal.
        margin: δ ≥ 0, taken off the diagonal.
    """
    size = scores.shape[0]
    diagonal = torch.eye(size, dtype=torch.bool, device=scores.device)
    shifted = scores - margin * diagonal.to(scores.dtype)
    # A positive other than the pair itself is neither numerator nor denominator.
    logits = shifted.masked_fill(~mask & ~diagonal, float("-inf"))
    target = torch.arange(size, device=scores.device)
    return F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)


def triplet(scores: Tensor, mask: Tensor, margin: float, generator: torch.Generator | None = None) -> Tensor:
    """L_T (eq. 3), a sum over the batch: one uniformly drawn negative a row and a column.

    The paper gives neither δ nor the reduction beyond the sum in its equation. A row without any negative adds 0.
    """
    own = scores.diagonal()
    total = scores.new_zeros(())
    for matrix, allowed in ((scores, mask), (scores.T, mask.T)):
        some = allowed.any(dim=1)
        if not bool(some.any()):
            continue
        drawn = torch.multinomial(allowed[some].float(), 1, generator=generator)
        total = total + (matrix[some].gather(1, drawn).squeeze(1) - own[some] + margin).clamp_min(0).sum()
    return total
