"""Train one captioning network on one prepared set with several seeds: a cell of the matrix network × set.

Input: ``input``, the FEATURES records with their features or images. Output: MODEL records and
``models/<network>-<seed>/{weights.safetensors, config.json, history.csv}``; the curves are exported. Each seed is a cached job;
Lightning checkpoints and resumes it exactly. The output holds the weights of the epoch with the best validation CIDEr-D.
Sources: CC §4 and §5.2; AoANet and self-critical training: PCV §5.4. Not in scope: scores on test sets
(``evaluate_captioners``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, create_model

from components.core.errors import HearsightError
from components.core.params import Positive, Settings, did_you_mean
from components.models.captioners import NETWORKS
from components.training.settings import Hardware, Optimisation


class SelfCritical(Settings):
    """Self-critical training on CIDEr-D, after cross-entropy (Rennie et al. 2017)."""

    epochs: int = 0
    """Passes over the training images; 0 leaves the phase out. CC §5.2: none."""
    batch: int = 10
    """Images a step, over all devices together. AoANet (Huang et al. 2019): 10."""
    samples: int = 5
    """Captions drawn for each image. Ours."""
    baseline: Literal["greedy", "mean"] = "greedy"
    """What a sample's reward is held to: the greedy caption's, or the mean of the image's other samples'. Rennie et al.
    2017: greedy."""
    learning_rate: float = 0.00002
    """Constant; the optimiser begins anew. AoANet (Huang et al. 2019): 2e-5."""

    def check(self, where: str) -> None:
        """Require other samples where a sample's reward is held to their mean."""
        if self.epochs and self.baseline == "mean" and self.samples < 2:
            what = "needs at least two samples per image for the baseline 'mean'"
            raise HearsightError(what, where=where, hint="raise samples, or set baseline: greedy")


class NetworkSettings(Optimisation):
    """A captioning network and its training; the defaults are those of CC §5.2.

    A network with other defaults gets a subclass that names it in ``networks``.
    """

    networks: ClassVar[tuple[str, ...]] = ()
    """The networks that have these defaults; those that no class names have CC's."""

    epochs: Positive = 38
    """Passes over the training captions. CC §5.2: 5 M steps of 25, which are 38 passes over the 3,318,333 of table 3."""
    batch: Positive = 25
    """Captions a step, over all devices together. CC §5.2: 25."""
    captions_per_image: Positive = 1
    """Captions of one image that a step reads together, so that the image is encoded once for all of them: faster where
    images have several captions (docs/training.md). CC §5.2: 1, its images have one caption."""
    optimiser: Literal["adam", "adamw", "adagrad"] = "adagrad"
    """Adam, Adam with decoupled decay, or Adagrad. CC §5.2: adagrad."""
    learning_rate: float = 0.01
    """At its highest. CC §5.2: .01."""
    decay_per_1000: float = 1.0
    """Factor of the learning rate every 1000 steps, applied continuously. CC §5.2 names none: 1."""
    weight_decay: float = 0.0
    """L2 term (adamw: decoupled). CC §5.2 names none: 0."""
    width: int = 512
    """Of word vectors and hidden layers. CC §5.2: 512."""
    heads: int = 8
    """Attention heads. CC §5.2: 8."""
    layers: int = 6
    """Encoder and decoder layers each; the recurrent networks have one whatever this says. CC §5.2: 6."""
    feedforward: int = 2048
    """Of the transformers' hidden layers between two attentions. CC §5.2: Vaswani et al. 2017, 2048."""
    encoder_rate: float = 1.0
    """Factor of the learning rate for what is trained of an encoder; with pretrained weights less. CC §5.2 names none: 1."""
    pre_norm: bool = False
    """Transformers: norms before each part, steadier without a warm-up; false: after each. CC §5.2: false."""
    dropout: float = 0.1
    """Share of activations dropped while training. CC §5.2: Vaswani et al. 2017, .1."""
    label_smoothing: float = 0.0
    """Probability spread over all words; 0 is plain maximum likelihood. CC §5.2: maximum likelihood."""
    self_critical: SelfCritical = SelfCritical()
    """The second phase."""


class RecurrentSettings(NetworkSettings):
    """The recurrent networks rnn1x1 and rnn8x8: one LSTM each for encoder and decoder."""

    networks: ClassVar[tuple[str, ...]] = ("rnn1x1", "rnn8x8")

    heads: int = 1
    """Attention heads. Ours."""
    layers: int = 1
    """Of the LSTMs; they have one whatever this says. CC §5.2: 1."""
    feedforward: int = 0
    """None in these networks."""
    dropout: float = 0.0
    """Share of activations dropped while training. CC §5.2 names none: 0."""


class AoANetSelfCritical(SelfCritical):
    """Self-critical training as AoANet's (PCV §5.4; Huang et al. 2019)."""

    epochs: int = 15
    """Passes over the training images; 0 leaves the phase out. PCV §5.4 has the phase; Huang et al. 2019: 15."""


class AoANetSettings(NetworkSettings):
    """AoANet (PCV §5.4), with the values of Huang et al. 2019 where PCV names none."""

    networks: ClassVar[tuple[str, ...]] = ("aoanet",)

    width: int = 1024
    """Of word vectors and hidden layers. Huang et al. 2019: 1024."""
    epochs: Positive = 30
    """Passes over the training captions. Huang et al. 2019: 30."""
    batch: Positive = 10
    """Captions a step, over all devices together. Huang et al. 2019: 10."""
    optimiser: Literal["adam", "adamw", "adagrad"] = "adam"
    """Adam, Adam with decoupled decay, or Adagrad. Huang et al. 2019: adam."""
    learning_rate: float = 0.0002
    """At its highest. Huang et al. 2019: 2e-4."""
    dropout: float = 0.3
    """Share of activations dropped while training. Ours."""
    self_critical: AoANetSelfCritical = AoANetSelfCritical()
    """The second phase."""


class CaptionerSettings(NetworkSettings):
    """Settings of one training job: those of its network, and those that all networks trained on a set share."""

    longest: int = 15
    """Words of a caption at most."""
    min_count: int = 4
    """Words rarer than this in the training captions are unknown."""


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
