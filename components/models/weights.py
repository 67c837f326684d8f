"""Loading of a network's weights from a user's file: ``.safetensors``, or torch's ``.pth``/``.pt``/``.bin``.

Everything is checked before anything is loaded, so an unsuitable file leaves the network unchanged. Pickles are read as tensors
only, so no code of theirs runs.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

WRAPPERS = ("state_dict_ema", "state_dict", "model")
"""Keys of the weights in training checkpoints, preferred ones first (timm's trainer writes the first two)."""
PREFIX = "module."
"""Prefix that DistributedDataParallel adds to each name."""
SHOWN = 3


def load_weights(network: nn.Module, path: Path, ignore: tuple[str, ...] = ()) -> nn.Module:
    """Load the weights of ``path`` into ``network`` and return it; device and dtype of its parameters stay.

    Args:
        network: its parameters and buffers have the file's names. The file may lack ``num_batches_tracked``.
        path: the file; its first bytes determine the format, not its suffix.
        ignore: prefixes of names that are not loaded and may be missing on either side, e.g. a classifier's.

    Raises:
        OSError: the file cannot be opened.
        ValueError: the file is not a checkpoint, is truncated, or has other names, other shapes or values that are not
            finite. One line that starts with the path; the network is unchanged.
    """
    weights = read_weights(path)
    state = {name: value for name, value in network.state_dict().items() if not name.startswith(ignore)}
    weights = {name: value for name, value in weights.items() if not name.startswith(ignore)}
    missing = [name for name in state if name not in weights and not name.endswith("num_batches_tracked")]
    unexpected = [name for name in weights if name not in state]
    if missing or unexpected:
        parts = [f"{what} {_some(names)}" for what, names in (("lacks", missing), ("has besides", unexpected)) if names]
        raise ValueError(f"{path}: weights of another network than {type(network).__name__}: it {' and '.join(parts)}")
    for name, value in weights.items():
        if value.shape != state[name].shape:
            raise ValueError(f"{path}: {name} has the shape {_shape(value)}, where the network has {_shape(state[name])}")
        if not torch.isfinite(value).all():
            raise ValueError(f"{path}: {name} holds values that are not finite")
    network.load_state_dict(weights, strict=False)
    return network


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return the file's tensors by name, on the CPU; errors of the file as in :func:`load_weights`."""
    with path.open("rb") as handle:
        head = handle.read(16)
    # A safetensors file begins with the length of its JSON header.
    weights = _safetensors(path) if head[8:9] == b"{" else _pickled(path)
    for wrapper in WRAPPERS:
        if isinstance(weights, dict) and isinstance(weights.get(wrapper), dict):
            weights = weights[wrapper]
            break
    tensors = isinstance(weights, dict) and all(isinstance(k, str) and isinstance(v, Tensor) for k, v in weights.items())
    if not tensors or not weights:
        raise ValueError(f"{path}: no weights: not a dictionary of names and tensors")
    if all(name.startswith(PREFIX) for name in weights):
        weights = {name.removeprefix(PREFIX): value for name, value in weights.items()}
    return weights


def _safetensors(path: Path) -> Any:
    try:
        return load_file(path)
    except (SafetensorError, ValueError, KeyError) as error:
        raise ValueError(f"{path}: damaged or truncated: not readable as safetensors ({_line(error)})") from error


def _pickled(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ValueError(f"{path}: not a checkpoint, or one that contains more than tensors ({_line(error)})") from error
    # torch has no specific error for foreign or truncated files.
    except Exception as error:
        if isinstance(error, (FileNotFoundError, PermissionError, MemoryError)):
            raise
        raise ValueError(f"{path}: not a checkpoint, or a truncated one ({type(error).__name__}: {_line(error)})") from error


def _some(names: list[str]) -> str:
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _shape(value: Tensor) -> str:
    return " × ".join(map(str, value.shape)) or "of one number"


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no reason given"])[0][:160]
