"""The training loss (CSC §3) of a batch of embeddings, on one device or on several that share the batch.

With W processes, each computes the rows of its own utterances (L_xy) and images (L_yx) against the whole batch and returns W
times its share of the loss. The mean over processes is then the loss of the whole batch, and the mean of their gradients, which
DistributedDataParallel takes, is its gradient. docs/retrieval.md explains each open choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from components.models.distributed_batch import Batch, gather, world_size
from components.models.masked_margin_softmax import at_least_float32, masked_margin_softmax, row_losses
from components.models.matching import positives_mask
from components.models.triplet import draw_negatives, draw_uniforms, hinge_losses, triplet


def margin_at(step: int, *, start: float = 0.001, factor: float = 1.002, every: int = 1000) -> float:
    """Return δ after ``step`` optimiser steps: ``start · factor^(step / every)``.

    A function of the step alone, so a resumed run continues with the same margins: .00122 at 100,000 steps, .0074 at a million,
    .401 at the paper's three million.

    The paper: "initially set to δ = .001 exponentially and increased by a factor of 1.002 every 1000 steps", in the same words as
    its learning rate decay. It does not state whether δ jumps. TensorFlow's ``exponential_decay`` is continuous by default, and
    "gradually increased" (§3) fits that. A δ that jumps at every 1000th step is equal there and differs by .2 % at most.

    Raises:
        ValueError: ``step`` is negative, ``every`` is below 1, or the margin overflows.
    """
    if step < 0 or every < 1:
        raise ValueError(f"no margin at step {step} with a change every {every} steps: they must be at least 0 and 1")
    try:
        return float(start * factor ** (step / every))
    except OverflowError:
        raise ValueError(f"the margin at step {step} ({start} · {factor}^{step / every:g}) is too large to be a number") from None


Loss = Literal["masked_margin_softmax", "triplet"]
Scope = Literal["global", "device"]


@dataclass(frozen=True)
class LossSettings:
    """Settings of the losses; defaults are the paper's values, or the likeliest ones where it names none.

    Raises:
        ValueError: a value is unknown or out of range.
    """

    loss: Loss = "masked_margin_softmax"
    """Eqs. 4–6 (the paper's own) or eq. 3 (the baseline of its table 1)."""
    margin: float = 0.001
    """δ of the masked margin softmax at step 0."""
    margin_factor: float = 1.002
    """Growth of δ every ``margin_every`` steps."""
    margin_every: int = 1000
    triplet_margin: float = 1.0
    """δ of eq. 3. Open in the paper: 1 is the value of Harwath et al. (2018), the source of the loss, with dot products of any
    size. Table 1 may instead use the softmax's growing δ for the triplet loss."""
    scope: Scope = "global"
    """Open in the paper: the range of B when several devices share a batch. ``global``: the whole batch, so that the loss does
    not depend on the number of devices; ``device``: each device's share, and the mean of the losses."""

    def __post_init__(self) -> None:
        for name, kinds in (("loss", Loss), ("scope", Scope)):
            value, known = getattr(self, name), get_args(kinds)
            if value not in known:
                raise ValueError(f"'{value}' is not a {name}; choose one of {', '.join(known)}")
        for name, least in (("margin", 0.0), ("triplet_margin", 0.0), ("margin_every", 1)):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= least):
                raise ValueError(f"{name} is {value}; it must be at least {least:g}")
        if not (math.isfinite(self.margin_factor) and self.margin_factor > 0):
            raise ValueError(f"margin_factor is {self.margin_factor}; it must be greater than 0")

    def margin_at(self, step: int) -> float:
        """Return δ of the chosen loss after ``step`` optimiser steps."""
        if self.loss == "triplet":
            return self.triplet_margin
        return margin_at(step, start=self.margin, factor=self.margin_factor, every=self.margin_every)


def contrastive_loss(
    speech: Tensor,
    images: Tensor,
    identities: Tensor,
    settings: LossSettings,
    step: int,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return the loss of a batch, a scalar in float32 at least; the mean over processes is the whole batch's loss.

    Args:
        speech, images: this process's n × D embeddings, whose dot products are the scores; row i of both is pair i.
            Normalisation and temperature, if any, are already applied. n may differ between processes.
        identities: n integers; equal ones match, across processes too (:func:`components.models.matching.match_identities`).
        settings: the same on all processes.
        step: optimiser steps done before this one.
        generator: source of the triplet loss's draws. In the same state on all processes, it draws what one process would
            draw for the whole batch, whose item i is on process i modulo W (``components/training/batches.py``).

    Raises:
        ValueError: the shapes do not match, or ``step`` is negative.
    """
    if speech.shape != images.shape or speech.dim() != 2 or identities.shape != speech.shape[:1]:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in (speech, images, identities))
        raise ValueError(f"speech, images and identities have the shapes {shapes}; they must be n × D, n × D and n")
    margin, identities = settings.margin_at(step), identities.to(speech.device)
    common = torch.promote_types(speech.dtype, images.dtype)
    speech, images = speech.to(common), images.to(common)
    # A score of 40 in bfloat16 is off by up to 1/8, so products are computed in float32 even under autocast.
    with torch.autocast(speech.device.type, enabled=False):
        if settings.scope == "global" and world_size() > 1:
            return _shared(speech, images, gather(speech, images, identities), settings, margin, generator)
        if settings.loss == "triplet":
            return triplet(speech, images, identities, margin, generator)
        scores = at_least_float32(speech) @ at_least_float32(images).T
        return masked_margin_softmax(scores, positives_mask(identities, identities), margin)


def _shared(
    speech: Tensor, images: Tensor, batch: Batch, settings: LossSettings, margin: float, generator: torch.Generator | None
) -> Tensor:
    """Return W times this process's share of the whole batch's loss."""
    own, processes = batch.own, world_size()
    local_identities, size = batch.identities[own], len(batch.identities)
    directions = (
        (at_least_float32(speech), batch.images, at_least_float32(images)),
        (at_least_float32(images), batch.speech, at_least_float32(speech)),
    )
    if settings.loss == "triplet":
        drawn = draw_uniforms(size, generator, speech.device)[:, own]
        total = torch.stack(
            [
                hinge_losses(
                    queries, candidates, pairs, draw_negatives(local_identities, batch.identities, numbers), margin
                ).sum()
                for (queries, candidates, pairs), numbers in zip(directions, drawn, strict=True)
            ]
        ).sum()
        return total * processes
    total = speech.new_zeros((), dtype=batch.speech.dtype)
    mask = positives_mask(local_identities, batch.identities)
    for queries, candidates, _ in directions:
        scores = queries @ candidates.T
        total = total + row_losses(scores, mask, scores.gather(1, own[:, None])[:, 0], margin).sum()
    return total * processes / size
