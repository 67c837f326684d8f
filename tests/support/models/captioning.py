"""What the tests of decoding share: tiny networks, and a plain beam search to compare with."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from components.models.beam import Written
from components.models.captioners.interface import CaptionerConfig, CaptionNetwork
from components.models.captioners.transformer import TransformerCaptioner
from components.models.vocabulary import END, NEVER_WRITTEN, PAD, START, UNKNOWN


@lru_cache
def _trained(settings: tuple[tuple[str, Any], ...]) -> TransformerCaptioner:
    """Some steps on captions drawn by chance: a new network repeats the word it reads, whose vector is the output's too."""
    chosen = {"vocabulary": 13, "image_features": 6, "width": 16, "heads": 2, "layers": 2, "feedforward": 24, "longest": 6}
    torch.manual_seed(0)
    network = TransformerCaptioner(CaptionerConfig("t2t8x8", **(chosen | dict(settings)))).double()
    longest, vocabulary = network.config.longest, network.config.vocabulary
    features, words = torch.randn(40, 5, 6, dtype=torch.float64), torch.randint(UNKNOWN + 1, vocabulary, (40, longest + 2))
    words[:, 0] = START
    ends = torch.randint(1, longest + 2, (40, 1))
    words.scatter_(1, ends, END).masked_fill_(torch.arange(longest + 2) > ends, PAD)
    for _ in range(60):
        network.zero_grad()
        network.loss(features, words).backward()
        # Steps by sign: importing an optimiser takes longer than all of them.
        with torch.no_grad():
            for weight in network.parameters():
                weight -= 0.01 * weight.grad.sign()
    return network.eval()


def tiny_transformer(seed: int, *, eager: float = 0.0, **settings: Any) -> TransformerCaptioner:
    """A network in double precision, so that only equal scores are ties; ``eager`` is added to END's scores, about."""
    network = copy.deepcopy(_trained(tuple(sorted(settings.items()))))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in network.parameters():
            weight += 0.1 * torch.randn(weight.shape, generator=generator, dtype=weight.dtype)
        end = network.embedding.weight[END]
        norm = network.decoder_norm if network.config.pre_norm else network.decoder[-1].norms[-1]
        norm.bias += eager * end / end.norm() ** 2
    return network


@dataclass
class TableState:
    """The last two words of each row, and its image."""

    images: Tensor
    words: Tensor


class TableNetwork(CaptionNetwork):
    """Scores out of a table of few different values, by image and the two words before: full of ties."""

    def __init__(self, seed: int, *, vocabulary: int = 8, longest: int = 5, eager: float = 0.0, values: int = 3) -> None:
        super().__init__()
        self.config = CaptionerConfig("table", vocabulary, image_features=1, longest=longest)
        generator = torch.Generator().manual_seed(seed)
        table = torch.randint(values, (7, vocabulary, vocabulary, vocabulary), generator=generator).double()
        table[..., END] += eager
        self.register_buffer("table", table)

    def encode(self, features: Tensor) -> Tensor:
        return features[:, 0, 0].long()

    def decode(self, memory: Tensor, words: Tensor) -> Tensor:
        images = memory.repeat_interleave(len(words) // len(memory))[:, None]
        before = torch.cat([words[:, :1], words[:, :-1]], dim=1)
        return self.table[images, before, words]

    def start(self, memory: Tensor, rows: int) -> TableState:
        images = memory.repeat_interleave(rows)
        return TableState(images, torch.full((len(images),), START))

    def step(self, state: TableState, words: Tensor) -> Tensor:
        before, state.words = state.words, words
        return self.table[state.images, before, words]

    def reorder(self, state: TableState, rows: Tensor) -> None:
        state.words = state.words[rows]


def next_words(network: CaptionNetwork, memory: Any, words: list[int]) -> list[float]:
    """Log-probabilities of the word after ``words``: all of them read anew, one row, one image."""
    scores = network.decode(memory, torch.tensor([[START, *words]]))[0, -1].clone()
    scores[list(NEVER_WRITTEN)] = float("-inf")
    return (scores - scores.logsumexp(0)).tolist()


@torch.no_grad()
def plain_beam_search(network: CaptionNetwork, image: Tensor, beam: int) -> list[Written]:
    """The search that ``components.models.beam`` describes, with lists, no cache, no batch and no early stop."""
    memory, longest = network.encode(image[None]), network.config.longest
    running, finished = [Written([], 0.0)], []
    for length in range(1, longest + 1):
        extensions = []
        for hypothesis in running:
            result = next_words(network, memory, hypothesis.words)
            for word in sorted(range(len(result)), key=lambda word: (-result[word], word)):
                if result[word] > float("-inf"):
                    extensions.append(Written([*hypothesis.words, word], hypothesis.score + result[word]))
        extensions.sort(key=lambda one: -one.score)
        for one in extensions[:beam]:
            if one.words[-1] == END:
                finished.append(Written(one.words[:-1], one.score))
            elif length == longest:
                finished.append(one)
        running = [one for one in extensions if one.words[-1] != END][:beam]
    return sorted(finished, key=lambda one: -one.score)
