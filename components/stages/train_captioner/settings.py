"""What is set about training a captioner: params.yaml's blocks, typed."""

from __future__ import annotations

from typing import Literal

from components.core.params import Settings
from components.training.settings import Optimisation


class SelfCritical(Settings):
    """Self-critical training on CIDEr-D, after cross-entropy (Rennie et al. 2017)."""

    epochs: int
    """Passes over the training pictures; 0 leaves the phase out."""
    batch: int
    """Pictures a step, over all devices together."""
    samples: int
    """Captions drawn for each picture."""
    baseline: Literal["greedy", "mean"]
    """What a sample's reward is held to: the greedy caption's, or the mean of the picture's other samples'."""
    learning_rate: float
    """Constant; the optimiser begins anew."""


class NetworkSettings(Optimisation):
    """A captioning network and its training."""

    width: int
    """Of word vectors and hidden layers."""
    heads: int
    """Attention heads."""
    layers: int
    """Encoder and decoder layers each; the recurrent networks have one whatever this says."""
    feedforward: int
    """Of the transformers' hidden layers between two attentions."""
    pre_norm: bool
    """Transformers: norms before each part, steadier without a warm-up; false: after each, as published."""
    dropout: float
    """Share of activations dropped while training."""
    label_smoothing: float
    """Probability spread over all words; 0 is plain maximum likelihood."""
    self_critical: SelfCritical
    """The second phase."""


class CaptionerSettings(NetworkSettings):
    """All that a job is told: the network's settings, and those that all networks on a set share."""

    longest: int
    """Words of a caption at most."""
    min_count: int
    """Words rarer than this in the training captions are unknown."""
