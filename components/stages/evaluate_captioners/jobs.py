"""The jobs: captions of each model for each test set, then scores; each is cached by the content of what it reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from components.stages.evaluate_captioners.inputs import EvaluationSet, Model
from components.stages.evaluate_captioners.scoring import (
    CONSTANT,
    Scored,
    choose_constant,
    read_besides,
    read_scores,
    score_captions,
)
from components.stages.evaluate_captioners.writing import CAPTIONS, write_captions

if TYPE_CHECKING:
    from components.execution.stage import Stage


class Constant(NamedTuple):
    """One caption said of every picture."""

    caption: str
    train: float
    """Its CIDEr-D on the training split, by which it was chosen."""
    scored: Scored


Written = Mapping[tuple[str, str], list[str]]
"""(test set, model) → the caption of each item."""


def write_all(stage: Stage, sets: Sequence[EvaluationSet], models: Sequence[Model]) -> dict[tuple[str, str], list[str]]:
    """What each model writes for each item of each set."""
    from components.execution.stage import Job

    pairs = [(found, model) for found in sets for model in models]
    jobs = [
        Job(
            f"{found.name}.{model.name}",
            {"test": found.input, "set": found.digest, "cell": model.cell, "folder": model.folder, "model": model.digests},
            content_addressed=True,
        )
        for found, model in pairs
    ]
    settings = {"beam": stage.params.beam, "length_power": stage.params.length_power}
    folders = stage.jobs(write_captions, jobs, step="captions", params=settings)
    written = {}
    for (found, model), folder in zip(pairs, folders, strict=True):
        captions: dict[str, str] = json.loads((folder / CAPTIONS).read_text(encoding="utf-8"))
        written[found.name, model.name] = [captions[item.picture] for item in found.items]
    return written


def score_all(
    stage: Stage, sets: Sequence[EvaluationSet], models: Sequence[Model], written: Written
) -> tuple[dict[tuple[str, str], Scored], dict[str, Constant]]:
    """Scores of each model on each set, and each set's constant caption (none where it has no training split)."""
    from components.execution.stage import Job

    tries = [
        Job(found.name, {"test": found.input, "set": found.digest, "constants": stage.params.constants}, content_addressed=True)
        for found in sets
    ]
    chosen: dict[str, Any] = {}
    for found, folder in zip(sets, stage.jobs(choose_constant, tries, step="constant", params={}), strict=True):
        chosen[found.name] = json.loads((folder / CONSTANT).read_text(encoding="utf-8"))

    said = {(found.name, model.name): written[found.name, model.name] for found in sets for model in models}
    said |= {(found.name, ""): [chosen[found.name]["caption"]] * len(found.items) for found in sets if chosen[found.name]}
    by_name = {found.name: found for found in sets}
    learned = {model.name: by_name[model.training].language for model in models if model.training in by_name}
    outside = read_besides(stage.params.meteor, stage.params.spice)
    jobs = [
        Job(
            f"{test}.{model or 'constant'}",
            {
                "test": by_name[test].input,
                "set": by_name[test].digest,
                "language": learned.get(model, by_name[test].language),
                "captions": captions,
                "jars": {"meteor": stage.params.meteor, "spice": stage.params.spice},
                "outside": outside,
            },
            content_addressed=True,
        )
        for (test, model), captions in said.items()
    ]
    folders = stage.jobs(score_captions, jobs, step="scores", params={})
    scored = {pair: read_scores(folder, said[pair]) for pair, folder in zip(said, folders, strict=True)}
    constants = {
        test: Constant(chosen[test]["caption"], chosen[test]["train"], found)
        for (test, model), found in scored.items()
        if not model
    }
    return {pair: found for pair, found in scored.items() if pair[1]}, constants
