"""The states of Whisper's frozen encoder over one recording: what a pretrained ear hears, for speech–image retrieval.

Whisper base (Radford et al. 2022) as in :mod:`~components.speech.recognition.recognizer`, without its decoder. Its input is not
padded to 30 s, which takes a twenty-fifth of the time for a caption; the states differ a little from padded ones, so there is one
form only. Four neighbouring states are averaged: a state of the result stands for 80 ms. Not in scope: what is learned from them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from components.speech.audio.files import Samples
from components.speech.recognition.recognizer import FRAMES, HOP, RECOGNISERS, load_model, log_mel

ENCODER = RECOGNISERS[-1]
"""Whisper base."""
SILENT_FRAMES = 20
"""Frames of silence after a recording, without which its last states would be odd."""
AVERAGED = 4
"""States of 20 ms that are averaged to one."""
LONGEST = FRAMES - SILENT_FRAMES
"""Frames of 10 ms that are read: the network's input has 30 s."""
_SCALE = np.dtype("<f2")


class EncoderStates:
    """Annotator: float32 samples, mono at 16 kHz → packed states of the first 29.8 s, one for 80 ms (:func:`unpack`)."""

    name = "whisper-states"
    version = 1
    model = ENCODER.model
    codec = "compressed-array"

    def compute(self, payload: Samples) -> NDArray[np.int8]:
        """Return the states of one recording; raise HearsightError when the weights cannot be loaded."""
        model = load_model(ENCODER)
        # Imported on use: an optional extra.
        import ctranslate2

        frames = min(len(payload) // HOP, LONGEST)
        # Two frames make a state.
        read = frames + frames % 2 + SILENT_FRAMES
        samples = np.pad(payload[: frames * HOP], (0, (read - frames) * HOP))
        mel = np.ascontiguousarray(log_mel(samples)[:, :read])
        states = np.array(model.encode(ctranslate2.StorageView.from_array(mel[None])), dtype=np.float32)[0]
        return pack(average(states[: max(1, frames // 2)]))


def average(states: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the means of :data:`AVERAGED` states each, n × C."""
    starts = np.arange(0, len(states), AVERAGED)
    sizes = np.diff(np.append(starts, len(states))).astype(np.float32)
    averaged: NDArray[np.float32] = (np.add.reduceat(states, starts) / sizes[:, None]).astype(np.float32, copy=False)
    return averaged


def pack(states: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return n states × C as n × (2 + C) bytes: a scale in half precision and the values in units of it, -127..127."""
    scale = (np.abs(states).max(1, keepdims=True) / 127.0).astype(_SCALE)
    # A scale is rounded first, so that values are in units of the stored one.
    units = states / np.maximum(scale.astype(np.float32), np.finfo(_SCALE).smallest_subnormal)
    return np.concatenate([scale.view(np.int8), np.rint(units).clip(-127, 127).astype(np.int8)], axis=1)


def unpack(packed: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the states of :func:`pack`, n × C."""
    scale = np.ascontiguousarray(packed[:, : _SCALE.itemsize]).view(_SCALE)
    states: NDArray[np.float32] = packed[:, _SCALE.itemsize :].astype(np.float32) * scale.astype(np.float32)
    return states
