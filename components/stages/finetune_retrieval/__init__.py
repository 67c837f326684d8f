"""Fine-tune dual encoders on human speech, from a pretrained model's towers or from scratch (CSC §4.3).

Input: ``input``, UTTERANCE records of human recordings; ``images``, the FEATURES records of their images; ``start``, the
pretrained models. Output: MODEL records and ``models/<row>-<seed>/{weights.safetensors, config.json, history.csv}``;
the curves are exported. A row is the set of towers (none, audio, image, both) that start from the pretrained model of the same
seed (table 2), and a percentage of the training pairs (figure 3); ``rows`` lists the rows to train.
Not in scope: pretraining (``pretrain_retrieval``), scores (``evaluate_retrieval``).
"""

from __future__ import annotations

from components.core.errors import HearsightError
from components.core.params import did_you_mean
from components.retrieval.settings import LOSSES, STARTS, FineTuningSettings, Voices, read_row
from components.training.settings import Hardware


class Params(Voices):
    """What is fitted to what."""

    rows: list[str] = ["none-100", "audio-100", "image-100", "both-100"]
    """``<start>-<percent>`` each: none-100, audio-100, image-100 and both-100 are table 2; other percents draw figure 3. CSC
    table 2: these four. A speech tower before it takes the pretrained row of that tower: whisper-both-100."""
    seeds: list[int] = [0]
    """One model of each row is trained for each, from the pretrained model of that seed. CSC names none."""
    pretrained: str = "mms-48"
    """Which row of ``pretrain_retrieval`` to begin from, as mms-48; its networks are used from scratch, too. CSC §4.3: mms-48."""
    loss: str = "mms"
    """mms or triplet. CSC §4.1: mms."""
    model: FineTuningSettings = FineTuningSettings()
    """How they are trained."""
    hardware: Hardware = Hardware()
    """What it runs on."""

    def check(self, where: str) -> None:
        """Require a loss, and names of rows."""
        if self.loss not in LOSSES:
            raise HearsightError(f"'{self.loss}' is not a loss", where=f"{where}.loss", hint=did_you_mean(self.loss, LOSSES))
        self.split_rows(f"{where}.rows")

    def split_rows(self, where: str = "rows") -> list[tuple[str, str, str, int]]:
        """Return (row, its tower or '', start, percentage of the pairs) of each row; raise HearsightError for a name that is
        none."""
        return [(row, *read_row(row, list(STARTS), "a percentage", where, most=100)) for row in self.rows]
