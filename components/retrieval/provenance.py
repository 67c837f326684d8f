"""What a trained model's key is made of, besides its inputs and its settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from components.core.code_digest import code_digest
from components.core.digests import digest_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from components.core.stage_output import StageOutput
    from components.retrieval.settings import Towers

START = "start"
"""The input that holds the pretrained models."""


def training_code_digest(root: Path) -> str:
    """The digest of the code that trains, for the folder of its checkpoints."""
    return digest_value([code_digest(root, "components.retrieval.jobs")])


def starting_weights(towers: Towers, root: Path) -> str:
    """What the weights that a large image tower begins from are known by; empty where it begins from nothing.

    Raises:
        HearsightError: the file cannot be read.
    """
    if not towers.weights:
        return ""
    from components.vision.image_encoders import weights_digest

    return weights_digest(towers.image, root / towers.weights)


def input_digests(inputs: Mapping[str, StageOutput]) -> dict[str, str]:
    """The digest of each set. Of pretrained models only the one that is begun from counts, so that more of them undo nothing."""
    return {name: output.digest for name, output in inputs.items() if name != START}
