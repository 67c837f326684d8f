"""Self-critical sequence training (Rennie et al. 2017): reward whole captions that the network itself has drawn.

The reward is any number a caption (CIDEr-D, as PCV's section 5.4 has it); it comes as a tensor, and nothing is
differentiated through it. The gradient of the expected reward is estimated by REINFORCE,

    ∇ E[r(w)] ≈ (r(w) − b) Σ_t ∇ log p(w_t | w_<t),      w drawn from the network        (sections 3 and 3.1)

where a baseline b that does not depend on w takes variance away and no bias in. Self-critical names b = the reward of
the network's own greedy caption; :func:`mean_of_others` is the other known choice. One step of training:

    with without_dropout(network):
        memory = network.encode(features)
        words = sample(network, memory, len(features), k).words     without gradient, word by word with the cache
        found = log_probabilities(network, memory, words)           with gradient, in one pass
    loss = self_critical_loss(found, words, rewards, baseline)

The draws have to come from what is differentiated, and dropout would draw another network for each pass; so there is
none in either (an open choice: the paper does not speak of it). Drawing and scoring are :mod:`components.models.sampling`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from components.models.vocabulary import END, PAD


def scored_positions(words: Tensor) -> Tensor:
    """Which of ``words`` (N × T, drawn: words, END, anything) count: up to and including the first END, and no PAD."""
    ends = words == END
    return ((ends.cumsum(1) - ends.long()) == 0) & (words != PAD)


def self_critical_loss(log_probabilities: Tensor, words: Tensor, rewards: Tensor, baseline: Tensor) -> Tensor:
    """−(r − b) Σ_t log p(w_t), the mean over N captions: a scalar whose gradient is that of −E[r].

    Words are summed and not averaged: an average over a batch's words, which some programs take, weighs a caption by
    how long the others are; by the mean length it differs from this one in scale.

    Args:
        log_probabilities: N × T, of each of ``words`` given those before it, with gradient.
        words: N × T, drawn from the network; what comes after the first END has no influence, whatever it holds.
        rewards: N.
        baseline: N, from the same pictures.

    Raises:
        ValueError: shapes that do not belong together, or a reward or baseline that is no number.
    """
    if log_probabilities.shape != words.shape or words.dim() != 2 or not len(words):
        raise ValueError(f"log-probabilities {tuple(log_probabilities.shape)} do not belong to words {tuple(words.shape)}")
    for name, values in (("rewards", rewards), ("baseline", baseline)):
        if values.shape != words.shape[:1]:
            raise ValueError(f"there are {len(words)} captions, but the {name} have the shape {tuple(values.shape)}")
        if not bool(values.isfinite().all()):
            raise ValueError(f"the {name} of caption {int((~values.isfinite()).nonzero()[0])} is no finite number")
    advantage = (rewards - baseline).detach().to(log_probabilities)
    # Filled and not multiplied: behind END may stand a PAD, whose log-probability is -inf, and 0 · inf is no number.
    return -(advantage * log_probabilities.masked_fill(~scored_positions(words), 0.0).sum(1)).mean()


def mean_of_others(rewards: Tensor, rows: int) -> Tensor:
    """Another baseline (N): the mean reward of a picture's other captions, which costs no greedy decoding.

    Args:
        rewards: N = B · ``rows``, those of one picture beside each other.

    Raises:
        ValueError: fewer than two captions a picture, or a number that is not shared equally.
    """
    if rows < 2 or len(rewards) % rows:
        raise ValueError(f"{len(rewards)} rewards, {rows} a picture: the mean of the others needs two or more for each picture")
    own = rewards.unflatten(0, (-1, rows))
    return ((own.sum(1, keepdim=True) - own) / (rows - 1)).flatten()


@contextmanager
def without_dropout(network: nn.Module) -> Iterator[None]:
    """The network as in evaluation, yet differentiable: within, draws come from the very distribution that is scored.

    Recurrent layers are in training mode, without which cuDNN keeps nothing for their gradients; those of our networks
    have no dropout of their own.
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
