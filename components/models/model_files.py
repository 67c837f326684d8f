"""A trained network's folder, ``weights.safetensors`` and ``config.json``: writing, and reading with clear errors.

Shared by all kinds of networks; see ``trained_captioner`` and ``dual_encoder_files``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

WEIGHTS, CONFIG = "weights.safetensors", "config.json"


def write_model(folder: Path, weights: Mapping[str, Tensor], config: Mapping[str, Any]) -> None:
    """Write both files; ``config`` is JSON-able and has ``kind`` and ``network``."""
    (folder / WEIGHTS).write_bytes(save({name: tensor.contiguous() for name, tensor in weights.items()}))
    (folder / CONFIG).write_bytes(config_bytes(config))


def config_bytes(config: Mapping[str, Any]) -> bytes:
    """Return the content of ``config.json``."""
    return (json.dumps(config, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8")


def read_config(path: Path, kind: str, needed: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return ``config.json`` of a network of this kind.

    Args:
        needed: required keys besides ``network``, which is a mapping.

    Raises:
        ValueError: the file is missing, not JSON, of another kind, or lacks a key (one line).
    """
    label = kind.replace("_", " ")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{path}: is missing: this folder holds no trained {label}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: is not complete JSON ({_line(error)})") from None
    if not isinstance(config, dict) or config.get("kind") != kind:
        raise ValueError(f"{path}: does not describe a {label}")
    missing = [name for name in ("network", *needed) if name not in config]
    if missing:
        raise ValueError(f"{path}: lacks {', '.join(missing)}")
    if not isinstance(config["network"], dict):
        raise ValueError(f"{path}: lacks the settings of its network")
    return config


def read_weights_of(path: Path, kind: str) -> dict[str, Tensor]:
    """Return the tensors of ``weights.safetensors``; raise ValueError (one line) if it is missing or damaged."""
    try:
        return load_file(path)
    except FileNotFoundError:
        raise ValueError(f"{path}: is missing: this folder holds no trained {kind.replace('_', ' ')}") from None
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path}: is not a whole safetensors file ({_line(error)})") from None


def load_state(model: nn.Module, weights: Mapping[str, Tensor], path: Path, depends: str = "size") -> None:
    """Load ``weights`` into ``model``, all or none.

    Args:
        depends: what shapes depend on besides the network's name, for errors.

    Raises:
        ValueError: names or shapes differ (one line).
    """
    state = model.state_dict()
    missing, extra = sorted(set(state) - set(weights)), sorted(set(weights) - set(state))
    if missing or extra:
        difference = f"{len(missing)} weights are missing and {len(extra)} unexpected, e.g. {(missing + extra)[0]}"
        raise ValueError(f"{path}: is of another network than its config.json says: {difference}")
    for name, tensor in state.items():
        if tensor.shape != weights[name].shape:
            shapes = f"{tuple(weights[name].shape)}, not {tuple(tensor.shape)}"
            raise ValueError(f"{path}: is of another {depends} than its config.json says: {name} is {shapes}")
    model.load_state_dict(weights)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
