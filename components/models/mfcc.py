"""128 mel-frequency cepstral coefficients in plain torch (CSC, section 4.1: 16 kHz, 20 ms windows, 10 ms hop).

The paper names no FFT size, mel formula, range or normalisation; :class:`MfccSettings` names every such choice and its default.
At equal settings librosa 0.11 gives the same (``tests/models/test_mfcc.py`` holds them within 1e-4).
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
"""Frames worked on together: so many that their spectra stay in a processor's cache; elsewhere 65,536."""
BANDS = 8
"""A bank is a band matrix: it is multiplied in so many blocks of filters, each over its own bins only."""


@dataclass(frozen=True)
class MfccSettings:
    """Every choice that coefficients depend on. Raises ValueError for what cannot be.

    Named as in the field; librosa's name in parentheses where it is another.
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
    """Points (n_fft), even, at least ``window``, which stands in the middle; at 512 some of 128 filters would be empty."""
    center: bool = True
    """Frame t is centred on sample t · hop of a signal continued by zeros (pad_mode constant); else frame 0 begins with it."""
    pre_emphasis: float = 0.0
    """a of x[t] - a · x[t-1], x[-1] = 0; 0 is none."""
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
    """Least power before the logarithm (amin), with 1 as 0 dB (ref)."""
    top_db: float | None = None
    """dB below a clip's loudest output that everything is raised to; None is not at all."""
    coefficients: int = COEFFICIENTS
    """How many are kept (n_mfcc)."""
    dct_norm: Literal["ortho"] | None = "ortho"
    """The DCT-II orthonormal, or scipy's plain one, twice the sum of cosines (norm)."""
    normalise: Literal["cmn", "cmvn"] | None = None
    """Of each clip's coefficients over its frames: mean removed (cmn), and divided by the deviation (cmvn). The networks here
    are given neither: they carry the mean and deviation of the training set."""
    precision: Literal["double", "single"] = "double"
    """Of windows and FFT; logarithm and DCT are always double, filters and results single. Single is faster by a quarter, and off
    by 1e-4 in the median clip of people's speech and by up to 2e-3, where a band is quiet beside the loudest of its frame."""

    def __post_init__(self) -> None:
        wrong = [
            text
            for holds, text in (
                (self.rate > 0 and self.window > 0 and self.hop > 0, "rate, window and hop must be positive"),
                (self.fft >= self.window, f"an FFT of {self.fft} is shorter than the window of {self.window}"),
                (self.fft % 2 == 0, f"an FFT of {self.fft} has no middle: take an even one"),
                (self.window_type in WINDOWS, f"window_type is one of {', '.join(WINDOWS)}"),
                (0.0 <= self.pre_emphasis <= 1.0, "pre_emphasis lies within 0 and 1"),
                (self.mel in ("htk", "slaney"), "mel is htk or slaney"),
                (self.norm in (None, "slaney"), "norm is slaney or None"),
                (
                    self.lowest >= 0.0 and self.lowest + 1.0 <= self.top <= self.rate / 2,
                    f"lowest and highest must lie within 0 and {self.rate / 2:g} Hz, 1 Hz apart or more",
                ),
                (self.floor > 0.0, "floor must be positive"),
                (self.top_db is None or self.top_db >= 0.0, "top_db must not be negative"),
                (1 <= self.coefficients <= self.filters, "coefficients lies within 1 and filters"),
                (self.dct_norm in (None, "ortho"), "dct_norm is ortho or None"),
                (self.normalise in (None, "cmn", "cmvn"), "normalise is cmn, cmvn or None"),
                (self.precision in ("double", "single"), "precision is double or single"),
            )
            if not holds
        ]
        if wrong:
            raise ValueError("; ".join(wrong))

    @property
    def top(self) -> float:
        """Hz, where the last triangle ends."""
        return self.rate / 2 if self.highest is None else self.highest


WINDOWS: dict[str, Callable[..., Tensor]] = {
    "hamming": torch.hamming_window,
    "hann": torch.hann_window,
    "rectangular": lambda size, periodic, dtype: torch.ones(size, dtype=dtype),
}


def cosine_basis(coefficients: int, filters: int, norm: Literal["ortho"] | None) -> Tensor:
    """The first rows of the DCT-II, coefficients × filters, double precision."""
    rows, places = torch.arange(coefficients, dtype=torch.float64), torch.arange(filters, dtype=torch.float64)
    basis = 2.0 * torch.cos(math.pi / filters * (places[None] + 0.5) * rows[:, None])
    if norm == "ortho":
        basis *= math.sqrt(0.5 / filters)
        basis[0] *= math.sqrt(0.5)
    return basis


class MFCC(nn.Module):
    """Batches of clips to their coefficients; its filters are buffers, so it moves between devices like any module.

    They keep their precision under ``half()`` and the like, and autocast does not reach what is computed. No gradient
    flows through it.

    Raises:
        ValueError: some mel filters would be empty (:func:`components.models.mel.mel_filters`).
    """

    window: Tensor
    mel: Tensor
    cosines: Tensor

    def __init__(self, settings: MfccSettings | None = None) -> None:
        super().__init__()
        self.settings = chosen = settings or MfccSettings()
        self.number = torch.float64 if chosen.precision == "double" else torch.float32
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
        # All terms of a filter's sum are positive, so single precision costs it 1e-7 of itself: 1e-6 dB.
        self._exact = {
            "window": WINDOWS[chosen.window_type](chosen.window, periodic=True, dtype=torch.float64).to(self.number),
            "mel": filters.T.contiguous().float(),
            "cosines": cosine_basis(chosen.coefficients, chosen.filters, chosen.dct_norm),
        }
        for name, tensor in self._exact.items():
            self.register_buffer(name, tensor, persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> MFCC:
        """Only the device is followed: a filter bank of half precision would be another one."""
        device = fn(torch.zeros(0)).device
        for name, tensor in self._exact.items():
            setattr(self, name, tensor.to(device))
        return self

    def frames(self, samples: Tensor) -> Tensor:
        """How many frames clips of ``samples`` samples have, elementwise."""
        if self.settings.center:
            return 1 + samples // self.settings.hop
        return (1 + (samples - self.settings.fft).div(self.settings.hop, rounding_mode="floor")).clamp_min(0)

    def excerpt(self, first: int, count: int) -> tuple[int, int, int] | None:
        """Which samples ``count`` frames from the number ``first`` on are computed of, so that a long clip need not be whole.

        Returns:
            The first sample, the one behind the last, and how many frames of these samples alone come before the ones wanted;
            None where every frame depends on the whole clip, or frames are not centred.
        """
        chosen = self.settings
        if not chosen.center or chosen.top_db is not None or chosen.normalise is not None:
            return None
        # One sample more: pre-emphasis looks back.
        before = min(first, -(-(chosen.window // 2 + 1) // chosen.hop))
        return (first - before) * chosen.hop, (first + count - 1) * chosen.hop + chosen.window, before

    @torch.no_grad()
    def forward(self, samples: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The coefficients of a batch.

        Args:
            samples: B × n, float, -1..1, on the module's device.
            lengths: B, the samples of each clip; what stands behind them has no influence. None: all are n long.

        Returns:
            B × coefficients × frames, float32, zero behind a clip's own frames; and B, the frames of each. A clip's are the
            same as alone, to the rounding of float32.

        Raises:
            ValueError: the samples are not such a batch, or a length is negative or above n.
        """
        if samples.ndim != 2 or not samples.is_floating_point():
            raise ValueError(f"samples must be clips × samples of floats, not {tuple(samples.shape)} of {samples.dtype}")
        batch, longest = samples.shape
        count = int(self.frames(torch.tensor(longest)))
        ragged = lengths is not None
        if lengths is None:
            lengths = torch.full((batch,), longest, device=samples.device)
        elif lengths.shape != (batch,) or (batch and not 0 <= int(lengths.min()) <= int(lengths.max()) <= longest):
            raise ValueError(f"lengths must be {batch} numbers within 0 and {longest}")
        lengths = lengths.to(samples.device, torch.long)
        frames = self.frames(lengths)
        behind = torch.arange(count, device=samples.device)[None] >= frames[:, None]
        with torch.autocast(samples.device.type, enabled=False):
            found = samples.new_empty((batch, self.settings.coefficients, count), dtype=torch.float32)
            at_once = FRAMES_AT_ONCE.get(samples.device.type, 65_536)
            clips = max(1, at_once // max(1, count))
            # Zeros behind every window, made once: all that is written later is the windows.
            padded = samples.new_zeros((min(max(at_once, clips), batch * count), self.settings.fft), dtype=self.number)
            for first in range(0, batch if count else 0, clips):
                some = slice(first, first + clips)
                windows = self._windows(samples[some], lengths[some] if ragged else None, count)
                decibel = self._decibel(windows, padded)
                if self.settings.top_db is not None:
                    loudest = decibel.masked_fill(behind[some, :, None], -math.inf).amax(dim=(1, 2), keepdim=True)
                    decibel = decibel.maximum(loudest - self.settings.top_db)
                found[some] = self.cosines @ decibel.transpose(1, 2)
            if ragged:
                found.masked_fill_(behind[:, None], 0.0)
            return self._normalised(found, frames, behind), frames

    def _windows(self, samples: Tensor, lengths: Tensor | None, frames: int) -> Tensor:
        """Clips × frames × window: what each frame sees, a view of the clips with zeros about them."""
        chosen, longest = self.settings, samples.shape[1]
        samples = samples.to(self.number)
        if chosen.pre_emphasis:
            samples = samples - chosen.pre_emphasis * pad(samples, (1, 0))[:, :longest]
        if lengths is not None:
            samples = samples.masked_fill(torch.arange(longest, device=samples.device)[None] >= lengths[:, None], 0.0)
        start = (chosen.fft - chosen.window) // 2 - (chosen.fft // 2 if chosen.center else 0)
        end = start + max(0, frames - 1) * chosen.hop + chosen.window
        return pad(samples, (-start, end - longest)).unfold(1, chosen.window, chosen.hop)[:, :frames]

    def _decibel(self, windows: Tensor, padded: Tensor) -> Tensor:
        """The filters' outputs, clips × frames × filters.

        Args:
            windows: one clip, or several that have no more frames together than ``padded`` has rows.
            padded: rows × fft, zero behind the window.
        """
        clips, frames, width = windows.shape
        step = max(1, len(padded) // clips)
        power = self.mel.new_empty((clips, frames, len(self.mel)))
        for first in range(0, frames, step):
            some = windows[:, first : first + step]
            rows = padded[: clips * some.shape[1]]
            # A window begins its FFT instead of standing in the middle: only phases differ.
            torch.mul(some, self.window, out=rows[:, :width].unflatten(0, some.shape[:2]))
            spectrum = torch.fft.rfft(rows).to(torch.complex64).unflatten(0, some.shape[:2])
            torch.square(spectrum.real, out=power[:, first : first + step]).addcmul_(spectrum.imag, spectrum.imag)
        power = power.flatten(0, 1)
        found = self.mel.new_empty((clips * frames, self.settings.filters))
        for filters, bins in self.bands:
            torch.mm(power[:, bins], self.mel[bins, filters], out=found[:, filters])
        decibel = found.double().clamp_min_(self.settings.floor).log10_().mul_(10.0)
        return decibel.view(clips, frames, -1)

    def _normalised(self, found: Tensor, frames: Tensor, behind: Tensor) -> Tensor:
        if self.settings.normalise is None:
            return found
        count = frames.clamp_min(1)[:, None, None]
        found = (found - found.sum(2, keepdim=True) / count).masked_fill_(behind[:, None], 0.0)
        if self.settings.normalise == "cmn":
            return found
        return found / (found.square().sum(2, keepdim=True) / count).sqrt().clamp_min(1e-3)


def _bands(filters: Tensor) -> list[tuple[slice, slice]]:
    """Blocks of filters and the bins that they weigh."""
    size = max(1, math.ceil(len(filters) / BANDS))
    bands = []
    for first in range(0, len(filters), size):
        held = filters[first : first + size].any(dim=0).nonzero()
        bands.append((slice(first, min(first + size, len(filters))), slice(int(held[0]), int(held[-1]) + 1)))
    return bands
