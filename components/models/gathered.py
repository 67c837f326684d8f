"""A batch that is shared out over processes, put together again with gradients (for CSC's losses over the whole batch).

The order is that of ``components/training/batches.py``: process r holds the items r, r + W, … of the batch, so that what is
gathered is the batch as one process would hold it. Processes may hold different numbers of items.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from components.models.masked_margin_softmax import at_least_float32


class Batch(NamedTuple):
    """The B items of all processes."""

    speech: Tensor
    """B × D, with gradients to the process that it came from: there they are the sum over all processes' losses."""
    images: Tensor
    """B × D, likewise."""
    identities: Tensor
    """B integers."""
    own: Tensor
    """The n places of this process's items."""


def world_size() -> int:
    """How many processes train together; 1 where none were started so."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def gather(speech: Tensor, images: Tensor, identities: Tensor) -> Batch:
    """This process's n × D, n × D and n as everybody's, the embeddings in single precision at least.

    All processes call it, with the same D and precision. Two messages there, the second with everything in it, and one back.
    """
    processes, rank, device = dist.get_world_size(), dist.get_rank(), speech.device
    counts = torch.empty(processes, dtype=torch.long, device=device)
    dist.all_gather_single(counts, torch.tensor([len(speech)], device=device))
    places, total = _places(counts.tolist())
    every_speech, every_image, numbers = _Gathered.apply(speech, images, identities.long(), places.flatten().to(device), total)
    return Batch(every_speech, every_image, numbers, places[rank, : len(speech)].to(device))


def _places(counts: list[int]) -> tuple[Tensor, int]:
    """Where in the batch each process's items lie, W × the longest, and the batch's size: all firsts, then all seconds, ….

    Behind a process's own items stands the place behind the batch.
    """
    there = torch.arange(max(counts))[:, None] < torch.tensor(counts)[None]
    place = there.flatten().cumsum(0).view(there.shape) - 1
    return torch.where(there, place, sum(counts)).T.contiguous(), sum(counts)


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, speech: Tensor, images: Tensor, identities: Tensor, places: Tensor, total: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        ctx.places, ctx.mine, ctx.kinds = places, len(speech), (speech.dtype, images.dtype)
        longest = len(places) // dist.get_world_size()
        # Rows as bytes: one message for all three, and precisions that a backend does not know.
        parts = [part.contiguous().view(torch.uint8) for part in (speech, images, identities[:, None])]
        received = parts[0].new_empty(len(places), sum(part.shape[1] for part in parts))
        dist.all_gather_single(received, F.pad(torch.cat(parts, 1), (0, 0, 0, longest - ctx.mine)))
        # The row behind the batch takes all padding.
        whole = received.new_empty(total + 1, received.shape[1])
        whole[places] = received
        split = [part.contiguous() for part in whole[:total].split([part.shape[1] for part in parts], 1)]
        numbers = split[2].view(torch.long)[:, 0]
        ctx.mark_non_differentiable(numbers)
        return at_least_float32(split[0].view(speech.dtype)), at_least_float32(split[1].view(images.dtype)), numbers

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_speech: Tensor, of_images: Tensor, _: Any) -> tuple[Any, ...]:
        # Summed over processes in the precision of what was given out, which is single at least.
        asked = F.pad(torch.cat([of_speech, of_images], 1), (0, 0, 0, 1))[ctx.places]
        mine = asked.new_empty(len(ctx.places) // dist.get_world_size(), asked.shape[1])
        dist.reduce_scatter_single(mine, asked)
        speech, images = mine[: ctx.mine].split([of_speech.shape[1], of_images.shape[1]], 1)
        return speech.to(ctx.kinds[0]), images.to(ctx.kinds[1]), None, None, None
