"""CIDEr-D of sampled captions where the network is: the reward of self-critical training on a GPU.

The same figure as :class:`components.metrics.cider.CiderD`, computed from word numbers by tensor operations, so that training
waits neither for a processor nor for a copy. An n-gram is one integer in base (words), exact for up to 55,000 words.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from components.metrics.cider import SIGMA
from components.metrics.ngrams import ORDER
from components.models.vocabulary import PAD


class CiderRewards:
    """The references of all images, weighted once.

    Args:
        references: n × k × T, each image's captions as words, END, PAD ….
        words: the number of different words, also of those that the network cannot write.

    Raises:
        ValueError: there are more words than an n-gram's number can hold.
    """

    def __init__(self, references: Tensor, words: int) -> None:
        if words**ORDER >= 1 << 62:
            raise ValueError(f"{words} words are more than {ORDER}-grams of 62 bits can hold")
        self.words, self.references = words, references.long()
        images, most, _ = references.shape
        self.lengths = (self.references != PAD).sum(2)
        self.items = torch.tensor(float(images), dtype=torch.float64, device=references.device)
        self.known: list[Tensor] = []
        self.frequencies: list[Tensor] = []
        norms = []
        for order in range(1, ORDER + 1):
            codes = self._codes(self.references.flatten(0, 1), order)
            by_image = codes.view(images, -1).sort(1).values
            first = F.pad(by_image[:, 1:] != by_image[:, :-1], (1, 0), value=True) & (by_image >= 0)
            known, counts = by_image[first].unique(return_counts=True)
            self.known.append(known)
            self.frequencies.append(counts)
            # In parts, because all pairs of positions of all references are many.
            parts = [self._norm(part, order) for part in codes.split(4096)]
            norms.append(torch.cat(parts).view(images, most))
        self.norms = torch.stack(norms)

    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        """Return the CIDEr-D, 0 to about 10, of each candidate for its image: N, float64.

        Args:
            words: N × T, sampled: words, END where it was written, PAD.
            images: N, the image of each candidate.
        """
        references = self.references[images]
        cosines = torch.zeros(references.shape[:2], dtype=torch.float64, device=words.device)
        for order in range(1, ORDER + 1):
            codes = self._codes(words, order)
            theirs = self._codes(references.flatten(0, 1), order).view(len(words), references.shape[1], -1)
            mine = _counts(codes)
            shared = (codes[:, None, :, None] == theirs[:, :, None, :]).sum(3).double()
            # Each position has its share of its n-gram, so that the sum over positions is the sum over n-grams.
            products = torch.minimum(mine[:, None], shared) * shared * (self._weights(codes, order) ** 2 / mine)[:, None]
            norms = self._norm(codes, order)[:, None] * self.norms[order - 1][images]
            cosines += torch.where(norms > 0, products.sum(2) / norms.clamp_min(1e-300), 0.0)
        bigrams, their_bigrams = ((words != PAD).sum(1) - 1).clamp_min(0), (self.lengths[images] - 1).clamp_min(0)
        penalty = torch.exp(-((bigrams[:, None] - their_bigrams).double() ** 2) / (2 * SIGMA**2))
        return (cosines / ORDER * penalty).mean(1) * 10.0

    def _codes(self, words: Tensor, order: int) -> Tensor:
        """Return the n-gram that begins at each position of N × T words; a number below 0 where it would contain PAD."""
        padded = F.pad(words.long(), (0, order - 1), value=PAD)
        codes, whole = torch.zeros_like(words, dtype=torch.long), torch.ones_like(words, dtype=torch.bool)
        for shift in range(order):
            word = padded[:, shift : shift + words.shape[1]]
            codes, whole = codes * self.words + word, whole & (word != PAD)
        return codes.masked_fill(~whole, -1)

    def _weights(self, codes: Tensor, order: int) -> Tensor:
        """Return log(images) - log(images with the n-gram, at least 1); 0 for no n-gram."""
        known = self.known[order - 1]
        if not len(known):
            return torch.where(codes >= 0, self.items.log(), 0.0)
        at = torch.searchsorted(known, codes).clamp_max(len(known) - 1)
        frequency = torch.where(known[at] == codes, self.frequencies[order - 1][at], 1).double()
        return torch.where(codes >= 0, self.items.log() - frequency.log(), 0.0)

    def _norm(self, codes: Tensor, order: int) -> Tensor:
        """Return the Euclidean norm of count × weight over the different n-grams of each row."""
        # count² × weight² once an n-gram is count × weight² at each of its positions.
        return (_counts(codes) * self._weights(codes, order) ** 2).sum(1).sqrt()


def _counts(codes: Tensor) -> Tensor:
    """Return how often each position's n-gram occurs in its row, N × T."""
    return (codes[:, :, None] == codes[:, None, :]).sum(2).double()
