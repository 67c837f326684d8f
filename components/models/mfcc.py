"""128 mel-frequency cepstral coefficients in torch (CSC §4.1: 16 kHz, 20 ms windows, 10 ms hop).

The paper names no FFT size, mel formula, range or normalisation; :class:`MfccSettings` has each of these choices with a default.
At equal settings librosa 0.11 gives the same values (within 1e-4 in ``tests/models/test_mfcc.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from components.models.mel import Formula, Norm, mel_filters

RATE_HZ, WINDOW, HOP, FFT, COEFFICIENTS = 16_000, 320, 160, 1024, 128
FRAMES_AT_ONCE = {"cpu": 128}
"""Frames computed together, so that their spectra stay in the CPU's cache; 65,536 on other devices."""
BANDS = 8
"""A filter bank is a band matrix; it is multiplied in this many blocks of filters, each over its own bins."""


@dataclass(frozen=True)
class MfccSettings:
    """All settings of the coefficients; raises ValueError for invalid values.

    Fields have the field's usual names, with librosa's name in parentheses where it differs.
    """

    rate: int = RATE_HZ
    """Hz (sr); the paper: 16 kHz."""
    window: int = WINDOW
    """Samples (win_length); the paper: 20 ms."""
    hop: int = HOP
    """Samples (hop_length); the paper: 10 ms."""
    window_type: Literal["hamming", "hann", "rectangular"] = "hamming"
    """Periodic (window; ``boxcar`` for rectangular)."""
    fft: int = FFT
    """Points (n_fft), even, at least ``window``, which is centred in it; at 512 some of 128 filters would be empty."""
    filters: int = COEFFICIENTS
    """Mel filters (n_mels)."""
    mel: Formula = "htk"
    """The mel formula (htk)."""
    norm: Norm | None = None
    """Triangles of height 1, or of area 1 (slaney)."""
    lowest: float = 0.0
    """Hz (fmin)."""
    highest: float | None = None
    """Hz (fmax); None is half the rate."""
    floor: float = 1e-10
    """Minimum power before the logarithm (amin); 0 dB is 1 (ref)."""
    coefficients: int = COEFFICIENTS
    """Number of coefficients kept (n_mfcc)."""

    def __post_init__(self) -> None:
        wrong = [
            text
            for holds, text in (
                (self.rate > 0 and self.window > 0 and self.hop > 0, "rate, window and hop must be positive"),
                (self.fft >= self.window, f"an FFT of {self.fft} is shorter than the window of {self.window}"),
                (self.fft % 2 == 0, f"an FFT of {self.fft} is odd: use an even size"),
                (self.window_type in WINDOWS, f"window_type is one of {', '.join(WINDOWS)}"),
                (self.mel in ("htk", "slaney"), "mel is htk or slaney"),
                (self.norm in (None, "slaney"), "norm is slaney or None"),
                (
                    self.lowest >= 0.0 and self.lowest + 1.0 <= self.top <= self.rate / 2,
                    f"lowest and highest must lie within 0 and {self.rate / 2:g} Hz, 1 Hz apart or more",
                ),
                (self.floor > 0.0, "floor must be positive"),
                (1 <= self.coefficients <= self.filters, "coefficients must be within 1 and filters"),
            )
            if not holds
        ]
        if wrong:
            raise ValueError("; ".join(wrong))

    @property
    def top(self) -> float:
        """The end of the last triangle, in Hz."""
        return self.rate / 2 if self.highest is None else self.highest


WINDOWS: dict[str, Callable[..., Tensor]] = {
    "hamming": torch.hamming_window,
    "hann": torch.hann_window,
    "rectangular": lambda size, periodic, dtype: torch.ones(size, dtype=dtype),
}


def cosine_basis(coefficients: int, filters: int) -> Tensor:
    """Return the first rows of the orthonormal DCT-II, coefficients × filters, float64."""
    rows, positions = torch.arange(coefficients, dtype=torch.float64), torch.arange(filters, dtype=torch.float64)
    basis = 2.0 * torch.cos(math.pi / filters * (positions[None] + 0.5) * rows[:, None])
    basis *= math.sqrt(0.5 / filters)
    basis[0] *= math.sqrt(0.5)
    return basis


class MFCC(nn.Module):
    """Computes coefficients of batches of clips. The filters are buffers, so it moves between devices like any module.

    Frame t is centred on sample t · hop of the zero-padded clip. Windows, FFT, logarithm and DCT are float64, filters and results
    float32. Coefficients are not normalised over a clip: the networks contain the mean and deviation of the training set.
    Buffers keep their dtype under ``half()`` and the like, and autocast does not apply. No gradient flows through it.

    Raises:
        ValueError: some mel filters would be empty (:func:`components.models.mel.mel_filters`).
    """

    window: Tensor
    mel: Tensor
    cosines: Tensor

    def __init__(self, settings: MfccSettings | None = None) -> None:
        super().__init__()
        self.settings = chosen = settings or MfccSettings()
        filters = mel_filters(
            chosen.filters,
            fft=chosen.fft,
            rate=chosen.rate,
            lowest=chosen.lowest,
            highest=chosen.top,
            formula=chosen.mel,
            norm=chosen.norm,
        )
        self.bands = _bands(filters)
        # All terms of a filter's sum are positive, so float32 has a relative error of 1e-7: 1e-6 dB.
        self._exact = {
            "window": WINDOWS[chosen.window_type](chosen.window, periodic=True, dtype=torch.float64),
            "mel": filters.T.contiguous().float(),
            "cosines": cosine_basis(chosen.coefficients, chosen.filters),
        }
        for name, tensor in self._exact.items():
            self.register_buffer(name, tensor, persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> MFCC:
        """Apply only changes of device: a filter bank in half precision would give other coefficients."""
        device = fn(torch.zeros(0)).device
        for name, tensor in self._exact.items():
            setattr(self, name, tensor.to(device))
        return self

    def frames(self, samples: Tensor) -> Tensor:
        """Return the number of frames of clips with ``samples`` samples, elementwise."""
        return 1 + samples // self.settings.hop

    def excerpt(self, first: int, count: int) -> tuple[int, int, int]:
        """Return the samples that ``count`` frames from frame ``first`` on depend on, so that a long clip need not be read whole.

        Returns:
            The first sample, the one after the last, and how many frames of these samples precede the requested ones.
        """
        hop, window = self.settings.hop, self.settings.window
        # An odd window begins one sample more than half its length before its centre.
        before = min(first, math.ceil((window // 2 + 1) / hop))
        return (first - before) * hop, (first + count - 1) * hop + window, before

    @torch.no_grad()
    def forward(self, samples: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the coefficients of a batch.

        Args:
            samples: B × n, float, -1..1, on the module's device.
            lengths: B, the samples of each clip; later ones have no influence. None: all clips have n.

        Returns:
            B × coefficients × frames, float32, zero after a clip's own frames; and B, the frames of each. A clip's coefficients
            do not depend on its batch, up to float32 rounding.

        Raises:
            ValueError: ``samples`` is not such a batch, or a length is negative or above n.
        """
        if samples.ndim != 2 or not samples.is_floating_point():
            raise ValueError(f"samples must be clips × samples of floats, not {tuple(samples.shape)} of {samples.dtype}")
        batch, longest = samples.shape
        count = int(self.frames(torch.tensor(longest)))
        has_lengths = lengths is not None
        if lengths is None:
            lengths = torch.full((batch,), longest, device=samples.device)
        elif lengths.shape != (batch,) or (batch and not 0 <= int(lengths.min()) <= int(lengths.max()) <= longest):
            raise ValueError(f"lengths must be {batch} numbers within 0 and {longest}")
        lengths = lengths.to(samples.device, torch.long)
        frames = self.frames(lengths)
        with torch.autocast(samples.device.type, enabled=False):
            coefficients = samples.new_empty((batch, self.settings.coefficients, count), dtype=torch.float32)
            at_once = FRAMES_AT_ONCE.get(samples.device.type, 65_536)
            clips = max(1, at_once // max(1, count))
            # The zeros after every window are allocated once; later only the windows are written.
            padded = samples.new_zeros((min(max(at_once, clips), batch * count), self.settings.fft), dtype=torch.float64)
            for first in range(0, batch if count else 0, clips):
                part = slice(first, first + clips)
                windows = self._windows(samples[part], lengths[part] if has_lengths else None, count)
                coefficients[part] = self.cosines @ self._decibel(windows, padded).transpose(1, 2)
            if has_lengths:
                behind = torch.arange(count, device=samples.device)[None] >= frames[:, None]
                coefficients.masked_fill_(behind[:, None], 0.0)
            return coefficients, frames

    def _windows(self, samples: Tensor, lengths: Tensor | None, frames: int) -> Tensor:
        """Return clips × frames × window: each frame's samples, a view of the zero-padded clips."""
        chosen, longest = self.settings, samples.shape[1]
        samples = samples.double()
        if lengths is not None:
            samples = samples.masked_fill(torch.arange(longest, device=samples.device)[None] >= lengths[:, None], 0.0)
        start = (chosen.fft - chosen.window) // 2 - chosen.fft // 2
        end = start + max(0, frames - 1) * chosen.hop + chosen.window
        return pad(samples, (-start, end - longest)).unfold(1, chosen.window, chosen.hop)[:, :frames]

    def _decibel(self, windows: Tensor, padded: Tensor) -> Tensor:
        """Return the filters' outputs in dB, clips × frames × filters.

        Args:
            windows: one clip, or several with at most as many frames together as ``padded`` has rows.
            padded: rows × fft, zero after the window.
        """
        clips, frames, width = windows.shape
        step = max(1, len(padded) // clips)
        power = self.mel.new_empty((clips, frames, len(self.mel)))
        for first in range(0, frames, step):
            part = windows[:, first : first + step]
            rows = padded[: clips * part.shape[1]]
            # The window is at the start of the FFT instead of its middle: only phases differ.
            torch.mul(part, self.window, out=rows[:, :width].unflatten(0, part.shape[:2]))
            spectrum = torch.fft.rfft(rows).to(torch.complex64).unflatten(0, part.shape[:2])
            torch.square(spectrum.real, out=power[:, first : first + step]).addcmul_(spectrum.imag, spectrum.imag)
        power = power.flatten(0, 1)
        outputs = self.mel.new_empty((clips * frames, self.settings.filters))
        for filters, bins in self.bands:
            torch.mm(power[:, bins], self.mel[bins, filters], out=outputs[:, filters])
        decibel = outputs.double().clamp_min_(self.settings.floor).log10_().mul_(10.0)
        return decibel.view(clips, frames, -1)


def _bands(filters: Tensor) -> list[tuple[slice, slice]]:
    """Return blocks of filters with the range of bins that they weight."""
    size = max(1, math.ceil(len(filters) / BANDS))
    bands = []
    for first in range(0, len(filters), size):
        used_bins = filters[first : first + size].any(dim=0).nonzero()
        bands.append((slice(first, min(first + size, len(filters))), slice(int(used_bins[0]), int(used_bins[-1]) + 1)))
    return bands
