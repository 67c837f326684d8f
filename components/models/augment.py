"""SpecAugment without time warping (Park et al. 2019; seed 003, section 4.1: one mask F=20, one mask T=40)."""

from __future__ import annotations

import torch
from torch import Tensor


def spec_augment(
    features: Tensor,
    lengths: Tensor,
    *,
    frequency: int = 20,
    time: int = 40,
    fill: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """One frequency and one time mask a clip.

    Args:
        features: B × coefficients × frames, normalised, so that ``fill`` 0 is the mean (the paper names no value).
        lengths: B, the frames that are speech; time masks start inside them.
        frequency: F: the mask covers 0..F coefficients, uniformly drawn.
        time: T: the mask covers 0..T frames, at most the clip's length.

    Returns:
        A masked copy.
    """
    batch, rows, columns = features.shape

    def uniform(top: Tensor) -> Tensor:
        """B integers, each uniform over 0..top inclusive."""
        drawn = torch.rand(batch, generator=generator)
        return torch.minimum((drawn * (top + 1)).long(), top)

    masked = features.clone()
    for axis, span, limit in ((1, frequency, torch.full((batch,), rows)), (2, time, lengths.to(torch.long))):
        width = uniform(torch.minimum(torch.full((batch,), span), limit))
        start = uniform(limit - width)
        places = torch.arange(rows if axis == 1 else columns)[None]
        hidden = (places >= start[:, None]) & (places < (start + width)[:, None])
        masked = masked.masked_fill(hidden[:, :, None] if axis == 1 else hidden[:, None, :], fill)
    return masked
