"""What each captioner learned from: the captions of its training split, by their words, and its vocabulary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.metrics.caption_repetition import normalise_caption
from components.stages.evaluate_captioners.inputs import EvaluationSet, Model

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput
    from components.execution.stage import Stage


@dataclass(frozen=True)
class Learnt:
    """Of one model; None where the set that it learned from is not among the test sets."""

    language: str | None
    captions: frozenset[str] | None
    """As ``caption_repetition.normal`` has them; None also where the set has no training split."""
    vocabulary: Sequence[str] | None
    """The words it could write."""


UNTOLD = Learnt(None, None, None)
"""Of captions that no model wrote."""


def read_learnt(stage: Stage, sets: Sequence[EvaluationSet], models: Sequence[Model]) -> dict[str, Learnt]:
    """Model → what it learned from; each training set is read once."""
    trainings = {model.training for model in models}
    languages = {found.name: found.language for found in sets}
    captions = {found.name: _captions(stage.inputs[found.input]) for found in sets if found.name in trainings}
    return {
        model.name: Learnt(
            languages.get(model.training),
            captions.get(model.training),
            _vocabulary(stage.inputs[model.cell], model),
        )
        for model in models
    }


def _captions(output: StageOutput) -> frozenset[str] | None:
    import pyarrow.compute as pc

    table = output.table(["split", "caption"])
    texts = table.filter(pc.equal(table["split"], "train"))["caption"].unique().to_pylist()
    return frozenset(map(normalise_caption, texts)) or None


def _vocabulary(cell: StageOutput, model: Model) -> list[str]:
    from components.models.vocabulary import SPECIAL

    config = json.loads(cell.file(f"{model.folder}/config.json").read_text(encoding="utf-8"))
    return [word for word in config["vocabulary"] if word not in SPECIAL]
