"""The triplet loss (CSC, eq. 3): for each pair one uniformly drawn negative image and one negative utterance.

A row needs only two scores, so no matrix of scores or masks is computed: N items cost 4 N · D multiplications and a sort of the
identities. No operation synchronises with the GPU.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from components.models.masked_margin_softmax import at_least_float32


class Negatives(NamedTuple):
    """The negatives drawn for N rows."""

    candidate: Tensor
    """N: index of the candidate; any row if there is no negative."""
    exists: Tensor
    """N booleans: whether the row has a negative."""


def draw_uniforms(count: int, generator: torch.Generator | None, device: torch.device) -> Tensor:
    """Draw two rows of ``count`` numbers in [0, 1), float64: one for the rows of a batch and one for its columns.

    Drawn on the generator's device, so that a CPU generator gives the same numbers for a batch on a GPU.
    """
    drawn_on = generator.device if generator is not None else device
    return torch.rand(2, count, dtype=torch.float64, generator=generator, device=drawn_on).to(device, non_blocking=True)


def draw_negatives(rows: Tensor, candidates: Tensor, drawn: Tensor) -> Negatives:
    """Draw for each row a candidate of another identity, with equal probabilities.

    Args:
        rows, candidates: N and M identities.
        drawn: N uniform numbers in [0, 1); the negatives are a function of them.
    """
    ordered, order = torch.sort(candidates, stable=True)
    rows = rows.contiguous()
    below = torch.searchsorted(ordered, rows)
    matches = torch.searchsorted(ordered, rows, right=True) - below
    count = len(candidates) - matches
    # Sorted by identity, a row's matches are adjacent: the k-th negative is before or after them.
    position = torch.minimum((drawn * count).long(), count - 1)
    position = torch.where(position >= below, position + matches, position).clamp(0, max(0, len(candidates) - 1))
    return Negatives(order[position], count > 0)


def hinge_losses(queries: Tensor, candidates: Tensor, pairs: Tensor, negatives: Negatives, margin: float) -> Tensor:
    """Return the N terms max(0, Z_km − Z_kk + δ) of one direction of eq. 3, in float32 at least.

    Args:
        queries, candidates: N × D and M × D; a score is their dot product.
        pairs: N × D, the queries' own candidates.
        negatives: of each query; without one the term is 0.
        margin: δ.
    """
    wide = at_least_float32(queries)
    # Two products, as in the equation: one product of differences would round differently.
    difference = (wide * at_least_float32(candidates[negatives.candidate])).sum(1) - (wide * at_least_float32(pairs)).sum(1)
    return torch.where(negatives.exists, (difference + margin).clamp_min(0), torch.zeros_like(difference))


def triplet(
    speech: Tensor,
    images: Tensor,
    identities: Tensor,
    margin: float,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return L_T (eq. 3), a scalar. A pair that matches the whole batch adds 0.

    Args:
        speech, images: B × D; row i of both is pair i.
        identities: B integers; equal ones match (:mod:`components.models.matching`).
        margin: δ, on the scale of the scores.
        generator: draws 2 B numbers (:func:`draw_uniforms`); equal states draw the same negatives.

    Raises:
        ValueError: the shapes do not match.
    """
    if speech.shape != images.shape or speech.dim() != 2 or identities.shape != speech.shape[:1]:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in (speech, images, identities))
        raise ValueError(f"speech, images and identities have the shapes {shapes}; they must be B × D, B × D and B")
    of_rows, of_columns = draw_uniforms(len(speech), generator, speech.device)
    total = hinge_losses(speech, images, images, draw_negatives(identities, identities, of_rows), margin).sum()
    return total + hinge_losses(images, speech, speech, draw_negatives(identities, identities, of_columns), margin).sum()
