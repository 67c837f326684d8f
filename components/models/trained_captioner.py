"""A trained captioner, with its encoder if that was trained too, and its folder: ``weights.safetensors`` and ``config.json``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from components.models.captioners import build
from components.models.captioners.interface import CaptionerConfig, CaptionNetwork
from components.models.model_files import CONFIG, WEIGHTS, load_state, read_config, read_weights_of, write_model


class ImageCaptioner(nn.Module):
    """Maps images or frozen features to the captioning network's input.

    Args:
        network: the captioning network.
        encoder: its ``encode`` maps B × 3 × side × side of 0..255 (:class:`components.models.encoders.ImageEncoder`), or the
            vectors of cells before its last blocks (:class:`components.models.encoders.LastBlocks`), to B × (1 + cells) × F, the
            whole image's vector first; None if nothing of it is trained.
    """

    def __init__(self, network: CaptionNetwork, encoder: nn.Module | None = None) -> None:
        super().__init__()
        self.network, self.encoder = network, encoder

    def see(self, features: Tensor) -> Tensor:
        """Return the network's input, B × L × F: the grid's cells row by row, or their mean alone.

        Args:
            features: B × L × F of any float dtype, converted to float32, which last blocks read first; or images,
                B × 3 × side × side, uint8.

        Raises:
            ValueError: images are given and there is no encoder.
        """
        pixels = features.dtype == torch.uint8
        if self.encoder is None and pixels:
            raise ValueError("this captioner reads a frozen encoder's features, not images")
        if self.encoder is None:
            return features.float()
        encode: Callable[[Tensor], Tensor] = self.encoder.encode  # type: ignore[assignment]
        vectors = encode(features if pixels else features.float())
        return vectors[:, 1:] if self.network.config.grid else vectors[:, :1]


__all__ = ["CONFIG", "KIND", "WEIGHTS", "TrainedCaptioner", "load_trained", "save_trained", "vocabulary_digest"]

KIND = "captioner"


class TrainedCaptioner(NamedTuple):
    """A captioner in eval mode, its vocabulary by id, and its ``config.json``."""

    model: ImageCaptioner
    vocabulary: list[str]
    config: dict[str, Any]

    def text(self, words: Sequence[int]) -> str:
        """Return word ids as a caption."""
        return " ".join(self.vocabulary[word] for word in words)


def vocabulary_digest(vocabulary: Sequence[str]) -> str:
    """Return the digest of a vocabulary, in order."""
    return hashlib.sha256("\n".join(vocabulary).encode()).hexdigest()


def save_trained(folder: Path, weights: Mapping[str, Tensor], vocabulary: Sequence[str], config: Mapping[str, Any]) -> None:
    """Write both files; ``config`` has ``network`` (:meth:`CaptionerConfig.plain`) and any other keys."""
    complete = {**config, "kind": KIND, "vocabulary": list(vocabulary), "vocabulary_sha256": vocabulary_digest(vocabulary)}
    write_model(folder, weights, complete)


def load_trained(folder: Path, *, encoder: Callable[[dict[str, Any]], nn.Module | None] | None = None) -> TrainedCaptioner:
    """Return the trained captioner in ``folder``, in eval mode.

    Args:
        encoder: builds the encoder of ``config["encoder"]``, for a captioner with a trained encoder.

    Raises:
        ValueError: a file is missing or damaged, or they do not belong together (one line).
    """
    config = read_captioner_config(folder / CONFIG)
    weights = read_weights_of(folder / WEIGHTS, KIND)
    has_encoder = any(name.startswith("encoder.") for name in weights)
    if has_encoder and encoder is None:
        raise ValueError(f"{folder / WEIGHTS}: holds a trained encoder, {config.get('encoder')}: pass a function that builds it")
    built = encoder(config["encoder"]) if has_encoder and encoder is not None else None
    model = ImageCaptioner(build(CaptionerConfig(**config["network"])), built)
    load_state(model, weights, folder / WEIGHTS, "vocabulary or size")
    return TrainedCaptioner(model.eval(), config["vocabulary"], config)


def read_captioner_config(path: Path) -> dict[str, Any]:
    """Return a captioner's ``config.json``; raise ValueError (one line) if it is missing, damaged, or of another version."""
    config = read_config(path, KIND, ("vocabulary", "vocabulary_sha256"))
    if "network" not in config["network"]:
        raise ValueError(f"{path}: lacks the name of its network")
    words, size = config["vocabulary"], config["network"].get("vocabulary")
    if vocabulary_digest(words) != config["vocabulary_sha256"]:
        raise ValueError(f"{path}: its words are not those it was trained with (their digest differs)")
    if size != len(words):
        raise ValueError(f"{path}: has {len(words)} words for a network of {size}")
    unknown = set(config["network"]) - {field.name for field in fields(CaptionerConfig)}
    if unknown:
        raise ValueError(f"{path}: has network settings of another version: {', '.join(sorted(unknown))}")
    return config
