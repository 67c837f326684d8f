"""The masked margin softmax loss (CSC, eqs. 4–6), from scores or, without a B × B matrix, from embeddings.

A row's −log of eq. 5 is computed as −log σ((Z_ii − LSE_i) − δ), with LSE_i = log Σ_j M_ij exp Z_ij over the negatives. The value
is the same, does not overflow, and keeps the margin: subtracted from a score of 40, δ = .001 is below the resolution of bfloat16.
For the same reason everything is computed in float32 at least, even under autocast.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from components.models.matching import positives_mask


def masked_margin_softmax(scores: Tensor, mask: Tensor, margin: float) -> Tensor:
    """Return L_MMS = L_xy + L_yx (eqs. 4–6), a scalar in the scores' dtype or in float32.

    Args:
        scores: Z, B × B, the similarity of x_i and y_j; pairs are on the diagonal.
        mask: M, B × B boolean, True where (i, j) is a negative; False on the diagonal.
        margin: δ ≥ 0, subtracted from the diagonal.

    Raises:
        ValueError: the scores are not square, or the mask has another shape.
    """
    if scores.dim() != 2 or scores.shape[0] != scores.shape[1] or mask.shape != scores.shape:
        raise ValueError(f"scores {tuple(scores.shape)} and mask {tuple(mask.shape)}; both must be the same square")
    scores = at_least_float32(scores)
    own = scores.diagonal()
    return row_losses(scores, mask, own, margin).mean() + row_losses(scores.T, mask.T, own, margin).mean()


def row_losses(scores: Tensor, mask: Tensor, own: Tensor, margin: float) -> Tensor:
    """Return the N terms of eq. 5 for N × M scores; ``own`` (N) holds the scores of the rows' own pairs. A row without
    negatives has loss 0."""
    # The lowest finite number instead of -inf: the log-sum-exp of a row of -inf has no gradient.
    negatives = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return -F.logsigmoid(own - negatives.logsumexp(1) - margin)


def masked_margin_softmax_chunked(speech: Tensor, images: Tensor, identities: Tensor, margin: float, chunk: int) -> Tensor:
    """Return :func:`masked_margin_softmax` of speech · imagesᵀ, computed ``chunk`` rows of scores at a time; a scalar.

    The forward pass keeps a log-sum-exp of each row and column; the backward pass computes the scores again. Besides embeddings
    and gradients it holds about 3 chunk × B numbers, for a third more multiplications than with the whole matrix.

    Args:
        speech, images: B × D; row i of both is pair i.
        identities: B integers; equal ones match (:mod:`components.models.matching`).
        margin: δ ≥ 0.
        chunk: at least 1.

    Raises:
        ValueError: the shapes do not match, or ``chunk`` is below 1.
    """
    if speech.shape != images.shape or speech.dim() != 2 or identities.shape != speech.shape[:1]:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in (speech, images, identities))
        raise ValueError(f"speech, images and identities have the shapes {shapes}; they must be B × D, B × D and B")
    own = torch.arange(len(speech), device=speech.device)
    return _summed(speech, images, identities, identities, own, margin, chunk, both=True) / len(speech)


def row_losses_chunked(
    queries: Tensor, candidates: Tensor, identities: tuple[Tensor, Tensor], own: Tensor, margin: float, chunk: int
) -> Tensor:
    """Return the sum of :func:`row_losses` of queries · candidatesᵀ (N × D and M × D), ``chunk`` rows at a time; a scalar.

    Args:
        identities: N and M integers.
        own: N, the row of ``candidates`` of each query's own pair.
    """
    return _summed(queries, candidates, *identities, own, margin, chunk, both=False)


def at_least_float32(tensor: Tensor) -> Tensor:
    """Return the tensor in float32 if it is float16 or bfloat16, else unchanged."""
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor


def _summed(
    first: Tensor, second: Tensor, row: Tensor, column: Tensor, own: Tensor, margin: float, chunk: int, both: bool
) -> Tensor:
    if chunk < 1:
        raise ValueError(f"a chunk of {chunk} rows; it must be at least 1")
    total: Tensor = _Chunked.apply(first, second, row, column, own, margin, chunk, both)
    return total


class _Chunked(torch.autograd.Function):
    """Sum of the rows' losses, and with ``both`` of the columns', where row i's own pair is column own[i]."""

    @staticmethod
    def forward(
        ctx: Any, first: Tensor, second: Tensor, row: Tensor, column: Tensor, own: Tensor, margin: float, chunk: int, both: bool
    ) -> Tensor:
        ctx.margin, ctx.chunk, ctx.both = margin, chunk, both
        right = at_least_float32(second)
        pairs, rows = right.new_empty(len(first)), right.new_empty(len(first))
        columns = right.new_full((len(second),), torch.finfo(right.dtype).min) if both else None
        for start in range(0, len(first), chunk):
            part = slice(start, start + chunk)
            scores, pairs[part] = _block(first[part], right, row[part], column, own[part])
            rows[part] = scores.logsumexp(1)
            if columns is not None:
                columns = torch.logaddexp(columns, scores.logsumexp(0))
        # A single block is kept: computing it again would save no memory.
        kept = scores if chunk >= len(first) > 0 else None
        ctx.save_for_backward(first, second, row, column, own, pairs, rows, columns, kept)
        total = -F.logsigmoid(pairs - rows - margin).sum()
        if columns is not None:
            total = total - F.logsigmoid(pairs - columns[own] - margin).sum()
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        first, second, row, column, own, pairs, rows, columns, kept = ctx.saved_tensors
        right, shifted = at_least_float32(second), pairs - ctx.margin
        # d/dZ of a row is the softmax over negatives and own pair; at the pair it is minus the negatives' share, which is
        # computed directly, since one minus the pair's share loses precision.
        row_all, pair_gradients = torch.logaddexp(rows, shifted), torch.sigmoid(rows - pairs + ctx.margin)
        column_all = None
        if columns is not None:
            pair_gradients = pair_gradients + torch.sigmoid(columns[own] - pairs + ctx.margin)
            column_all = torch.empty_like(columns)
            column_all[own] = torch.logaddexp(columns[own], shifted)
        first_gradient = torch.zeros_like(first) if ctx.needs_input_grad[0] else None
        second_gradient = torch.zeros_like(right) if ctx.needs_input_grad[1] else None
        for start in range(0, len(first), ctx.chunk):
            part = slice(start, start + ctx.chunk)
            left = at_least_float32(first[part])
            scores = _block(left, right, row[part], column, own[part])[0] if kept is None else kept
            weights = (scores - row_all[part, None]).exp_()
            if column_all is not None:
                # In place, unless the block is the saved one.
                weights += torch.sub(scores, column_all, out=scores if kept is None else None).exp_()
            weights[torch.arange(len(weights), device=weights.device), own[part]] = -pair_gradients[part]
            weights *= gradient
            with torch.autocast(weights.device.type, enabled=False):
                if first_gradient is not None:
                    first_gradient[part] = (weights @ right).to(first_gradient.dtype)
                if second_gradient is not None:
                    second_gradient.addmm_(weights.T, left)
        second_result = None if second_gradient is None else second_gradient.to(second.dtype)
        return first_gradient, second_result, None, None, None, None, None, None


def _block(left: Tensor, right: Tensor, row: Tensor, column: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
    """Return the scores of some rows, with matches set to the lowest number, and the scores of their own pairs."""
    with torch.autocast(right.device.type, enabled=False):
        scores = at_least_float32(left) @ right.T
    pairs = scores.gather(1, own[:, None])[:, 0]
    return scores.masked_fill_(positives_mask(row, column).logical_not_(), torch.finfo(scores.dtype).min), pairs
