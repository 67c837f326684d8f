"""A trained captioner's folder: ``weights.safetensors`` and ``config.json``, written and read back with clear errors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor, nn

from components.models.captioners import build
from components.models.captioners.interface import CaptionerConfig
from components.models.image_captioner import ImageCaptioner
from components.models.model_files import CONFIG, WEIGHTS, load_state, read_config, read_weights_of, write_model

__all__ = ["CONFIG", "KIND", "WEIGHTS", "TrainedCaptioner", "load_trained", "save_trained", "vocabulary_digest"]

KIND = "captioner"


class TrainedCaptioner(NamedTuple):
    """A captioner ready to write, its words by number, and what else its ``config.json`` says."""

    model: ImageCaptioner
    vocabulary: list[str]
    config: dict[str, Any]

    def text(self, words: Sequence[int]) -> str:
        """Word numbers as a caption."""
        return " ".join(self.vocabulary[word] for word in words)


def vocabulary_digest(vocabulary: Sequence[str]) -> str:
    """What a checkpoint's words are known by, in their order."""
    return hashlib.sha256("\n".join(vocabulary).encode()).hexdigest()


def save_trained(folder: Path, weights: Mapping[str, Tensor], vocabulary: Sequence[str], config: Mapping[str, Any]) -> None:
    """Write the two files; ``config`` holds ``network`` (:meth:`CaptionerConfig.plain`) and whatever else is to be known."""
    whole = {**config, "kind": KIND, "vocabulary": list(vocabulary), "vocabulary_sha256": vocabulary_digest(vocabulary)}
    write_model(folder, weights, whole)


def load_trained(
    folder: Path,
    *,
    vocabulary: Sequence[str] | None = None,
    network: str | None = None,
    encoder: Callable[[dict[str, Any]], nn.Module] | None = None,
) -> TrainedCaptioner:
    """Read a trained captioner, in eval mode.

    Args:
        vocabulary: the words it must have been trained with; None takes its own.
        network: the network it must be; None takes any.
        encoder: makes the encoder that ``config["encoder"]`` names, for a captioner that was trained with its own.

    Raises:
        ValueError: one line: a file is missing or damaged, or the captioner is of another vocabulary or network.
    """
    config = _config(folder / CONFIG)
    words = config["vocabulary"]
    _match_words(folder / CONFIG, config, vocabulary)
    if network is not None and config["network"]["network"] != network:
        raise ValueError(f"{folder / CONFIG}: is of the network {config['network']['network']}, not {network}")
    unknown = set(config["network"]) - {field.name for field in fields(CaptionerConfig)}
    if unknown:
        raise ValueError(f"{folder / CONFIG}: has network settings of another version: {', '.join(sorted(unknown))}")
    weights = read_weights_of(folder / WEIGHTS, KIND)
    own = any(name.startswith("encoder.") for name in weights)
    if own and encoder is None:
        raise ValueError(f"{folder / WEIGHTS}: holds a trained encoder, {config.get('encoder')}, which is not built here")
    made = encoder(config["encoder"]) if own and encoder is not None else None
    model = ImageCaptioner(build(CaptionerConfig(**config["network"])), made)
    load_state(model, weights, folder / WEIGHTS, "vocabulary or size")
    return TrainedCaptioner(model.eval(), words, config)


def _config(path: Path) -> dict[str, Any]:
    config = read_config(path, KIND, ("vocabulary", "vocabulary_sha256"))
    if "network" not in config["network"]:
        raise ValueError(f"{path}: lacks the name of its network")
    return config


def _match_words(path: Path, config: Mapping[str, Any], wanted: Sequence[str] | None) -> None:
    words, size = config["vocabulary"], config["network"].get("vocabulary")
    if vocabulary_digest(words) != config["vocabulary_sha256"]:
        raise ValueError(f"{path}: its words are not those it was trained with (their digest differs)")
    if size != len(words):
        raise ValueError(f"{path}: has {len(words)} words for a network of {size}")
    if wanted is not None and list(wanted) != list(words):
        if len(wanted) != len(words):
            raise ValueError(f"{path}: is of another vocabulary: {len(words)} words, not {len(wanted)}")
        place = next(number for number, pair in enumerate(zip(words, wanted, strict=True)) if pair[0] != pair[1])
        raise ValueError(f"{path}: is of another vocabulary: word {place} is {words[place]!r}, not {wanted[place]!r}")
