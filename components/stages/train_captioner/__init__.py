"""Train one captioning network on one prepared set with several seeds: a cell of the matrix network × set.

Input: ``input``, the PREPARED records with their features or pictures. Output: MODEL records and
``models/<network>-<seed>/{weights.safetensors, config.json, history.csv}``; the curves are exported. Each seed is a cached job;
Lightning checkpoints and resumes it exactly. The output holds the weights of the epoch with the best validation CIDEr-D.
Sources: CC §4 and §5.2; AoANet and self-critical training: PCV §5.4. Not in scope: scores on test sets
(``evaluate_captioners``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from components.core.addresses import PREPARED_FILE
from components.core.params import Settings
from components.stages.train_captioner.settings import AoANetSettings, NetworkSettings, RecurrentSettings
from components.training.settings import Hardware

if TYPE_CHECKING:
    from pathlib import Path

    from components.execution.stage import Stage


class Training(Settings):
    """What all networks on this set share."""

    seeds: list[int] = [0, 1, 2]
    """One model is trained for each. PCV §5.4: three runs."""
    min_count: int = 4
    """Words rarer than this in the training captions are unknown. CC §5.2: 4."""
    longest: int = 15
    """Words of a caption at most; longer ones are cut. CC §5.2: 15."""
    hardware: Hardware = Hardware()
    """What it runs on."""
    weights: str = ""
    """Where the encoder is trained too: the file that it begins from, below the project's root; empty for what is at hand, or for
    nothing. DVC does not see the file: after changing it, ``dvc repro -f``."""


class Params(Settings):
    """A cell's settings; the network selects the defaults of its own."""

    training: Training = Training()
    """What all networks on this set share."""
    name: str = "t2t8x8"
    """The network; given by the matrix."""
    network: NetworkSettings = NetworkSettings()
    """Its own settings; in params.yaml under ``networks.<name>``."""

    @classmethod
    def of(cls, block: Mapping[str, Any]) -> type[Settings]:
        """Return the class whose defaults are those of the block's network."""
        return CELLS.get(str(block.get("name")), cls)


class RecurrentCell(Params):
    """A recurrent network's settings."""

    network: RecurrentSettings = RecurrentSettings()
    """Its own settings; in params.yaml under ``networks.<name>``."""


class AoANetCell(Params):
    """AoANet's settings."""

    network: AoANetSettings = AoANetSettings()
    """Its own settings; in params.yaml under ``networks.<name>``."""


CELLS: dict[str, type[Params]] = {"rnn1x1": RecurrentCell, "rnn8x8": RecurrentCell, "aoanet": AoANetCell}
"""Network → the class of its settings, where its defaults are not those of :class:`NetworkSettings`."""


def run(stage: Stage) -> None:
    """Train a model for each seed and publish the models."""
    # The command line imports every stage: only a run loads pyarrow and numpy.
    from components.core.code_digest import code_digest
    from components.execution.stage import Job
    from components.stages.train_captioner.jobs import train_captioner
    from components.training.publishing import publish

    params: Params = stage.params
    training = params.training
    encoder = json.loads(stage.inputs["input"].file(PREPARED_FILE).read_text(encoding="utf-8"))["encoder"]
    if encoder["trained"]:
        # The digest of the file's content is part of the job's key, not only its path.
        encoder["weights"] = training.weights
        encoder["weights_sha256"] = starting_weights_digest(encoder["name"], stage.root, training.weights)
    settings = params.network.plain() | {"longest": training.longest, "min_count": training.min_count}
    jobs = [
        Job(f"{params.name}-{seed}", {"network": params.name, "seed": seed, "settings": settings, "encoder": encoder})
        for seed in training.seeds
    ]
    shared = {"code": code_digest(stage.root, "components.stages.train_captioner.jobs")}
    folders = stage.jobs(train_captioner, jobs, step="models", params=training.hardware, shared=shared)
    publish(stage, jobs, folders)


def starting_weights_digest(name: str, root: Path, weights: str) -> str:
    """Return the digest of the weights that a trained encoder starts from; empty for random weights.

    Raises:
        HearsightError: the file cannot be read.
    """
    # Only a run loads numpy.
    from components.vision.image_encoders import PACKAGED, weights_digest

    return weights_digest(name, root / weights if weights else None) if weights or name in PACKAGED else ""
