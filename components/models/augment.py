"""Batches of clips: cropping or padding to one length, and SpecAugment (CSC §4.1).

The paper crops or pads "randomly" in training to 3.5 s (350 frames) on Conceptual Spoken Captions and to 8 s (800) on Flickr8k
Audio; for evaluation it only states that *pictures* are cropped at their centre. Here a training crop starts at a uniformly
drawn
frame and an evaluation crop at frame 0, because captions name the most important things first. Padding is always at the end; the
networks only read a clip's own frames, so its position has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


def crop_or_pad(
    clips: Sequence[Tensor],
    length: int,
    *,
    at_random: bool = False,
    generator: torch.Generator | None = None,
    to_longest: bool = False,
    fill: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Return clips of different lengths as one batch.

    Args:
        clips: each … × time: coefficients × frames, or samples alone.
        length: what longer clips are cut to, in frames or samples.
        at_random: start at a uniformly drawn position (one draw a clip whatever its length) instead of at 0.
        generator: source of the draws, on any device.
        to_longest: pad to the longest remaining clip instead of to ``length``, for networks that ignore padding.
        fill: the value of padding; 0 is the mean of normalised features, and silence.

    Returns:
        B × … × length, and B, each clip's own length.

    Raises:
        ValueError: ``clips`` is empty or ``length`` is not positive.
    """
    if not clips or length < 1:
        raise ValueError("needs at least one clip and a length of at least 1")
    device = generator.device if generator else torch.device("cpu")
    cropped = []
    for clip in clips:
        start = 0
        if at_random:
            starts = max(1, clip.shape[-1] - length + 1)
            start = int(torch.randint(starts, (1,), generator=generator, device=device))
        cropped.append(clip[..., start : start + length])
    lengths = torch.tensor([clip.shape[-1] for clip in cropped], device=clips[0].device)
    padded = pad_sequence([clip.movedim(-1, 0) for clip in cropped], batch_first=True, padding_value=fill).movedim(1, -1)
    if not to_longest:
        padded = torch.nn.functional.pad(padded, (0, length - padded.shape[-1]), value=fill)
    return padded, lengths


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
