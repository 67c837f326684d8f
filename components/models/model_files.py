"""A trained network's folder, ``weights.safetensors`` and ``config.json``: written, and read back with clear errors.

What all kinds of networks share; captioners (``trained.py``) and dual encoders (``loading.py``) add what is their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor, nn

WEIGHTS, CONFIG = "weights.safetensors", "config.json"


def write_model(folder: Path, weights: Mapping[str, Tensor], config: Mapping[str, Any]) -> None:
    """Write the two files; ``config`` is JSON-able and holds ``kind`` and ``network``."""
    from safetensors.torch import save

    (folder / WEIGHTS).write_bytes(save({name: tensor.contiguous() for name, tensor in weights.items()}))
    (folder / CONFIG).write_text(json.dumps(config, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def read_config(path: Path, kind: str, needed: tuple[str, ...] = ()) -> dict[str, Any]:
    """``config.json`` of a network of that kind.

    Args:
        needed: what it must have besides ``network``, a mapping.

    Raises:
        ValueError: one line: it is missing, no JSON, of another kind, or lacks something.
    """
    called = kind.replace("_", " ")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{path}: is missing: this folder holds no trained {called}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: is not whole JSON ({_line(error)})") from None
    if not isinstance(config, dict) or config.get("kind") != kind:
        raise ValueError(f"{path}: does not describe a {called}")
    missing = [name for name in ("network", *needed) if name not in config]
    if missing:
        raise ValueError(f"{path}: lacks {', '.join(missing)}")
    if not isinstance(config["network"], dict):
        raise ValueError(f"{path}: lacks the settings of its network")
    return config


def read_weights_of(path: Path, kind: str) -> dict[str, Tensor]:
    """The tensors of ``weights.safetensors``; ValueError in one line when it is missing or not whole."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except FileNotFoundError:
        raise ValueError(f"{path}: is missing: this folder holds no trained {kind.replace('_', ' ')}") from None
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path}: is not a whole safetensors file ({_line(error)})") from None


def load_state(model: nn.Module, weights: Mapping[str, Tensor], path: Path, depends: str = "size") -> None:
    """Put ``weights`` into ``model``, all or none.

    Args:
        path: where they are from, for errors.
        depends: what shapes depend on besides the network's name, for errors.

    Raises:
        ValueError: one line: other names, or another shape.
    """
    own = model.state_dict()
    missing, more = sorted(set(own) - set(weights)), sorted(set(weights) - set(own))
    if missing or more:
        what = f"{len(missing)} weights are missing, {len(more)} too many, as {(missing + more)[0]}"
        raise ValueError(f"{path}: is of another network than its config.json says: {what}")
    for name, tensor in own.items():
        if tensor.shape != weights[name].shape:
            shapes = f"{tuple(weights[name].shape)}, not {tuple(tensor.shape)}"
            raise ValueError(f"{path}: is of another {depends} than its config.json says: {name} is {shapes}")
    model.load_state_dict(weights)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
