"""Frozen image encoders of a hub or a folder: vision transformers, the image tower of CLIP and SigLIP, convolutional networks.

The views are ours; of the model's image processor only mean, deviation and side count. Sides and grids are found without weights:
the network is built on torch's device ``meta``, which computes shapes alone, so no list of architectures is needed.
"""

from __future__ import annotations

import inspect
import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from components.core.errors import HearsightError
from components.hub.loading import load_model, load_part
from components.models.encoders import EncoderKind

if TYPE_CHECKING:
    from components.hub.model import HubFolder

HINT = "name an encoder of images (docs/providers.md)"


class _Reading(NamedTuple):
    """How a model reads an image of a given side."""

    auto: str
    """Name of transformers' class."""
    more: dict[str, bool]
    """Arguments beside the pixels."""
    tokens: int
    """Vectors before the grid's: a class token and registers."""
    pooled: bool
    """Whether the model's own pooled vector stands for the image, else the class token, or without one the mean."""


class HubEncoder:
    """A model as an encoder of square images."""

    def __init__(self, found: HubFolder, side: int = 0) -> None:
        """Load the weights; errors as :func:`hub_kind` and :func:`~components.hub.loading.load_model`."""
        self.kind, self.grid, self._reading = hub_kind(found, side)
        self.network = load_model(found, self._reading.auto)

    def to(self, device: torch.device) -> HubEncoder:
        """Move the network, and return this encoder."""
        self.network.to(device)
        return self

    def encode(self, pixels: Tensor) -> Tensor:
        """Map B × 3 × side × side of 0..255 (bytes or floats, RGB) to B × (1 + cells) × F: the pooled vector, then the cells.

        The pooled vector is the class token; of a model of images and texts, and where there is no class token, the model's own;
        of a feature map the mean.
        """
        made = self.network(pixel_values=self.kind.normalise(pixels), **self._reading.more)
        cells = made.last_hidden_state
        if cells.dim() == 4:
            cells = cells.flatten(2).transpose(1, 2)
        elif self._reading.pooled:
            return torch.cat([made.pooler_output[:, None], cells[:, self._reading.tokens :]], 1)
        elif self._reading.tokens:
            # The class token itself: a ViT's pooler is not trained if its weights come from a classifier.
            return torch.cat([cells[:, :1], cells[:, self._reading.tokens :]], 1)
        return torch.cat([cells.mean(1, keepdim=True), cells], 1)


@lru_cache(maxsize=8)
def hub_kind(found: HubFolder, side: int = 0) -> tuple[EncoderKind, tuple[int, int], _Reading]:
    """Return what is known of a model before its weights are loaded, for images of ``side`` px (0: its own side).

    Raises:
        HearsightError: it encodes no images, or none of that side, or as :func:`~components.hub.loading.load_part`.
    """
    # Imported on use: an optional extra, slow to load.
    import transformers

    whole, processor = load_part(found, "AutoConfig"), load_part(found, "AutoImageProcessor")
    config = getattr(whole, "vision_config", whole)
    auto = f"{type(whole).__name__.removesuffix('Config')}VisionModel" if config is not whole else "AutoModel"
    trained = _side(getattr(config, "image_size", None))
    # What its users give it: DINOv2 is configured for its last training's side, more than twice that.
    own = _side(processor.crop_size if getattr(processor, "do_center_crop", False) else processor.size) or trained
    side = side or own
    try:
        with torch.device("meta"), torch.no_grad():
            network = (getattr(transformers, auto) if config is not whole else transformers.AutoModel.from_config)(config)
            # Only some models have to be told; those that cannot interpolate refuse another side.
            told = side != trained and "interpolate_pos_encoding" in inspect.signature(network.forward).parameters
            more = {"interpolate_pos_encoding": True} if told else {}
            output = network.eval()(pixel_values=torch.zeros(1, 3, side, side), **more)
            made, pooler = output.last_hidden_state, output.get("pooler_output")
    except (AttributeError, ValueError, TypeError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:160]
        hint = f"give side {own}, or {HINT}"
        raise HearsightError(f"reads no images of {side} px ({reason})", where=found.name, hint=hint) from error
    tokens, rows, columns = _layout(made.shape, 1 + getattr(config, "num_register_tokens", 0))
    if not rows * columns:
        raise HearsightError(f"gives {tuple(made.shape[1:])} numbers, and no square grid", where=found.name, hint=HINT)
    unit = processor.rescale_factor if processor.do_rescale else 1.0
    mean, deviation = (processor.image_mean, processor.image_std) if processor.do_normalize else ([0.0], [1.0])
    kind = EncoderKind(
        "hub", side, tuple(one / unit for one in mean), tuple(one / unit for one in deviation),
        made.shape[1 if made.dim() == 4 else 2], "", lambda height, width: (rows, columns),
    )  # fmt: skip
    pooled = pooler is not None and (not tokens or config.model_type.endswith("vision_model"))
    return kind, (rows, columns), _Reading(auto, more, tokens, pooled)


def _layout(shape: tuple[int, ...], before: int) -> tuple[int, int, int]:
    """Return how many vectors precede the grid, and its rows and columns; no rows where there is no square grid.

    Args:
        before: vectors that precede the grid if any does.
    """
    if len(shape) == 4:
        return 0, shape[2], shape[3]
    for tokens in (before, 0):
        rows = math.isqrt(max(0, shape[1] - tokens))
        if rows and rows**2 == shape[1] - tokens:
            return tokens, rows, rows
    return 0, 0, 0


def _side(size: Any) -> int:
    """Return the side that a setting gives as a number, a pair, or by name; 0 for none."""
    if isinstance(size, (list, tuple)):
        return int(size[0])
    if size is None or isinstance(size, int):
        return size or 0
    named = dict(size)
    return int(named.get("height") or named.get("shortest_edge") or 0)
