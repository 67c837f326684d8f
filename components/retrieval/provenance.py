"""Parts of a trained model's cache key besides its inputs and settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from components.core.code_digest import code_digest
from components.core.digests import digest_value
from components.vision.image_encoders import weights_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from components.core.stage_output import StageOutput
    from components.retrieval.settings import Towers

START = "start"
"""Name of the input with the pretrained models."""


def training_code_digest(root: Path) -> str:
    """Return the digest of the training code, for the folder of its checkpoints."""
    return digest_value([code_digest(root, "components.retrieval.jobs")])


def starting_weights(towers: Towers, root: Path) -> str:
    """Return the digest of a large image tower's initial weights; empty without initial weights.

    Raises:
        HearsightError: the file cannot be read.
    """
    if not towers.weights:
        return ""
    return weights_digest(towers.image, root / towers.weights)


def input_digests(inputs: Mapping[str, StageOutput]) -> dict[str, str]:
    """Return the digest of each input set. Pretrained models are left out: the job's spec names the one that is used."""
    return {name: output.digest for name, output in inputs.items() if name != START}
