"""Saving and loading of trained dual encoders, and warm starts by tower (CSC §4.3 and table 2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.models.encoders import ENCODERS, ImageEncoder
from components.models.model_files import CONFIG, WEIGHTS, load_state, read_config, read_weights_of, write_model

__all__ = ["CONFIG", "KIND", "TOWERS", "WEIGHTS", "LoadedDualEncoder", "load_dual_encoder", "save_dual_encoder", "warm_start"]

KIND = "dual_encoder"
TOWERS = ("speech", "image")


class LoadedDualEncoder(NamedTuple):
    """A dual encoder ready to embed, and its ``config.json``."""

    model: DualEncoder
    config: dict[str, Any]


def save_dual_encoder(folder: Path, weights: Mapping[str, Tensor], config: Mapping[str, Any]) -> None:
    """Write weights and config to ``folder``; ``config`` has ``network`` (:meth:`DualEncoderConfig.plain`) and any other keys.

    Raises:
        ValueError: ``network`` is missing or invalid.
    """
    DualEncoderConfig.of(config.get("network", {}))
    write_model(folder, weights, {**config, "kind": KIND})


def load_dual_encoder(
    folder: Path, image_encoder: ImageEncoder | Callable[[DualEncoderConfig], ImageEncoder | None] | None = None
) -> LoadedDualEncoder:
    """Return the trained dual encoder in ``folder``, in eval mode, with gradients enabled.

    Args:
        image_encoder: for an image network without a built-in implementation (efficientnet_lite0), one of its name and side,
            or a function that builds it from the configuration. It receives the folder's weights. Otherwise not used.

    Raises:
        ValueError: a file is missing, damaged, of another kind or version, or an encoder is required (one line).
    """
    config = read_config(folder / CONFIG, KIND)
    try:
        chosen = DualEncoderConfig.of(config["network"])
    except ValueError as error:
        raise ValueError(f"{folder / CONFIG}: {error}") from None
    weights = read_weights_of(folder / WEIGHTS, KIND)
    encoder: ImageEncoder | None = None
    if chosen.image in ENCODERS and image_encoder is not None:
        encoder = image_encoder if isinstance(image_encoder, ImageEncoder) else image_encoder(chosen)
    elif chosen.image == "efficientnet_lite0":
        raise ValueError(f"{folder / CONFIG}: its image network, {chosen.image}, is not built in: pass an image encoder")
    model = DualEncoder(chosen, encoder)
    load_state(model, weights, folder / WEIGHTS)
    return LoadedDualEncoder(model.eval(), config)


def warm_start(network: DualEncoder, source: LoadedDualEncoder, towers: Collection[str]) -> list[str]:
    """Copy whole towers of a trained dual encoder into ``network``, in place.

    Weights and batch norm statistics are copied, and with the speech tower the mean and deviation of its training input.

    Args:
        towers: any of ``speech`` and ``image``.

    Returns:
        The names of the copied tensors in :meth:`torch.nn.Module.state_dict`, in order.

    Raises:
        ValueError: a tower is unknown, or its network or size differs (one line); nothing was copied.
    """
    unknown = sorted(set(towers) - set(TOWERS))
    if unknown:
        raise ValueError(f"'{unknown[0]}' is not a tower; choose of {' and '.join(TOWERS)}")
    target_state, source_state = network.state_dict(), source.model.state_dict()
    pairs: dict[str, tuple[Tensor, Tensor]] = {}
    for tower in sorted(towers):
        target_network, source_network = getattr(network.config, tower), getattr(source.model.config, tower)
        if target_network != source_network:
            raise ValueError(f"the {tower} tower is {target_network}, and the one to start from is {source_network}")
        if tower == "speech" and network.config.vocabulary != source.model.config.vocabulary:
            raise ValueError("the speech tower and the one to start from differ: it knows other words")
        if tower == "speech" and network.config.ear_sha256 != source.model.config.ear_sha256:
            raise ValueError("the speech tower and the one to start from differ: it reads states of another encoder")
        names = sorted(name for name in target_state.keys() | source_state.keys() if name.startswith(f"{tower}."))
        for name in names:
            if name not in target_state or name not in source_state:
                raise ValueError(f"the {tower} tower and the one to start from differ: one of them has no {name}")
            if target_state[name].shape != source_state[name].shape:
                shapes = f"{tuple(target_state[name].shape)}, and the one to start from has {tuple(source_state[name].shape)}"
                raise ValueError(f"the {tower} tower is of another size: {name} is {shapes}")
            pairs[name] = target_state[name], source_state[name]
    for target, value in pairs.values():
        # state_dict tensors share the network's memory, so that an optimiser that holds the parameters sees the change.
        target.copy_(value)
    return list(pairs)
