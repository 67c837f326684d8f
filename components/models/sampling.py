"""Decoding without a beam: greedy, or sampled for self-critical training.

Probabilities are renormalised over the words that may be written, in float32 at least.
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
    """N captions of at most T words, T being the network's maximum; rows of one image are adjacent."""

    words: Tensor
    """N × T: words, END where it was written, then PAD."""
    log_probabilities: Tensor
    """N × T, of each word and of END; 0 after END."""

    def captions(self) -> list[list[int]]:
        """Return the words of each row, without END."""
        return [[word for word in row if word not in (END, PAD)] for row in self.words.tolist()]


def require_eval_mode(network: CaptionNetwork) -> None:
    """Raise ValueError if the network is in training mode, where dropout makes captions random."""
    if network.training:
        raise ValueError("the network is in training mode, where dropout makes captions random: call eval() first")


def forbidden_words(never: Collection[int], device: torch.device) -> Tensor:
    """Return ``never`` as a tensor for :func:`mask_scores`."""
    if PAD not in never:
        raise ValueError("'never' must contain PAD, which fills up rows")
    return torch.tensor(sorted(never), dtype=torch.long, device=device)


def mask_scores(scores: Tensor, never: Tensor) -> Tensor:
    """Set scores (… × V) of forbidden words to minus infinity, in float32 at least; changes the tensor in place."""
    if scores.dtype in (torch.float16, torch.bfloat16):
        scores = scores.float()
    return scores.index_fill_(-1, never, float("-inf"))


@torch.no_grad()
def sample(
    network: CaptionNetwork,
    memory: Any,
    images: int,
    rows: int = 1,
    generator: torch.Generator | None = None,
) -> Sampled:
    """Draw ``rows`` captions for each of the memory's ``images``, word by word from the network's distribution.

    It has no gradient; :func:`log_probabilities` of the same words has one. In training mode, dropout affects the draws.

    Args:
        generator: on the network's device; equal generators draw equal captions.
    """

    def draw(scores: Tensor) -> Tensor:
        return torch.multinomial(scores.softmax(1), 1, generator=generator)[:, 0]

    return _decode(network, memory, images, rows, NEVER_WRITTEN, draw)


@torch.no_grad()
def greedy(network: CaptionNetwork, memory: Any, images: int, *, never: Collection[int] = NEVER_WRITTEN) -> Sampled:
    """Return the most likely word at each step (ties by the lowest id) for each of the memory's ``images``."""
    return _decode(network, memory, images, 1, never, lambda scores: scores.argmax(1))


def log_probabilities(network: CaptionNetwork, memory: Any, words: Tensor) -> Tensor:
    """Return the log-probabilities of sampled words (N × T, see :class:`Sampled`), with gradients; 0 at PAD.

    All words are scored in one pass without a cache, instead of T steps whose states a gradient would have to keep.
    """
    before = torch.cat([torch.full_like(words[:, :1], START), words[:, :-1]], dim=1)
    scores = network.decode(memory, before)
    # Not in place: the scores' own gradient may need them.
    scores = mask_scores(scores.clone(), forbidden_words(NEVER_WRITTEN, scores.device)).log_softmax(2)
    padding = words == PAD
    chosen = scores.gather(2, words.masked_fill(padding, END)[:, :, None])[:, :, 0]
    return chosen.masked_fill(padding, 0.0)


def _decode(
    network: CaptionNetwork,
    memory: Any,
    images: int,
    rows: int,
    never: Collection[int],
    choose: Callable[[Tensor], Tensor],
) -> Sampled:
    """Decode word by word; ``choose`` maps scores N × V to N words."""
    device = next(itertools.chain(network.parameters(), network.buffers())).device
    count, longest = images * rows, network.config.longest
    forbidden, state = forbidden_words(never, device), network.start(memory, rows)
    newest = torch.full((count,), START, device=device)
    ended = torch.zeros(count, dtype=torch.bool, device=device)
    words = torch.full((count, longest), PAD, device=device)
    log_probabilities = torch.zeros(count, longest, device=device)
    for position in range(longest):
        scores = mask_scores(network.step(state, newest), forbidden)
        newest = choose(scores)
        probability = scores.gather(1, newest[:, None])[:, 0] - scores.logsumexp(1)
        log_probabilities = log_probabilities.to(probability.dtype)
        log_probabilities[:, position] = probability.masked_fill(ended, 0.0)
        words[:, position] = newest.masked_fill(ended, PAD)
        ended |= newest == END
        if bool(ended.all()):
            break
    return Sampled(words, log_probabilities)
