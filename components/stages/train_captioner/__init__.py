"""Train one captioning network on one prepared set with several seeds: a cell of the matrix network × set.

Input: ``input``, the FEATURES records with their features or images. Output: MODEL records and
``models/<network>-<seed>/{weights.safetensors, config.json, history.csv}``; the curves are exported. Each seed is a cached job;
Lightning checkpoints and resumes it exactly. The output holds the weights of the epoch with the best validation CIDEr-D.
Sources: CC §4 and §5.2; AoANet and self-critical training: PCV §5.4. Not in scope: scores on test sets
(``evaluate_captioners``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, create_model

from components.core.errors import HearsightError
from components.core.params import Positive, Settings, did_you_mean
from components.models.captioners import NETWORKS
from components.stages.train_captioner.settings import NetworkSettings
from components.training.settings import Hardware


class Training(Settings):
    """What all networks on this set share."""

    seeds: list[int] = [0, 1, 2]
    """One model is trained for each. PCV §5.4: three runs."""
    min_count: Positive = 4
    """Words rarer than this in the training captions are unknown. CC §5.2: 4."""
    longest: Positive = 15
    """Words of a caption at most; longer ones are cut. CC §5.2: 15."""
    domain: str = ""
    """What the set's images show, in a few words, for readers of a description; empty: the dataset's name. Ours."""
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
    """Its own settings; in the file of its set under ``networks.<name>``."""

    @classmethod
    def of(cls, block: Mapping[str, Any]) -> type[Settings]:
        """Return the class whose defaults are those of the block's network."""
        return CELLS.get(str(block.get("name")), cls)

    def check(self, where: str) -> None:
        """Require a network of the table."""
        if self.name not in NETWORKS:
            new = f"choose one of {', '.join(NETWORKS)}, or add a line to NETWORKS of components/models/captioners/__init__.py"
            raise HearsightError(
                f"'{self.name}' is not a captioning network",
                where="datasets/captioners.yaml: networks",
                hint=did_you_mean(self.name, NETWORKS, new),
            )


def _cell(settings: type[NetworkSettings]) -> type[Params]:
    """Return the cell's settings for networks whose own are ``settings``."""
    meaning = Params.model_fields["network"].description
    name = settings.__name__.replace("Settings", "Cell")
    return create_model(name, __base__=Params, __module__=__name__, network=(settings, Field(settings(), description=meaning)))


CELLS = {name: _cell(settings) for settings in NetworkSettings.__subclasses__() for name in settings.networks}
"""Network → the class of its settings, where its defaults are not those of :class:`NetworkSettings`."""
