"""The training loss (CSC §3) of a batch of embeddings, on one device or on several that share the batch.

With W processes, each computes the loss of the whole batch, with gradients for its own items alone, W times as large: their mean
over processes, which DistributedDataParallel takes, is the whole batch's gradient. docs/retrieval.md explains each open choice.

Masked margin softmax (CSC, eqs. 4–6): a row's −log of eq. 5 is computed as −log σ((Z_ii − LSE_i) − δ), with
LSE_i = log Σ_j M_ij exp Z_ij over the negatives. The value is the same, does not overflow, and keeps the margin: subtracted from
a score of 40, δ = .001 is below the resolution of bfloat16. For the same reason everything is computed in float32 at least, even
under autocast. Triplet loss (CSC, eq. 3): for each pair one uniformly drawn negative image and one negative utterance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from components.models.matching import positives_mask


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
    """Return the loss of a batch, a scalar in float32 at least; with ``global`` scope the whole batch's on each process.

    Args:
        speech, images: this process's n × D embeddings, whose dot products are the scores; row i of both is pair i.
            Normalisation and temperature, if any, are already applied.
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
    processes = dist.get_world_size() if settings.scope == "global" and dist.is_available() and dist.is_initialized() else 1
    # A score of 40 in bfloat16 is off by up to 1/8, so products are computed in float32 even under autocast.
    with torch.autocast(speech.device.type, enabled=False):
        speech, images = at_least_float32(speech), at_least_float32(images)
        if processes > 1:
            speech, images, identities = gather(speech), gather(images), gather(identities)
        scores, mask = speech @ images.T, positives_mask(identities, identities)
        if settings.loss == "triplet":
            loss = triplet(scores, mask, margin, generator)
        else:
            loss = masked_margin_softmax(scores, mask, margin)
    # The value of the loss, and W times its gradient.
    return loss + (processes - 1) * (loss - loss.detach()) if processes > 1 else loss


def gather(own: Tensor) -> Tensor:
    """Return the rows of all processes in the order of the batch; gradients flow to this process's own rows alone.

    All processes call it, with the same columns and dtype.

    Raises:
        ValueError: row i of the batch is not on process i modulo W.
    """
    processes = dist.get_world_size()
    counts = [torch.empty(1, dtype=torch.long, device=own.device) for _ in range(processes)]
    dist.all_gather(counts, torch.tensor([len(own)], device=own.device))
    sizes = torch.cat(counts).tolist()
    if sizes != [len(range(number, sum(sizes), processes)) for number in range(processes)]:
        raise ValueError(f"processes hold {', '.join(map(str, sizes))} items: item i must be on process i modulo {processes}")
    padded = F.pad(own, (0, 0) * (own.dim() - 1) + (0, sizes[0] - len(own))).contiguous()
    parts = [torch.empty_like(padded) for _ in range(processes)]
    dist.all_gather(parts, padded.detach())
    parts[dist.get_rank()] = padded
    # First the first rows of all, then the second ones, …; what is missing is at the end.
    return torch.stack(parts, 1).flatten(0, 1)[: sum(sizes)]
