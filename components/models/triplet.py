"""The triplet loss (CSC, eq. 3): for each pair one negative picture and one negative utterance, drawn uniformly.

A row needs two scores and no more, so neither a matrix of scores nor one of masks is formed: N items cost 4 N · D multiplications
and the sorting of the identities. Nothing here waits for a GPU.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from components.models.masked_margin_softmax import at_least_float32

Reduction = Literal["sum", "mean"]


class Negatives(NamedTuple):
    """What was drawn for N rows."""

    place: Tensor
    """N: the candidate; some row or other where there is no negative."""
    some: Tensor
    """N booleans: whether the row has any negative."""


def draw_uniforms(count: int, generator: torch.Generator | None, device: torch.device) -> Tensor:
    """Two rows of ``count`` numbers in [0, 1), double precision: one for each row of a batch and one for each column.

    Drawn where the generator is, so that a generator of the processor draws the same for a batch on a GPU.
    """
    place = generator.device if generator is not None else device
    return torch.rand(2, count, dtype=torch.float64, generator=generator, device=place).to(device, non_blocking=True)


def draw_negatives(rows: Tensor, candidates: Tensor, drawn: Tensor) -> Negatives:
    """For each row a candidate of another identity, each with the same probability.

    Args:
        rows, candidates: N and M identities.
        drawn: N uniform numbers in [0, 1), of which the negatives are a function.
    """
    ordered, order = torch.sort(candidates, stable=True)
    rows = rows.contiguous()
    below = torch.searchsorted(ordered, rows)
    matches = torch.searchsorted(ordered, rows, right=True) - below
    count = len(candidates) - matches
    # A row's matches lie side by side in the order of identities: the k-th that is left is before or behind them.
    place = torch.minimum((drawn * count).long(), count - 1)
    place = torch.where(place >= below, place + matches, place).clamp(0, max(0, len(candidates) - 1))
    return Negatives(order[place], count > 0)


def hinge_losses(queries: Tensor, candidates: Tensor, pairs: Tensor, negatives: Negatives, margin: float) -> Tensor:
    """The N summands max(0, Z_km − Z_kk + δ) of one direction of eq. 3, in single precision at least.

    Args:
        queries, candidates: N × D and M × D; a score is their dot product.
        pairs: N × D, the candidates that are the queries' own.
        negatives: of each query; where there is none the summand is 0.
        margin: δ.
    """
    wide = at_least_float32(queries)
    # The difference of the two scores as one product of differences would round otherwise than the equation.
    apart = (wide * at_least_float32(candidates[negatives.place])).sum(1) - (wide * at_least_float32(pairs)).sum(1)
    return torch.where(negatives.some, (apart + margin).clamp_min(0), torch.zeros_like(apart))


def triplet(
    speech: Tensor,
    images: Tensor,
    identities: Tensor,
    margin: float,
    reduction: Reduction = "sum",
    generator: torch.Generator | None = None,
) -> Tensor:
    """L_T (eq. 3), a scalar. A pair that matches the whole batch adds 0.

    Args:
        speech, images: B × D; pair i are row i of both.
        identities: B integers; equal ones match (:mod:`components.models.matching`).
        margin: δ, on the scale of the scores.
        reduction: the equation's sum over the batch, or that divided by B.
        generator: draws 2 B numbers (:func:`draw_uniforms`); equal states draw the same negatives.

    Raises:
        ValueError: shapes that do not belong together, or another reduction.
    """
    if speech.shape != images.shape or speech.dim() != 2 or identities.shape != speech.shape[:1]:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in (speech, images, identities))
        raise ValueError(f"speech, images and identities have the shapes {shapes}; needed are B × D twice, and B")
    if reduction not in ("sum", "mean"):
        raise ValueError(f"'{reduction}' is no reduction; there are sum and mean")
    of_rows, of_columns = draw_uniforms(len(speech), generator, speech.device)
    total = hinge_losses(speech, images, images, draw_negatives(identities, identities, of_rows), margin).sum()
    total = total + hinge_losses(images, speech, speech, draw_negatives(identities, identities, of_columns), margin).sum()
    return total / len(speech) if reduction == "mean" else total
