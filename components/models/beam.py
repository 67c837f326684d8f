"""Batched beam search over any captioning network (CC §5.2: beam 4, most likely sequence).

Algorithm. A hypothesis's total is the sum of its words' log-probabilities, renormalised over the words that may be written. Each
step extends an image's k running hypotheses by every word and ranks the extensions by total. Extensions among the first k that
end in END are finished and kept; the k best other extensions continue. At the maximum length the first k count as finished
without an END. Finished hypotheses are compared by total. The search stops when no running hypothesis can enter the best even
with probability 1 for all that follows, so additional steps (for another image of the batch) change nothing.

With one caption returned, this equals ``transformers`` with ``num_beams=k``, ``length_penalty=0``,
``early_stopping="never"``, ``renormalize_logits=True`` and ``max_new_tokens=longest`` (``benchmarks/README.md``).

Ties. Among equal totals, the extension of the better hypothesis comes first, then the greater score, then the lower word id;
among equal finished hypotheses, the one finished first. So captions are a function of weights and image.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import torch
from torch import Tensor

from components.models.captioners.interface import CaptionNetwork
from components.models.packed_linear import pack_linear_layers
from components.models.sampling import forbidden_words, greedy, mask_scores, require_eval_mode
from components.models.vocabulary import END, NEVER_WRITTEN, PAD, START

_NOTHING = float("-inf")


class Written(NamedTuple):
    """A caption as word ids (without START and END) and its log-probability (not divided by its length)."""

    words: list[int]
    score: float

    def per_word(self, longest: int) -> float:
        """Return the log-probability a word; the end counts as one, which a caption of the maximum length does not have."""
        return self.score / max(1, min(len(self.words) + 1, longest))


def generate(
    network: CaptionNetwork,
    features: Tensor,
    *,
    beam: int = 4,
    best: int = 1,
    batch: int | None = None,
    never: Collection[int] = NEVER_WRITTEN,
    pack: bool = True,
) -> list[list[Written]]:
    """Return the ``best`` captions of each image, best first; fewer only where fewer can be written.

    Args:
        features: B × L × F, on the network's device.
        beam: running hypotheses an image; 1 is greedy search, which stops at the first END.
        batch: images decoded together; None decodes all at once.
        never: ids of words that are never written.
        pack: on a CPU, convert the weights to oneDNN's layout first (:mod:`components.models.packed_linear`).

    Raises:
        ValueError: an argument is out of range, the network is in training mode, or its scores are NaN.
    """
    require_eval_mode(network)
    if not 1 <= best <= beam or (batch is not None and batch < 1):
        raise ValueError(f"beam and batch must be at least 1, best 1 to beam; got beam {beam}, best {best}, batch {batch}")
    written: list[list[Written]] = []
    with torch.inference_mode():
        # For a single row, converting the weights takes longer than it saves.
        if pack and len(features) * beam > 1:
            network = pack_linear_layers(network)
        for part in features.split(batch or max(len(features), 1)) if len(features) else ():
            memory = network.encode(part)
            if beam == 1:
                sampled = greedy(network, memory, len(part), never=never)
                scores = sampled.log_probabilities.sum(1).tolist()
                written += [[Written(words, score)] for words, score in zip(sampled.captions(), scores, strict=True)]
            else:
                written += _search(network, memory, len(part), beam, best, forbidden_words(never, part.device))
    if any(caption.score != caption.score for captions in written for caption in captions) or not all(written):
        raise ValueError("the network's scores are NaN: its weights or the features contain NaN or infinity")
    return written


def _search(network: CaptionNetwork, memory: Any, images: int, beam: int, best: int, never: Tensor) -> list[list[Written]]:
    longest, device = network.config.longest, never.device
    state = network.start(memory, beam)
    first_row = torch.arange(images, device=device)[:, None] * beam
    newest = torch.full((images * beam,), START, device=device)
    # All k initial rows of an image are equal, so only the first may be extended.
    totals = torch.full((images, beam), _NOTHING, device=device)
    totals[:, 0] = 0.0
    words = torch.full((images, beam, longest), PAD, device=device)
    done = Finished(torch.full_like(totals, _NOTHING), words)
    for position in range(longest):
        scores = mask_scores(network.step(state, newest), never)
        # A row's k best words plus END, which does not continue, suffice for k that continue.
        values, chosen = stable_topk(scores, beam + 1)
        extended = totals.view(-1, 1) + (values - scores.logsumexp(1, keepdim=True))
        ranked, order = extended.view(images, -1).sort(dim=1, descending=True, stable=True)
        ranked, order = ranked[:, : 2 * beam], order[:, : 2 * beam]
        parents, chosen = order // values.shape[1], chosen.reshape(images, -1).gather(1, order)
        extensions = words.gather(1, parents[:, :, None].expand(-1, -1, longest))
        extensions[:, :, position] = chosen
        ends, last = chosen == END, position + 1 == longest
        finishing = ranked[:, :beam].masked_fill(~(ends[:, :beam] | last), _NOTHING)
        done = done.merged(finishing, extensions[:, :beam])
        if last:
            break
        running = ends.long().argsort(dim=1, stable=True)[:, :beam]
        totals = ranked.gather(1, running)
        if bool((done.totals[:, best - 1] >= totals[:, 0]).all()):  # no further word raises a total
            break
        words = extensions.gather(1, running[:, :, None].expand(-1, -1, longest))
        newest = chosen.gather(1, running).flatten()
        network.reorder(state, (first_row + parents.gather(1, running)).flatten())
    return done.captions(best)


class Finished(NamedTuple):
    """The best k finished hypotheses of each image, in order."""

    totals: Tensor
    """B × k, log-probabilities; minus infinity where there is no hypothesis."""
    words: Tensor
    """B × k × longest: words, END where it was written, PAD."""

    def merged(self, totals: Tensor, words: Tensor) -> Finished:
        """Return the best k of these and another step's hypotheses (totals of -inf are not finished); older ones win ties."""
        ranked, order = torch.cat([self.totals, totals], dim=1).sort(dim=1, descending=True, stable=True)
        order = order[:, : self.totals.shape[1]]
        texts = torch.cat([self.words, words], dim=1).gather(1, order[:, :, None].expand(-1, -1, words.shape[2]))
        return Finished(ranked[:, : order.shape[1]], texts)

    def captions(self, best: int) -> list[list[Written]]:
        """Return the ``best`` captions of each image."""
        return [
            [
                Written([word for word in row if word not in (END, PAD)], total)
                for row, total in zip(rows, totals, strict=True)
                if total != _NOTHING
            ]
            for rows, totals in zip(self.words[:, :best].tolist(), self.totals[:, :best].tolist(), strict=True)
        ]


def stable_topk(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return values and indices of the ``count`` greatest of each row (all, if fewer), greatest first, ties by lower index.

    ``topk`` does not define which of equal values it takes. Where it meets equal ones, a stable sort decides or, as that takes a
    hundred times as long on a whole vocabulary, a 64-bit key of value and index.
    """
    width = scores.shape[1]
    count = min(count, width)
    values, indices = scores.topk(min(count + 1, width), dim=1)
    if not bool(((values[:, 1:] == values[:, :-1]) & (values[:, 1:] != _NOTHING)).any()):
        return values[:, :count], indices[:, :count]
    if scores.dtype != torch.float32:
        values, indices = scores.sort(dim=1, descending=True, stable=True)
        return values[:, :count], indices[:, :count]
    # The bits of floats, as integers, are ordered once the negative ones are flipped; + 0 turns -0 into 0.
    bits = (scores + 0.0).view(torch.int32).long()
    keys = (torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits) << 32) - torch.arange(width, device=scores.device)
    indices = keys.topk(count, dim=1).indices
    return scores.gather(1, indices), indices
