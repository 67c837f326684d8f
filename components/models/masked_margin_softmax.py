"""The masked margin softmax loss (CSC, eqs. 4–6), from scores or, without a B × B matrix, from embeddings.

A row's −log of eq. 5 is taken as −log σ((Z_ii − LSE_i) − δ), LSE_i = log Σ_j M_ij exp Z_ij over the negatives alone. It is the
same number, overflows nowhere, and keeps the margin: subtracted from a score of 40, δ = .001 is less than the last binary place
of a bfloat16 and would be lost. For the same reason everything is computed in single precision at least, autocast or not.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from components.models.matching import positives_mask


def masked_margin_softmax(scores: Tensor, mask: Tensor, margin: float) -> Tensor:
    """L_MMS = L_xy + L_yx (eqs. 4–6), a scalar in the scores' precision or in single precision.

    Args:
        scores: Z, B × B, the similarity of x_i and y_j; pairs lie on the diagonal.
        mask: M, B × B boolean, True where (i, j) is a negative; False on the diagonal.
        margin: δ ≥ 0, taken off the diagonal.

    Raises:
        ValueError: the scores are no square, or the mask has another shape.
    """
    if scores.dim() != 2 or scores.shape[0] != scores.shape[1] or mask.shape != scores.shape:
        raise ValueError(f"scores {tuple(scores.shape)} and mask {tuple(mask.shape)}; both must be the same square")
    scores = at_least_float32(scores)
    own = scores.diagonal()
    return row_losses(scores, mask, own, margin).mean() + row_losses(scores.T, mask.T, own, margin).mean()


def row_losses(scores: Tensor, mask: Tensor, own: Tensor, margin: float) -> Tensor:
    """The N summands of eq. 5 for N × M scores; ``own`` (N) are those of the rows' own pairs. A row without negatives costs 0."""
    # The least finite number and not -inf: the log-sum-exp of a row of -inf has no gradient.
    negatives = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return -F.logsigmoid(own - negatives.logsumexp(1) - margin)


def masked_margin_softmax_chunked(speech: Tensor, images: Tensor, identities: Tensor, margin: float, chunk: int) -> Tensor:
    """:func:`masked_margin_softmax` of speech · imagesᵀ, ``chunk`` rows of scores at a time; a scalar.

    The forward pass keeps a log-sum-exp a row and a column; the backward pass forms the scores again. About 3 chunk × B numbers
    are held beside the embeddings and their gradients, for a third more multiplications than with the whole matrix.

    Args:
        speech, images: B × D; pair i are row i of both.
        identities: B integers; equal ones match (:mod:`components.models.matching`).
        margin: δ ≥ 0.
        chunk: 1 or more.

    Raises:
        ValueError: shapes that do not belong together, or a chunk under 1.
    """
    if speech.shape != images.shape or speech.dim() != 2 or identities.shape != speech.shape[:1]:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in (speech, images, identities))
        raise ValueError(f"speech, images and identities have the shapes {shapes}; needed are B × D twice, and B")
    own = torch.arange(len(speech), device=speech.device)
    return _summed(speech, images, identities, identities, own, margin, chunk, both=True) / len(speech)


def row_losses_chunked(
    queries: Tensor, candidates: Tensor, identities: tuple[Tensor, Tensor], own: Tensor, margin: float, chunk: int
) -> Tensor:
    """The sum of :func:`row_losses` of queries · candidatesᵀ (N × D and M × D), ``chunk`` rows at a time; a scalar.

    Args:
        identities: N and M integers.
        own: N, the row of ``candidates`` that is the query's own pair.
    """
    return _summed(queries, candidates, *identities, own, margin, chunk, both=False)


def at_least_float32(tensor: Tensor) -> Tensor:
    """In single precision at least."""
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor


def _summed(
    first: Tensor, second: Tensor, row: Tensor, column: Tensor, own: Tensor, margin: float, chunk: int, both: bool
) -> Tensor:
    if chunk < 1:
        raise ValueError(f"a chunk of {chunk} rows; needs 1 or more")
    found: Tensor = _Chunked.apply(first, second, row, column, own, margin, chunk, both)
    return found


class _Chunked(torch.autograd.Function):
    """Σ of the rows' losses, and with ``both`` of the columns', where row i's own pair is column own[i]."""

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
        # A single block is kept: forming it again would save no memory.
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
        # d/dZ of a row: the softmax over the negatives and the own pair; at the pair itself minus the negatives' share, computed
        # as such, for one minus the pair's own would lose its last places.
        row_all, pulled = torch.logaddexp(rows, shifted), torch.sigmoid(rows - pairs + ctx.margin)
        column_all = None
        if columns is not None:
            pulled = pulled + torch.sigmoid(columns[own] - pairs + ctx.margin)
            column_all = torch.empty_like(columns)
            column_all[own] = torch.logaddexp(columns[own], shifted)
        left_found = torch.zeros_like(first) if ctx.needs_input_grad[0] else None
        right_found = torch.zeros_like(right) if ctx.needs_input_grad[1] else None
        for start in range(0, len(first), ctx.chunk):
            part = slice(start, start + ctx.chunk)
            left = at_least_float32(first[part])
            scores = _block(left, right, row[part], column, own[part])[0] if kept is None else kept
            weights = (scores - row_all[part, None]).exp_()
            if column_all is not None:
                # In place, where nobody else has the block.
                weights += torch.sub(scores, column_all, out=scores if kept is None else None).exp_()
            weights[torch.arange(len(weights), device=weights.device), own[part]] = -pulled[part]
            weights *= gradient
            with torch.autocast(weights.device.type, enabled=False):
                if left_found is not None:
                    left_found[part] = (weights @ right).to(left_found.dtype)
                if right_found is not None:
                    right_found.addmm_(weights.T, left)
        right_given = None if right_found is None else right_found.to(second.dtype)
        return left_found, right_given, None, None, None, None, None, None


def _block(left: Tensor, right: Tensor, row: Tensor, column: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
    """Scores of some rows, matches filled with the least number; and the scores of the rows' own pairs."""
    with torch.autocast(right.device.type, enabled=False):
        scores = at_least_float32(left) @ right.T
    pairs = scores.gather(1, own[:, None])[:, 0]
    return scores.masked_fill_(positives_mask(row, column).logical_not_(), torch.finfo(scores.dtype).min), pairs
