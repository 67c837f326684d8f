"""Textual supervision: an auxiliary loss by which the speech tower learns to say which words a caption has (Higy et al. 2020)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from components.metrics.tokens import tokenize

MOST = 1000
"""Words that are predicted: the most frequent ones."""


class WordPrediction(nn.Module):
    """A linear layer from a speech tower's output to the most frequent words of the training captions; not kept after training.

    It says by how much a word is more likely than usual.

    Args:
        captions: of the training items.
    """

    usual: Tensor
    """V: the log-odds of each word in a caption."""

    def __init__(self, captions: Sequence[str], embedding: int) -> None:
        super().__init__()
        words = [set(tokenize(caption)) for caption in captions]
        counts = Counter(word for of_caption in words for word in of_caption)
        frequent = sorted(counts, key=lambda word: (-counts[word], word))[:MOST]
        number = {word: index for index, word in enumerate(frequent)}
        self.words = [sorted(number[word] for word in of_caption if word in number) for of_caption in words]
        # Adam moves every weight by its rate, so that a logit of many would move too far in a step without the factor.
        self.predict, self.factor = nn.Linear(embedding, len(frequent), bias=False), embedding**-0.5
        shares = torch.tensor([(counts[word] + 0.5) / (len(captions) + 1) for word in frequent])
        self.register_buffer("usual", torch.logit(shares))

    def forward(self, outputs: Tensor, items: Tensor) -> Tensor:
        """Return the binary cross-entropy, a mean over items and words.

        Args:
            outputs: B × embedding, before they are normalised.
            items: B, the items' numbers.
        """
        logits = self.usual + self.factor * self.predict(outputs).float()
        targets = torch.zeros_like(logits)
        for row, item in zip(targets, items.tolist(), strict=True):
            row[self.words[item]] = 1.0
        return F.binary_cross_entropy_with_logits(logits, targets)
