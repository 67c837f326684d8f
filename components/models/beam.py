"""Batched beam search over any captioning network (CC, section 5.2: beam 4, most likely sequence).

The search. A hypothesis' total is the sum of the log-probabilities of its words, renormalised over the words that may be
written. At each step the k running hypotheses of a picture are extended by every word, and the extensions ranked by total.
END among the first k finishes that hypothesis, which is kept; the k best other extensions run on. After the longest length
the first k are taken as they stand, without an END. Finished hypotheses compare by total / length^power, length counting
END where it was written; the paper names no power, so it is 0. The search stops when nothing that still runs can enter
the best, even if all that follows had a probability of 1; so more steps, for another picture of the batch, change nothing.

With one caption returned this is the search of ``transformers`` with ``num_beams=k``, ``length_penalty=power``,
``early_stopping="never"``, ``renormalize_logits=True`` and ``max_new_tokens=longest`` (``benchmarks/decoding.py``).

Ties. Of equal totals the extension of the better hypothesis comes first, then the greater score, then the lower word number;
of equal finished ones the one found first. So captions are a function of the weights and the picture.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import torch
from torch import Tensor

from components.models.captioners.interface import CaptionNetwork
from components.models.packed import packed
from components.models.sampling import forbidden, greedy, masked, require_steady
from components.models.vocabulary import END, NEVER_WRITTEN, PAD, START

_NOTHING = float("-inf")


class Written(NamedTuple):
    """A caption as word numbers (without START and END) and its log-probability (not divided by its length)."""

    words: list[int]
    score: float


def generate(
    network: CaptionNetwork,
    features: Tensor,
    *,
    beam: int = 4,
    length_power: float = 0.0,
    best: int = 1,
    batch: int | None = None,
    never: Collection[int] = NEVER_WRITTEN,
    pack: bool = True,
) -> list[list[Written]]:
    """The ``best`` captions of each picture, the best first; fewer only where fewer could be written.

    Args:
        features: B × L × F, on the network's device.
        beam: hypotheses a picture that run at a time; 1 is greedy search, which ends with the first END.
        length_power: 0 compares log-probabilities; more favours longer captions.
        batch: pictures at a time; all at once without it.
        never: word numbers that are not written.
        pack: on a processor lay the weights out for oneDNN first (:mod:`components.models.packed`).

    Raises:
        ValueError: a setting is out of range, the network is in training mode, or its scores are not numbers.
    """
    require_steady(network)
    if not 1 <= best <= beam or length_power < 0 or (batch is not None and batch < 1):
        given = f"beam {beam}, best {best}, length_power {length_power}, batch {batch}"
        raise ValueError(f"beam and batch are 1 or more, best 1 to beam, length_power 0 or more; given are {given}")
    written: list[list[Written]] = []
    with torch.inference_mode():
        # For a single row laying the weights out takes longer than it saves.
        if pack and len(features) * beam > 1:
            network = packed(network)
        for part in features.split(batch or max(len(features), 1)) if len(features) else ():
            memory = network.encode(part)
            if beam == 1:
                found = greedy(network, memory, len(part), never=never)
                scores = found.log_probabilities.sum(1).tolist()
                written += [[Written(words, score)] for words, score in zip(found.captions(), scores, strict=True)]
            else:
                written += _search(network, memory, len(part), beam, length_power, best, forbidden(never, part.device))
    if any(one.score != one.score for found in written for one in found) or not all(written):
        raise ValueError("the network's scores are not numbers: its weights or the features hold NaN or infinity")
    return written


def _search(
    network: CaptionNetwork, memory: Any, pictures: int, beam: int, power: float, best: int, never: Tensor
) -> list[list[Written]]:
    longest, device = network.config.longest, never.device
    state = network.start(memory, beam)
    first_row = torch.arange(pictures, device=device)[:, None] * beam
    newest = torch.full((pictures * beam,), START, device=device)
    # Of a picture's equal beginnings only the first counts.
    totals = torch.full((pictures, beam), _NOTHING, device=device)
    totals[:, 0] = 0.0
    words = torch.full((pictures, beam, longest), PAD, device=device)
    done = Finished(torch.full_like(totals, _NOTHING), torch.full_like(totals, _NOTHING), words)
    for place in range(longest):
        scores = masked(network.step(state, newest), never)
        # A row's k best words and END, which runs no further, are enough for k that do.
        values, chosen = top(scores, beam + 1)
        extended = totals.view(-1, 1) + (values - scores.logsumexp(1, keepdim=True))
        ranked, order = extended.view(pictures, -1).sort(dim=1, descending=True, stable=True)
        ranked, order = ranked[:, : 2 * beam], order[:, : 2 * beam]
        parents, chosen = order // values.shape[1], chosen.reshape(pictures, -1).gather(1, order)
        extensions = words.gather(1, parents[:, :, None].expand(-1, -1, longest))
        extensions[:, :, place] = chosen
        ends, last = chosen == END, place + 1 == longest
        finishing = ranked[:, :beam].masked_fill(~(ends[:, :beam] | last), _NOTHING)
        done = done.joined(finishing, (place + 1) ** power, extensions[:, :beam])
        if last:
            break
        running = ends.long().argsort(dim=1, stable=True)[:, :beam]
        totals = ranked.gather(1, running)
        # The greatest length makes the most of a sum of negative numbers.
        if bool((done.scores[:, best - 1] >= totals[:, 0] / longest**power).all()):
            break
        words = extensions.gather(1, running[:, :, None].expand(-1, -1, longest))
        newest = chosen.gather(1, running).flatten()
        network.reorder(state, (first_row + parents.gather(1, running)).flatten())
    return done.written(best)


class Finished(NamedTuple):
    """The best k finished hypotheses of each picture, in order."""

    scores: Tensor
    """B × k, by which they are compared; minus infinity where there is none."""
    totals: Tensor
    """B × k, log-probabilities."""
    words: Tensor
    """B × k × longest: words, END where it was written, PAD."""

    def joined(self, totals: Tensor, divisor: float, words: Tensor) -> Finished:
        """With those of another step, -inf where one has not finished; of equals the older ones come first."""
        scores, order = torch.cat([self.scores, totals / divisor], dim=1).sort(dim=1, descending=True, stable=True)
        order = order[:, : self.scores.shape[1]]
        texts = torch.cat([self.words, words], dim=1).gather(1, order[:, :, None].expand(-1, -1, words.shape[2]))
        return Finished(scores[:, : order.shape[1]], torch.cat([self.totals, totals], dim=1).gather(1, order), texts)

    def written(self, best: int) -> list[list[Written]]:
        """The ``best`` of each picture."""
        return [
            [
                Written([word for word in row if word not in (END, PAD)], total)
                for row, total in zip(rows, totals, strict=True)
                if total != _NOTHING
            ]
            for rows, totals in zip(self.words[:, :best].tolist(), self.totals[:, :best].tolist(), strict=True)
        ]


def top(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Values and places of the ``count`` greatest of each row (or all, if fewer), the greatest first, equal ones by place.

    ``topk`` leaves open which of equal ones it takes. Where it met any, a stable sort decides, or, as it takes a hundred
    times as long on a whole vocabulary, a key of value and place, where both fit into 64 bits.
    """
    width = scores.shape[1]
    count = min(count, width)
    values, places = scores.topk(min(count + 1, width), dim=1)
    if not bool(((values[:, 1:] == values[:, :-1]) & (values[:, 1:] != _NOTHING)).any()):
        return values[:, :count], places[:, :count]
    if scores.dtype != torch.float32:
        values, places = scores.sort(dim=1, descending=True, stable=True)
        return values[:, :count], places[:, :count]
    # As integers the bits of floats are in order, once the order of the negative ones is turned; + 0 makes -0 a 0.
    bits = (scores + 0.0).view(torch.int32).long()
    keys = (torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits) << 32) - torch.arange(width, device=scores.device)
    places = keys.topk(count, dim=1).indices
    return scores.gather(1, places), places
