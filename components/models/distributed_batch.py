"""Gathering of a batch that is distributed over processes, with gradients (for CSC's losses over the whole batch).

The order is that of ``components/training/batches.py``: process r holds the items r, r + W, … of the batch, so that the gathered
batch equals the one of a single process. Processes may hold different numbers of items.
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
    """B × D; gradients flow back to the item's process, summed over all processes' losses."""
    images: Tensor
    """B × D, likewise."""
    identities: Tensor
    """B integers."""
    own: Tensor
    """n indices of this process's items."""


def world_size() -> int:
    """Return the number of processes that train together; 1 without torch.distributed."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def gather(speech: Tensor, images: Tensor, identities: Tensor) -> Batch:
    """Return the batch of all processes' n × D, n × D and n, with embeddings in float32 at least.

    All processes call it, with the same D and dtype. It takes two messages forwards, the second with all data, and one backwards.
    """
    processes, rank, device = dist.get_world_size(), dist.get_rank(), speech.device
    counts = torch.empty(processes, dtype=torch.long, device=device)
    dist.all_gather_single(counts, torch.tensor([len(speech)], device=device))
    indices, total = _item_indices(counts.tolist())
    every_speech, every_image, numbers = _Gathered.apply(speech, images, identities.long(), indices.flatten().to(device), total)
    return Batch(every_speech, every_image, numbers, indices[rank, : len(speech)].to(device))


def _item_indices(counts: list[int]) -> tuple[Tensor, int]:
    """Return each process's item indices in the batch, W × the largest count, and the batch's size.

    The batch holds all first items, then all second ones, …. Missing items of a process have the index behind the batch.
    """
    present = torch.arange(max(counts))[:, None] < torch.tensor(counts)[None]
    index = present.flatten().cumsum(0).view(present.shape) - 1
    return torch.where(present, index, sum(counts)).T.contiguous(), sum(counts)


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, speech: Tensor, images: Tensor, identities: Tensor, indices: Tensor, total: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        ctx.indices, ctx.local, ctx.dtypes = indices, len(speech), (speech.dtype, images.dtype)
        longest = len(indices) // dist.get_world_size()
        # Rows as bytes: one message for all three tensors, and support for any dtype.
        parts = [part.contiguous().view(torch.uint8) for part in (speech, images, identities[:, None])]
        received = parts[0].new_empty(len(indices), sum(part.shape[1] for part in parts))
        dist.all_gather_single(received, F.pad(torch.cat(parts, 1), (0, 0, 0, longest - ctx.local)))
        # Padding goes to one extra row behind the batch.
        batch = received.new_empty(total + 1, received.shape[1])
        batch[indices] = received
        split = [part.contiguous() for part in batch[:total].split([part.shape[1] for part in parts], 1)]
        numbers = split[2].view(torch.long)[:, 0]
        ctx.mark_non_differentiable(numbers)
        return at_least_float32(split[0].view(speech.dtype)), at_least_float32(split[1].view(images.dtype)), numbers

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_speech: Tensor, of_images: Tensor, _: Any) -> tuple[Any, ...]:
        # Summed over processes in the dtype of the outputs, float32 at least.
        gradients = F.pad(torch.cat([of_speech, of_images], 1), (0, 0, 0, 1))[ctx.indices]
        local = gradients.new_empty(len(ctx.indices) // dist.get_world_size(), gradients.shape[1])
        dist.reduce_scatter_single(local, gradients)
        speech, images = local[: ctx.local].split([of_speech.shape[1], of_images.shape[1]], 1)
        return speech.to(ctx.dtypes[0]), images.to(ctx.dtypes[1]), None, None, None
