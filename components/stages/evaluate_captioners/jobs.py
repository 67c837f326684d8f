"""Jobs that caption and score; each is cached by the content of its inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from components.execution.stage import Job, Stage
from components.stages.evaluate_captioners.inputs import EvaluationSet, Model
from components.stages.evaluate_captioners.scoring import (
    CONSTANT,
    Scored,
    choose_constant,
    digest_scoring_inputs,
    read_scores,
    score_captions,
)
from components.stages.evaluate_captioners.writing import CAPTIONS, Hypothesis, write_captions

Written = Mapping[tuple[str, str], list[str]]
"""(test set, model) → the caption of each item."""


def write_all(stage: Stage, sets: Sequence[EvaluationSet], models: Sequence[Model]) -> dict[tuple[str, str], list[str]]:
    """Caption the items of each set with each model decoded plainly; return (test set, model) → captions."""
    pairs = [(test_set, model) for test_set in sets for model in models if not model.reranked]
    hypotheses = write_hypotheses(stage, pairs, stage.params.beam, best=1)
    return {
        (test_set.name, model.name): [best for ((best, _), *_) in of]
        for (test_set, model), of in zip(pairs, hypotheses, strict=True)
    }


def write_hypotheses(
    stage: Stage, pairs: Sequence[tuple[EvaluationSet, Model]], beam: int, best: int
) -> list[list[list[Hypothesis]]]:
    """Return the ``best`` hypotheses of each item, for each pair of a set and a model."""
    jobs = [
        Job(
            f"{items.name}.{items.split}.{model.name}",
            {"input": items.input, "set": items.digest, "split": items.split, "files": model.files, "beam": beam, "best": best},
            content_addressed=True,
        )
        for items, model in pairs
    ]
    hardware = stage.params.hardware
    resources = hardware.resources(stage.engine)
    folders = stage.jobs(write_captions, jobs, step="captions", params=hardware, version=2, resources=resources)
    written = []
    for (items, _), folder in zip(pairs, folders, strict=True):
        captions: dict[str, list[Hypothesis]] = json.loads((folder / CAPTIONS).read_text(encoding="utf-8"))
        written.append([captions[item.image] for item in items.items])
    return written


def score_all(
    stage: Stage, sets: Sequence[EvaluationSet], models: Sequence[Model], written: Written
) -> tuple[dict[tuple[str, str], Scored], dict[str, Scored]]:
    """Return the scores of each model on each set, and each set's constant caption (none without a training split)."""
    constant_jobs = [
        Job(
            test_set.name,
            {"test": test_set.input, "set": test_set.digest, "constants": stage.params.constants},
            content_addressed=True,
        )
        for test_set in sets
    ]
    by_name = {test_set.name: test_set for test_set in sets}
    constant_folders = stage.jobs(choose_constant, constant_jobs, step="constant", params={})
    constants_json: dict[str, Any] = {
        test: json.loads((folder / CONSTANT).read_text(encoding="utf-8"))
        for test, folder in zip(by_name, constant_folders, strict=True)
    }
    captions_of = {(test, model.name): written[test, model.name] for test in by_name for model in models}
    captions_of |= {
        (test, ""): [constant["caption"]] * len(by_name[test].items) for test, constant in constants_json.items() if constant
    }
    languages = {model.name: by_name[model.training].language for model in models if model.training in by_name}
    resources = digest_scoring_inputs(stage.params.meteor, stage.params.spice)
    jobs = [
        Job(
            f"{test}.{model or 'constant'}",
            {
                "test": by_name[test].input,
                "set": by_name[test].digest,
                "language": languages.get(model, by_name[test].language),
                "captions": captions,
                "jars": {"meteor": stage.params.meteor, "spice": stage.params.spice},
                "outside": resources,
            },
            content_addressed=True,
        )
        for (test, model), captions in captions_of.items()
    ]
    folders = stage.jobs(score_captions, jobs, step="scores", params={})
    scored = {pair: read_scores(folder, captions_of[pair]) for pair, folder in zip(captions_of, folders, strict=True)}
    constants = {test: scores for (test, model), scores in scored.items() if not model}
    return {pair: scores for pair, scores in scored.items() if pair[1]}, constants
