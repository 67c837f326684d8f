"""Writing a caption word by word: greedy and beam search (seed 000, section 5.2: beam 4, most likely sequence).

Scores are sums of log-probabilities. The paper names no length normalisation, so there is none by default; a caption
that never ends is cut at the longest length and scored as it stands.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from components.models.captioner import END, PAD, START, UNKNOWN, Captioner

_NEVER = (PAD, START, UNKNOWN)
"""Words that are never written: an unknown word cannot be read aloud or scored."""


class Written(NamedTuple):
    """A caption as word numbers (without START and END) and its log-probability."""

    words: list[int]
    score: float


@torch.no_grad()
def log_probabilities(model: Captioner, memory: Tensor, words: Tensor) -> Tensor:
    """Log-probabilities of the next word after each row of ``words``, renormalised over the words that may be written."""
    scores = model.decode(memory.expand(words.shape[0], -1, -1), words)[:, -1]
    scores[:, list(_NEVER)] = float("-inf")
    return scores.log_softmax(1)


@torch.no_grad()
def greedy(model: Captioner, features: Tensor) -> Written:
    """The most likely word each time, for one picture (regions × image features)."""
    return beam_search(model, features, beam=1)


@torch.no_grad()
def beam_search(model: Captioner, features: Tensor, *, beam: int = 4, length_power: float = 0.0) -> Written:
    """The best of ``beam`` running hypotheses, for one picture (regions × image features).

    Args:
        length_power: scores are divided by (words + 1) ** this before captions are compared; 0 does not.

    Equal scores go to the hypothesis found first, so the answer is a function of the weights and the picture. The
    greedy caption is kept among the candidates, so a wider beam never ends with a less likely caption than it (a bare
    beam can lose the greedy path half-way).
    """
    memory = model.encode(features[None])
    found = _search(model, memory, beam, length_power)
    if beam > 1:
        found = found + _search(model, memory, 1, length_power)
    return max(found, key=lambda written: written.score / (len(written.words) + 1) ** length_power)


def _search(model: Captioner, memory: Tensor, beam: int, length_power: float) -> list[Written]:
    """Captions that ended; each one that ends narrows the beam by one, so a beam of 1 is greedy search."""
    running, ended = [Written([], 0.0)], list[Written]()
    for _ in range(model.config.longest):
        words = torch.tensor([[START, *written.words] for written in running])
        totals = log_probabilities(model, memory, words) + torch.tensor([[written.score] for written in running])
        values, places = totals.flatten().sort(descending=True, stable=True)
        following: list[Written] = []
        for value, place in zip(values[: beam - len(ended)].tolist(), places.tolist(), strict=False):
            row, word = divmod(place, totals.shape[1])
            if value == float("-inf"):
                break
            if word == END:
                ended.append(Written(running[row].words, value))
            else:
                following.append(Written([*running[row].words, word], value))
        running = following
        # Without a length normalisation scores only fall: nothing that still runs can win any more.
        if not running or (length_power == 0 and ended and max(e.score for e in ended) >= running[0].score):
            return ended
    return ended + running


@torch.no_grad()
def greedy_batch(model: Captioner, features: Tensor) -> list[list[int]]:
    """Greedy captions of many pictures at once (B × regions × image features): for validation while training."""
    memory = model.encode(features)
    words = torch.full((len(features), 1), START)
    for _ in range(model.config.longest):
        scores = model.decode(memory, words)[:, -1]
        scores[:, list(_NEVER)] = float("-inf")
        following = scores.argmax(1)
        following[(words == END).any(1)] = END
        words = torch.cat([words, following[:, None]], dim=1)
        if bool((following == END).all()):
            break
    return [row[: row.index(END)] if END in row else row for row in words[:, 1:].tolist()]
