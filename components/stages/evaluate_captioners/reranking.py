"""Consensus reranking: hypotheses of test images, and of validation images that choose the weight of the consensus.

Only captions of the training split of a model's own set are compared with. Images are similar by the mean feature vector of the
pretrained encoder.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.addresses import parse_output_name
from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.execution.stage import Job, Stage, Task
from components.metrics.consensus import NeighbourCaptions, choose, choose_weight, nearest_images
from components.stages.evaluate_captioners.inputs import EvaluationSet, Item, Model, read_set, read_settings
from components.stages.evaluate_captioners.jobs import write_hypotheses
from components.training.members import Members
from components.vision.trained_encoders import MeanVectors

CONSENSUS, VECTORS = "consensus.json", "vectors.npy"


def rerank_all(
    stage: Stage, sets: Sequence[EvaluationSet], models: Sequence[Model]
) -> tuple[dict[tuple[str, str], list[str]], dict[str, float]]:
    """Return (test set, model) → captions of the models with reranking, and model → weight of the consensus.

    Raises:
        HearsightError: the training set of a model is no input or has no validation split, or a set holds images.
    """
    params, models = stage.params.consensus, [model for model in models if model.reranked]
    if not models:
        return {}, {}
    trainings = {model.training: _training_input(stage, model.training) for model in models}
    pairs = [(test_set, model) for test_set in sets for model in models]
    if params.weight is None:
        validations = {name: read_set(given, stage.inputs[given], "validation") for name, given in trainings.items()}
        pairs += [(validations[model.training], model) for model in models]
    hypotheses = write_hypotheses(stage, pairs, params.beam, best=params.beam)
    texts = [[[text for text, _ in known] for known in of] for of in hypotheses]
    likely = [[[score for _, score in known] for known in of] for of in hypotheses]
    nearest = _nearest(stage, [(items, trainings[model.training]) for items, model in pairs])
    jobs = []
    for (items, model), captions in zip(pairs, texts, strict=True):
        training = trainings[model.training]
        spec = {"training": training, "training_set": stage.inputs[training].digest, "captions": params.captions}
        spec |= {"nearest": nearest[items.input, items.split, training], "hypotheses": captions}
        jobs.append(Job(f"{items.name}.{items.split}.{model.name}", spec, content_addressed=True))
    folders = stage.jobs(score_consensus, jobs, step="consensus", params={})
    agreed = [json.loads((folder / CONSENSUS).read_text(encoding="utf-8")) for folder in folders]
    weights = {} if params.weight is None else {model.name: params.weight for model in models}
    for (items, model), known, scores, agreement in zip(pairs, texts, likely, agreed, strict=True):
        if items.split == "validation":
            tokens = [[text.split() for text in of] for of in known]
            weights[model.name] = choose_weight(tokens, scores, agreement, [item.words for item in items.items])
    written = {}
    for (items, model), known, scores, agreement in zip(pairs, texts, likely, agreed, strict=True):
        if items.split == "test":
            chosen = choose(scores, agreement, weights[model.name])
            written[items.name, model.name] = [of[index] for of, index in zip(known, chosen, strict=True)]
    return written, weights


def _training_input(stage: Stage, dataset: str) -> str:
    """Return the name of the input that holds a training set."""
    for name, output in stage.inputs.items():
        if output.manifest.record == "FEATURES" and parse_output_name(output.name)[0] == dataset:
            return name
    raise HearsightError(
        f"lacks the training set {dataset}, whose captions the consensus is with",
        where=f"chain.evaluate_captioners.{stage.dataset}",
        hint="add its extract_features, or set evaluate_captioners.consensus.neighbours: 0",
    )


def _nearest(stage: Stage, pairs: Sequence[tuple[EvaluationSet, str]]) -> dict[tuple[str, str, str], list[list[int]]]:
    """Return (input, split, training input) → the positions of the training images that are nearest to each item."""
    # A split's vectors are computed once for all pairs: with trained blocks a minute of work.
    splits = {(items.input, items.split): stage.inputs[items.input] for items, _ in pairs}
    splits |= {(training, "train"): stage.inputs[training] for _, training in pairs}
    jobs = [
        Job(f"{name}.{split}", {"input": name, "set": output.digest, "split": split}, content_addressed=True)
        for (name, split), output in splits.items()
    ]
    folders = stage.jobs(write_vectors, jobs, step="vectors", params={})
    vectors = {key: np.load(folder / VECTORS) for key, folder in zip(splits, folders, strict=True)}
    wanted = {(items.input, items.split, training) for items, training in pairs}
    most = stage.params.consensus.neighbours
    return {
        (name, split, training): nearest_images(vectors[name, split], vectors[training, "train"], most).tolist()
        for name, split, training in wanted
    }


def write_vectors(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``vectors.npy``: the vector of each whole image of a split, n × F.

    Raises:
        HearsightError: the set holds images instead of features.
    """
    output = task.inputs[spec["input"]]
    np.save(folder / VECTORS, mean_features(output, read_set(spec["input"], output, spec["split"]).items))


def score_consensus(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``consensus.json``: the consensus of each of ``spec["hypotheses"]``, in the order of the set's items."""
    known = read_set(spec["training"], task.inputs[spec["training"]], "train").items
    captions = NeighbourCaptions([item.words for item in known], spec["captions"])
    scores = captions.consensus(spec["nearest"], [[text.split() for text in of] for of in spec["hypotheses"]])
    (folder / CONSENSUS).write_text(json.dumps([of.tolist() for of in scores]), encoding="utf-8")


def mean_features(output: StageOutput, items: Sequence[Item]) -> NDArray[np.floating]:
    """Return the vector of each whole image, n × F; raise HearsightError if the set holds images."""
    members = Members(output, [item.media for item in items])
    about = read_settings(output).get("encoder", {})
    mean = MeanVectors({} if about.get("trained") else about)
    try:
        return np.stack([mean(members.choose_view(at, first=not mean.reads_cells)) for at in range(len(items))])
    except HearsightError as error:
        hint = "set evaluate_captioners.consensus.neighbours: 0, or prepare the set with a frozen encoder"
        raise HearsightError(f"the consensus compares features: {error}", where=output.path, hint=hint) from error
