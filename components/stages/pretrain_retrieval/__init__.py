"""Train speech–image dual encoders from scratch on all sets of synthetic speech (CSC §4.2).

Input: ``input`` and ``more``, UTTERANCE records with audio; ``images`` and ``more_images``, the FEATURES records of their
images. Output: MODEL records and ``models/<row>-<seed>/{weights.safetensors, config.json, history.csv}``; the curves
are exported. A row of table 1 is a loss and a batch size; ``rows`` lists the rows to train. Each model is a cached job.
Not in scope: fine-tuning on human speech (``finetune_retrieval``), scores (``evaluate_retrieval``).
"""

from __future__ import annotations

from components.retrieval.settings import LOSSES, DualEncoderSettings, Towers, Voices, read_row
from components.training.settings import Hardware


class Params(Voices):
    """What is trained."""

    rows: list[str] = ["triplet-48", "mms-12", "mms-24", "mms-48"]
    """``<loss>-<batch>`` each: mms-48, mms-24, mms-12, triplet-48 are those of table 1. A speech tower before it replaces the one
    of ``towers``: whisper-mms-48, or text-mms-48, which reads the true words. CSC table 1: all four."""
    seeds: list[int] = [0]
    """One model of each row is trained for each. CSC names none."""
    towers: Towers = Towers()
    """The networks."""
    model: DualEncoderSettings = DualEncoderSettings()
    """How they are trained. ``epochs`` are those of a row of ``batch``; a row of another batch size takes as many steps, in whole
    epochs: 8 epochs of 48 are 2 of 12."""
    hardware: Hardware = Hardware()
    """What it runs on."""

    def check(self, where: str) -> None:
        """Require names of rows."""
        self.split_rows(f"{where}.rows")

    def split_rows(self, where: str = "rows") -> list[tuple[str, str, str, int]]:
        """Return (row, its tower or '', loss, batch size) of each row; raise HearsightError for a name that is none."""
        return [(row, *read_row(row, list(LOSSES), "a batch size", where)) for row in self.rows]
