"""Captions and vocabulary that each captioner was trained on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from components.metrics.caption_repetition import normalise_caption
from components.models.vocabulary import SPECIAL
from components.stages.evaluate_captioners.inputs import EvaluationSet, Model

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput
    from components.execution.stage import Stage


@dataclass(frozen=True)
class TrainingTexts:
    """Training texts of one model; None for what is unknown, since its training set is not among the test sets."""

    language: str | None
    captions: frozenset[str] | None
    """Captions normalised by ``caption_repetition.normal``; None also without a training split."""
    vocabulary: Sequence[str] | None
    """The words that the model can write."""


UNKNOWN_TRAINING = TrainingTexts(None, None, None)
"""For captions that no model wrote."""


def read_training_texts(stage: Stage, sets: Sequence[EvaluationSet], models: Sequence[Model]) -> dict[str, TrainingTexts]:
    """Return model → its training texts; each training set is read once."""
    trainings = {model.training for model in models}
    languages = {test_set.name: test_set.language for test_set in sets}
    captions = {test_set.name: _captions(stage.inputs[test_set.input]) for test_set in sets if test_set.name in trainings}
    return {
        model.name: TrainingTexts(
            languages.get(model.training),
            captions.get(model.training),
            _vocabulary(stage.inputs[model.cell], model),
        )
        for model in models
    }


def _captions(output: StageOutput) -> frozenset[str] | None:

    table = output.table(["split", "caption"])
    texts = table.filter(pc.equal(table["split"], "train"))["caption"].unique().to_pylist()
    return frozenset(map(normalise_caption, texts)) or None


def _vocabulary(cell: StageOutput, model: Model) -> list[str]:

    config = json.loads(cell.file(f"{model.folder}/config.json").read_text(encoding="utf-8"))
    return [word for word in config["vocabulary"] if word not in SPECIAL]
