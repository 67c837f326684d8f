"""Captions word by word without a beam: the likeliest word each time, or words by chance for self-critical training.

Probabilities are renormalised over the words that may be written, in single precision at least.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import torch
from torch import Tensor

from components.models.captioners.interface import CaptionNetwork
from components.models.vocabulary import END, NEVER_WRITTEN, PAD, START


class Sampled(NamedTuple):
    """N captions of at most T words, T being the network's longest; rows of one picture beside each other."""

    words: Tensor
    """N × T: words, END where it was written, then PAD."""
    log_probabilities: Tensor
    """N × T, of each word and of END; 0 after it."""

    def captions(self) -> list[list[int]]:
        """The words of each row, without END."""
        return [[word for word in row if word not in (END, PAD)] for row in self.words.tolist()]


def require_eval_mode(network: CaptionNetwork) -> None:
    """Raise ValueError for a network in training mode, whose dropout makes captions a matter of chance."""
    if network.training:
        raise ValueError("the network is in training mode, where dropout changes what it writes: call eval() first")


def device_of(network: CaptionNetwork) -> torch.device:
    """Where the network's weights are."""
    return next(itertools.chain(network.parameters(), network.buffers())).device


def forbidden_words(never: Collection[int], device: torch.device) -> Tensor:
    """``never`` as :func:`mask_scores` takes it."""
    if PAD not in never:
        raise ValueError("PAD may not be written: it fills rows up")
    return torch.tensor(sorted(never), dtype=torch.long, device=device)


def mask_scores(scores: Tensor, never: Tensor) -> Tensor:
    """Scores (… × V) in single precision at least, minus infinity for what may not be written; the tensor itself is changed."""
    if scores.dtype in (torch.float16, torch.bfloat16):
        scores = scores.float()
    return scores.index_fill_(-1, never, float("-inf"))


@torch.no_grad()
def sample(
    network: CaptionNetwork,
    memory: Any,
    pictures: int,
    rows: int = 1,
    generator: torch.Generator | None = None,
    *,
    never: Collection[int] = NEVER_WRITTEN,
) -> Sampled:
    """``rows`` captions for each of the memory's ``pictures``, each word drawn by its probability.

    No gradient goes through this; :func:`log_probabilities` of the same words has one. A network in training mode
    draws from what its dropout leaves.

    Args:
        generator: on the network's device; equal generators draw equal captions.
    """
    return _written(
        network, memory, pictures, rows, never, lambda scores: torch.multinomial(scores.softmax(1), 1, generator=generator)[:, 0]
    )


@torch.no_grad()
def greedy(network: CaptionNetwork, memory: Any, pictures: int, *, never: Collection[int] = NEVER_WRITTEN) -> Sampled:
    """The likeliest word each time, the lowest-numbered of equals, for each of the memory's ``pictures``."""
    return _written(network, memory, pictures, 1, never, lambda scores: scores.argmax(1))


def log_probabilities(network: CaptionNetwork, memory: Any, words: Tensor, *, never: Collection[int] = NEVER_WRITTEN) -> Tensor:
    """Log-probabilities of words that were sampled (N × T, as :class:`Sampled` has them), with gradients; 0 at PAD.

    All words at once: one pass with no cache, in place of T steps whose every state a gradient would have to keep.
    """
    before = torch.cat([torch.full_like(words[:, :1], START), words[:, :-1]], dim=1)
    scores = network.decode(memory, before)
    # Not in place: what made the scores may need them for its gradient.
    scores = mask_scores(scores.clone(), forbidden_words(never, scores.device)).log_softmax(2)
    padding = words == PAD
    found = scores.gather(2, words.masked_fill(padding, END)[:, :, None])[:, :, 0]
    return found.masked_fill(padding, 0.0)


def _written(
    network: CaptionNetwork,
    memory: Any,
    pictures: int,
    rows: int,
    never: Collection[int],
    choose: Callable[[Tensor], Tensor],
) -> Sampled:
    device, count, longest = device_of(network), pictures * rows, network.config.longest
    signs, state = forbidden_words(never, device), network.start(memory, rows)
    newest = torch.full((count,), START, device=device)
    ended = torch.zeros(count, dtype=torch.bool, device=device)
    words = torch.full((count, longest), PAD, device=device)
    found = torch.zeros(count, longest, device=device)
    for place in range(longest):
        scores = mask_scores(network.step(state, newest), signs)
        newest = choose(scores)
        probability = scores.gather(1, newest[:, None])[:, 0] - scores.logsumexp(1)
        found = found.to(probability.dtype)
        found[:, place] = probability.masked_fill(ended, 0.0)
        words[:, place] = newest.masked_fill(ended, PAD)
        ended |= newest == END
        if bool(ended.all()):
            break
    return Sampled(words, found)
