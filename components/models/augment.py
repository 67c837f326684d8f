"""Mask a batch of speech features in training: SpecAugment (CSC §4.1)."""

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
    """Return a copy with one frequency and one time mask a clip, without warping (Park et al. 2019, section 2).

    Args:
        features: B × coefficients × frames, normalised, so that ``fill`` 0 is the mean (the paper names no value).
        lengths: B, the speech frames of each clip; time masks lie within them.
        frequency: F: the mask covers 0..F coefficients, uniformly drawn, and begins anywhere it fits.
        time: T: the mask covers 0..T frames, at most the clip's length.
        generator: source of the draws, on the features' device.
    """
    batch, rows, columns = features.shape
    device = features.device

    def uniform(top: Tensor) -> Tensor:
        """Draw B integers, each uniform over 0..top inclusive."""
        drawn = torch.rand(batch, generator=generator, device=device)
        return torch.minimum((drawn * (top + 1)).long(), top)

    masked = features.clone()
    limits = (torch.full((batch,), rows, device=device), lengths.to(device, torch.long))
    for axis, span, limit in ((1, frequency, limits[0]), (2, time, limits[1])):
        width = uniform(limit.clamp_max(span))
        start = uniform(limit - width)
        positions = torch.arange(rows if axis == 1 else columns, device=device)[None]
        hidden = (positions >= start[:, None]) & (positions < (start + width)[:, None])
        masked.masked_fill_(hidden[:, :, None] if axis == 1 else hidden[:, None, :], fill)
    return masked
