"""What a clip's frames go through before a network: cut or padded to a length, and SpecAugment (CSC, section 4.1).

The paper crops or pads to 3.5 s (350 frames) on Conceptual Spoken Captions and to 8 s (800) on Flickr8k Audio, "randomly" in
training; of evaluation it says only that *pictures* are cropped at their centre. Here a training crop begins at a uniformly
drawn frame and any other at the first, since captions name the most important things first. Padding always comes last: the
networks look at a clip's own frames alone, so where it lies changes nothing.
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
    """Clips of any lengths as one batch.

    Args:
        clips: each … × time: coefficients × frames, or samples alone.
        length: what longer clips are cut to, in frames or samples.
        at_random: begin at a place drawn uniformly, one draw a clip whatever its length; else at the beginning.
        generator: what draws, on any device.
        to_longest: pad to the longest that is left instead of to ``length``, where padding has no influence anyway.
        fill: what padding is; 0 is the mean of normalised features, and silence.

    Returns:
        B × … × length, and B, how much of each is the clip's own.

    Raises:
        ValueError: there is no clip, or the length is not positive.
    """
    if not clips or length < 1:
        raise ValueError("needs at least one clip and a length of 1 or more")
    device = generator.device if generator else torch.device("cpu")
    cropped = []
    for clip in clips:
        start = 0
        if at_random:
            places = max(1, clip.shape[-1] - length + 1)
            start = int(torch.randint(places, (1,), generator=generator, device=device))
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
    """One frequency and one time mask a clip, no warping (Park et al. 2019, section 2).

    Args:
        features: B × coefficients × frames, normalised, so that ``fill`` 0 is the mean (the paper names no value).
        lengths: B, the frames that are speech; time masks lie inside them.
        frequency: F: the mask covers 0..F coefficients, uniformly drawn, and begins anywhere it fits.
        time: T: the mask covers 0..T frames, at most the clip's length.
        generator: what draws, on the features' device.

    Returns:
        A masked copy.
    """
    batch, rows, columns = features.shape
    device = features.device

    def uniform(top: Tensor) -> Tensor:
        """B integers, each uniform over 0..top inclusive."""
        drawn = torch.rand(batch, generator=generator, device=device)
        return torch.minimum((drawn * (top + 1)).long(), top)

    masked = features.clone()
    limits = (torch.full((batch,), rows, device=device), lengths.to(device, torch.long))
    for axis, span, limit in ((1, frequency, limits[0]), (2, time, limits[1])):
        width = uniform(limit.clamp_max(span))
        start = uniform(limit - width)
        places = torch.arange(rows if axis == 1 else columns, device=device)[None]
        hidden = (places >= start[:, None]) & (places < (start + width)[:, None])
        masked.masked_fill_(hidden[:, :, None] if axis == 1 else hidden[:, None, :], fill)
    return masked
