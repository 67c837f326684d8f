"""Inference in batches on a processor or a GPU: placement of the network, and batches of inputs on its device.

Results equal those of one item at a time up to rounding: an embedding differs by at most :data:`TOLERANCE` of its length, and a
caption only where two hypotheses' log-probabilities differ by less than that. Not in scope: several GPUs, compiled networks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import nn
from torch.utils.data import Dataset

from components.core.errors import HearsightError
from components.execution.resources import forbid_tf32
from components.training.batches import loader
from components.training.failures import explain_failures
from components.training.settings import Inference

TOLERANCE = 1e-4
"""Largest difference between results of different batches or devices in single precision (docs/training.md, Inference)."""
GPU_BATCH = 64
"""Items computed together on a GPU if the settings name no number."""


def place(network: nn.Module, hardware: Inference) -> None:
    """Move a network to its device, in place; raise HearsightError if a GPU is asked for and there is none."""
    if hardware.device() == "gpu":
        forbid_tf32()
        network.to("cuda")


def device_of(network: nn.Module) -> torch.device:
    """Return the device of a network's weights."""
    return next(network.parameters()).device


def computing(hardware: Inference, device: torch.device) -> AbstractContextManager[Any]:
    """Return the context of a computation: with ``precision: bf16``, operations that are safe in bfloat16 use it."""
    return torch.autocast(device.type, torch.bfloat16) if hardware.precision == "bf16" else nullcontext()


def batch_size(hardware: Inference, device: torch.device, on_cpu: int) -> int:
    """Return how many items are computed together; ``on_cpu`` is the number that is fastest on a processor."""
    return hardware.batch or (on_cpu if device.type == "cpu" else GPU_BATCH)


def batches(
    read: Callable[[list[int]], Any], order: Sequence[int], size: int, device: torch.device, hardware: Inference
) -> Iterator[tuple[list[int], Any]]:
    """Yield items in batches: their numbers, and their inputs on the device.

    Args:
        read: returns the inputs of items, a tensor or a tuple of tensors; it runs in ``hardware.workers`` processes.
        order: the items' numbers in the order of computing; items of similar length side by side save padding.
        size: items of a batch; the last one may be smaller.

    Raises:
        HearsightError, ValueError: as ``read``, also from a reading process.
    """
    parts = [list(order[first : first + size]) for first in range(0, len(order), size)]
    for numbers, inputs in loader(_Reading(read), parts, hardware):
        if isinstance(inputs, Exception):
            raise inputs
        yield numbers, on_device(inputs, device)


class _Reading(Dataset[Any]):
    """Makes whole batches. Errors are returned, since a loader adds the traceback of its process to the message."""

    def __init__(self, read: Callable[[list[int]], Any]) -> None:
        self.read = read

    def __getitems__(self, numbers: list[int]) -> tuple[list[int], Any]:
        try:
            return numbers, self.read(numbers)
        except (HearsightError, ValueError) as error:
            return numbers, error


def on_device(inputs: Any, device: torch.device) -> Any:
    """Return a tensor, or the tensors of a tuple, on the device."""
    if isinstance(inputs, torch.Tensor):
        return inputs.to(device, non_blocking=True)
    return tuple(on_device(part, device) for part in inputs)


def explain_memory(size: int, where: str) -> AbstractContextManager[None]:
    """Turn insufficient memory into a HearsightError that names the settings to lower."""
    lower = "hardware.batch of this stage, or engine.workers if its jobs share the GPU, or set hardware.accelerator: cpu"
    return explain_failures(size, where, "finished jobs are kept", lower)
