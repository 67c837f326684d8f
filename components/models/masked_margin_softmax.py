"""The masked margin softmax loss (CSC, eqs. 4–6) of scores.

A row's −log of eq. 5 is computed as −log σ((Z_ii − LSE_i) − δ), with LSE_i = log Σ_j M_ij exp Z_ij over the negatives. The value
is the same, does not overflow, and keeps the margin: subtracted from a score of 40, δ = .001 is below the resolution of bfloat16.
For the same reason everything is computed in float32 at least, even under autocast.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def masked_margin_softmax(scores: Tensor, mask: Tensor, margin: float) -> Tensor:
    """Return L_MMS = L_xy + L_yx (eqs. 4–6), a scalar in the scores' dtype or in float32.

    Args:
        scores: Z, B × B, the similarity of x_i and y_j; pairs are on the diagonal.
        mask: M, B × B boolean, True where (i, j) is a negative; False on the diagonal.
        margin: δ ≥ 0, subtracted from the diagonal. A row or column without negatives adds 0.

    Raises:
        ValueError: the scores are not square, or the mask has another shape.
    """
    if scores.dim() != 2 or scores.shape[0] != scores.shape[1] or mask.shape != scores.shape:
        raise ValueError(f"scores {tuple(scores.shape)} and mask {tuple(mask.shape)}; both must be the same square")
    scores = at_least_float32(scores)
    # The lowest finite number instead of -inf: the log-sum-exp of a row of -inf has no gradient.
    negatives, own = scores.masked_fill(~mask, torch.finfo(scores.dtype).min), scores.diagonal()
    of_rows, of_columns = (F.logsigmoid(own - negatives.logsumexp(axis) - margin) for axis in (1, 0))
    return -(of_rows + of_columns).mean()


def at_least_float32(tensor: Tensor) -> Tensor:
    """Return the tensor in float32 if it is float16 or bfloat16, else unchanged."""
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor
