"""Self-critical sequence training (Rennie et al. 2017): rewards for whole captions sampled from the network.

The reward is any number a caption (CIDEr-D in PCV §5.4), given as a tensor and not differentiated. The gradient of the expected
reward is estimated by REINFORCE,

    ∇ E[r(w)] ≈ (r(w) − b) Σ_t ∇ log p(w_t | w_<t),      w drawn from the network        (sections 3 and 3.1)

where a baseline b that does not depend on w reduces variance without bias. Self-critical training uses b = the reward of the
network's greedy caption; :func:`mean_of_others` is the other known choice. One training step:

    with without_dropout(network):
        memory = network.encode(features)
        words = sample(network, memory, len(features), k).words     without gradient, word by word with the cache
        scores = log_probabilities(network, memory, words)          with gradient, in one pass
    loss = self_critical_loss(scores, words, rewards, baseline)

Samples must come from the network that is differentiated, but dropout draws another network in each pass; so both passes run
without it (the paper leaves this open). :mod:`components.models.sampling` samples and scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from components.models.vocabulary import END, PAD


def scored_positions(words: Tensor) -> Tensor:
    """Return which of ``words`` (N × T, sampled: words, END, anything) count: up to and including the first END, without PAD."""
    ends = words == END
    return ((ends.cumsum(1) - ends.long()) == 0) & (words != PAD)


def self_critical_loss(log_probabilities: Tensor, words: Tensor, rewards: Tensor, baseline: Tensor) -> Tensor:
    """Return −(r − b) Σ_t log p(w_t), the mean over N captions: a scalar whose gradient is that of −E[r].

    Log-probabilities are summed, not averaged: an average over a batch's words, as in some programs, weights a caption by the
    length of the others; it differs from this loss by the factor of the mean length.

    Args:
        log_probabilities: N × T, of each of ``words`` given those before it, with gradient.
        words: N × T, sampled from the network; positions after the first END have no influence.
        rewards: N.
        baseline: N, from the same images.

    Raises:
        ValueError: the shapes do not match, or a reward or baseline is not finite.
    """
    if log_probabilities.shape != words.shape or words.dim() != 2 or not len(words):
        raise ValueError(f"log-probabilities {tuple(log_probabilities.shape)} do not match words {tuple(words.shape)}")
    for name, values in (("rewards", rewards), ("baseline", baseline)):
        if values.shape != words.shape[:1]:
            raise ValueError(f"the {name} of {len(words)} captions have the shape {tuple(values.shape)}")
        if not bool(values.isfinite().all()):
            raise ValueError(f"the {name} of caption {int((~values.isfinite()).nonzero()[0])} are not finite")
    advantage = (rewards - baseline).detach().to(log_probabilities)
    # Filled, not multiplied: PAD after END has a log-probability of -inf, and 0 · inf is NaN.
    return -(advantage * log_probabilities.masked_fill(~scored_positions(words), 0.0).sum(1)).mean()


def mean_of_others(rewards: Tensor, rows: int) -> Tensor:
    """Return a baseline (N): the mean reward of an image's other captions, without greedy decoding.

    Args:
        rewards: N = B · ``rows``, those of one image adjacent.

    Raises:
        ValueError: there are fewer than two captions an image, or N is not a multiple of ``rows``.
    """
    if rows < 2 or len(rewards) % rows:
        raise ValueError(f"{len(rewards)} rewards, {rows} an image: the mean of the others needs at least two for each image")
    by_image = rewards.unflatten(0, (-1, rows))
    return ((by_image.sum(1, keepdim=True) - by_image) / (rows - 1)).flatten()


@contextmanager
def without_dropout(network: nn.Module) -> Iterator[None]:
    """Put the network in eval mode, but differentiable, so that samples come from the distribution that is scored.

    Recurrent layers stay in training mode, which cuDNN needs for gradients; those of our networks have no dropout of their own.
    """
    before = {module: module.training for module in network.modules()}
    try:
        network.eval()
        for module in before:
            if isinstance(module, nn.RNNBase):
                module.train()
        yield
    finally:
        for module, training in before.items():
            module.training = training
