"""Trained dual encoders: saved, read back, and handed on tower by tower (CSC, section 4.3 and table 2: warm starts)."""

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
    """A dual encoder ready to embed, and what else its ``config.json`` says."""

    model: DualEncoder
    config: dict[str, Any]


def save_dual_encoder(folder: Path, weights: Mapping[str, Tensor], config: Mapping[str, Any]) -> None:
    """Write the two files; ``config`` holds ``network`` (:meth:`DualEncoderConfig.plain`) and whatever else is to be known.

    Raises:
        ValueError: ``network`` is missing or not what :meth:`DualEncoderConfig.plain` gives.
    """
    DualEncoderConfig.of(config.get("network", {}))
    write_model(folder, weights, {**config, "kind": KIND})


def load_dual_encoder(
    folder: Path, image_encoder: ImageEncoder | Callable[[DualEncoderConfig], ImageEncoder | None] | None = None
) -> LoadedDualEncoder:
    """Read a trained dual encoder, in eval mode, gradients on.

    Args:
        image_encoder: for an image network that is not built here (efficientnet_lite0) one of its name and side, or what makes
            one from the configuration. Its weights are those of the folder afterwards. Without need it is left alone.

    Raises:
        ValueError: one line: a file is missing, damaged, of something else or of another version, or an encoder is needed.
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
        raise ValueError(f"{folder / CONFIG}: its image network, {chosen.image}, is not built here: hand one in")
    model = DualEncoder(chosen, encoder)
    load_state(model, weights, folder / WEIGHTS)
    return LoadedDualEncoder(model.eval(), config)


def warm_start(network: DualEncoder, source: LoadedDualEncoder, towers: Collection[str]) -> list[str]:
    """Copy whole towers of a trained dual encoder into a new one, in place: weights, batch norms' figures, and with the speech
    tower the mean and deviation of the coefficients that it was trained on.

    Args:
        towers: of ``speech`` and ``image``, none, either or both.

    Returns:
        The names of the tensors copied, as :meth:`torch.nn.Module.state_dict` has them, in order.

    Raises:
        ValueError: one line: there is no such tower, or it is of another network or size; nothing was copied.
    """
    unknown = sorted(set(towers) - set(TOWERS))
    if unknown:
        raise ValueError(f"there is no tower '{unknown[0]}' to start from: {' and '.join(TOWERS)} are the towers")
    own, given = network.state_dict(), source.model.state_dict()
    pairs: dict[str, tuple[Tensor, Tensor]] = {}
    for tower in sorted(towers):
        ours, theirs = getattr(network.config, tower), getattr(source.model.config, tower)
        if ours != theirs:
            raise ValueError(f"the {tower} tower is {ours}, and the one to start from is {theirs}")
        names = sorted(name for name in own.keys() | given.keys() if name.startswith(f"{tower}."))
        for name in names:
            if name not in own or name not in given:
                raise ValueError(f"the {tower} tower and the one to start from differ: one of them has no {name}")
            if own[name].shape != given[name].shape:
                shapes = f"{tuple(own[name].shape)}, and the one to start from has {tuple(given[name].shape)}"
                raise ValueError(f"the {tower} tower is of another size: {name} is {shapes}")
            pairs[name] = own[name], given[name]
    for target, value in pairs.values():
        # A state's tensors are the network's own memory, and detached: an optimiser that holds the parameters sees the change.
        target.copy_(value)
    return list(pairs)
