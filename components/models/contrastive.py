"""The loss of a step of training (CSC, section 3) from embeddings, on one device or over a batch that several share.

Over W processes each computes the rows of its own utterances (L_xy) and of its own pictures (L_yx) against the whole batch, and
returns W times its share of the loss. So the mean over processes of what they return is the loss of the whole batch, and the mean
of their parameters' gradients, which is what DistributedDataParallel takes, is its gradient. Each open choice and why:
docs/retrieval.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from components.models.gathered import Batch, gather, world_size
from components.models.margins import Schedule, margin_at
from components.models.masked_margin_softmax import at_least_float32, masked_margin_softmax_chunked, row_losses_chunked
from components.models.triplet import Reduction, draw_negatives, draw_uniforms, hinge_losses, triplet

Loss = Literal["masked_margin_softmax", "triplet"]
Scope = Literal["global", "device"]


@dataclass(frozen=True)
class LossSettings:
    """Every choice of the losses; the defaults are the paper's values, or the likeliest where it leaves them open.

    Raises:
        ValueError: a value that no loss has, or a number out of its range.
    """

    loss: Loss = "masked_margin_softmax"
    """Eqs. 4–6 (the paper's own), or eq. 3, the baseline of its table 1."""
    margin: float = 0.001
    """δ of the masked margin softmax at step 0."""
    margin_factor: float = 1.002
    """Its growth every ``margin_every`` steps."""
    margin_every: int = 1000
    margin_schedule: Schedule = "continuous"
    """Open: whether δ glides or jumps (:func:`components.models.margins.margin_at`); .2 % apart at most."""
    triplet_margin: float = 1.0
    """δ of eq. 3. Open: Harwath et al. (2018), from whom the paper has the loss with dot products of any size, take 1. That its
    table 1 used the growing δ of the softmax for the triplet too cannot be ruled out: nothing is said."""
    triplet_reduction: Reduction = "sum"
    """Open: eq. 3 is a sum over the batch, and eqs. 5 and 6 are means; taken as written. Adam hardly sees the difference."""
    scope: Scope = "global"
    """Open: over what the B of the equations runs when several devices share a batch: ``global`` for the whole batch, whose loss
    then does not depend on the number of devices; ``device`` for each device's own share, and the mean of those losses."""
    chunk: int = 0
    """Rows of scores at once; 0: the whole matrix. Changes memory, not results; the triplet loss has no matrix."""

    def __post_init__(self) -> None:
        for name, kinds in (("loss", Loss), ("margin_schedule", Schedule), ("triplet_reduction", Reduction), ("scope", Scope)):
            value, known = getattr(self, name), get_args(kinds)
            if value not in known:
                raise ValueError(f"'{value}' is no {name}; there are {', '.join(known)}")
        for name, least in (("margin", 0.0), ("triplet_margin", 0.0), ("margin_every", 1), ("chunk", 0)):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= least):
                raise ValueError(f"{name} is {value}; needs {least:g} or more")
        if not (math.isfinite(self.margin_factor) and self.margin_factor > 0):
            raise ValueError(f"margin_factor is {self.margin_factor}; needs more than 0")

    def margin_at(self, step: int) -> float:
        """δ of the chosen loss after ``step`` optimiser steps."""
        if self.loss == "triplet":
            return self.triplet_margin
        return margin_at(
            step, start=self.margin, factor=self.margin_factor, every=self.margin_every, schedule=self.margin_schedule
        )


def contrastive_loss(
    speech: Tensor,
    images: Tensor,
    identities: Tensor,
    settings: LossSettings,
    step: int,
    generator: torch.Generator | None = None,
) -> Tensor:
    """The loss of a batch, a scalar in single precision at least; the mean over processes is the whole batch's.

    Args:
        speech, images: this process's n × D embeddings, whose dot products are the scores; pair i are row i of both.
            Normalisation and temperature, if any, are in them already. Another n on each process is no harm.
        identities: n integers; equal ones match, on whatever processes (:func:`components.models.matching.match_identities`).
        settings: the same on all processes.
        step: optimiser steps done before this one.
        generator: of the triplet loss's draws. In the same state on all processes, it draws what one process would draw for the
            whole batch, whose item i is on process i modulo W (``components/training/batches.py``).

    Raises:
        ValueError: shapes that do not belong together, or no such step.
    """
    if speech.shape != images.shape or speech.dim() != 2 or identities.shape != speech.shape[:1]:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in (speech, images, identities))
        raise ValueError(f"speech, images and identities have the shapes {shapes}; needed are n × D twice, and n")
    margin, identities = settings.margin_at(step), identities.to(speech.device)
    common = torch.promote_types(speech.dtype, images.dtype)
    speech, images = speech.to(common), images.to(common)
    # A score of 40 in bfloat16 is off by up to an eighth: the products are in single precision, whatever made the embeddings.
    with torch.autocast(speech.device.type, enabled=False):
        if settings.scope == "global" and world_size() > 1:
            return _shared(speech, images, gather(speech, images, identities), settings, margin, generator)
        if settings.loss == "triplet":
            return triplet(speech, images, identities, margin, settings.triplet_reduction, generator)
        # Faster than the loss of a matrix of scores for all but the smallest batches, in half its memory (benchmarks/losses.py).
        return masked_margin_softmax_chunked(speech, images, identities, margin, settings.chunk or max(1, len(speech)))


def _shared(
    speech: Tensor, images: Tensor, batch: Batch, settings: LossSettings, margin: float, generator: torch.Generator | None
) -> Tensor:
    """W times this process's share of the whole batch's loss."""
    own, processes = batch.own, world_size()
    mine, size = batch.identities[own], len(batch.identities)
    ways = (
        (at_least_float32(speech), batch.images, at_least_float32(images)),
        (at_least_float32(images), batch.speech, at_least_float32(speech)),
    )
    if settings.loss == "triplet":
        drawn = draw_uniforms(size, generator, speech.device)[:, own]
        total = torch.stack(
            [
                hinge_losses(queries, candidates, pairs, draw_negatives(mine, batch.identities, numbers), margin).sum()
                for (queries, candidates, pairs), numbers in zip(ways, drawn, strict=True)
            ]
        ).sum()
        return total * processes / (size if settings.triplet_reduction == "mean" else 1)
    total = speech.new_zeros((), dtype=batch.speech.dtype)
    for queries, candidates, _ in ways:
        chunk = settings.chunk or max(1, len(queries))
        total = total + row_losses_chunked(queries, candidates, (mine, batch.identities), own, margin, chunk)
    return total * processes / size
