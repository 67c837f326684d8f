"""Fine-tune dual encoders on human speech, from a pretrained model's towers or from scratch (CSC §4.3).

Input: ``input``, UTTERANCE records of human recordings; ``pictures``, the FEATURES records of their pictures; ``start``, the
pretrained models. Output: MODEL records and ``models/<start>-<percent>-<seed>/{weights.safetensors, config.json, history.csv}``;
the curves are exported. A row is the set of towers (none, audio, image, both) that start from the pretrained model of the same
seed (table 2), and a percentage of the training pairs (figure 3); ``rows`` lists the rows to train.
Not in scope: pretraining (``pretrain_retrieval``), scores (``evaluate_retrieval``).
"""

from __future__ import annotations

from components.core.params import Settings
from components.retrieval.settings import FineTuningSettings
from components.training.settings import Hardware


class Params(Settings):
    """What is fitted to what."""

    rows: list[str] = ["none-100", "audio-100", "image-100", "both-100"]
    """``<start>-<percent>`` each: none-100, audio-100, image-100 and both-100 are table 2; other percents draw figure 3. CSC
    table 2: these four."""
    seeds: list[int] = [0]
    """One model of each row is trained for each, from the pretrained model of that seed. CSC names none."""
    pretrained: str = "mms-48"
    """Which row of ``train`` to begin from, as mms-48; its networks are used from scratch, too. CSC §4.3: mms-48."""
    loss: str = "mms"
    """mms or triplet. CSC §4.1: mms."""
    model: FineTuningSettings = FineTuningSettings()
    """How they are trained."""
    hardware: Hardware = Hardware()
    """What it runs on."""
