"""Datasets for captioners and dual encoders: to train on, or only to test on.

A table of captions may be a test set: of the captioners (CC §5.1), of the dual encoders of an output (CSC §4), or of both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from components.core.addresses import MATRICES, parse_output_name
from components.core.errors import HearsightError
from components.core.graph import EVERY_CELL, Graph
from components.core.params import did_you_mean, place
from components.tools.datasets.source_options import NewDataset

CAPTIONERS = next(iter(MATRICES))
TRAIN = MATRICES[CAPTIONERS][0]
STEPS = {"epochs": 40, "batch": 10}
"""What networks need to learn from some hundred captions."""
MODELS = ("pretrain_retrieval", "finetune_retrieval")
"""Stages whose outputs are dual encoders."""
LISTED = ("karpathy",)
"""Layouts whose file itself lists the test images."""


def make_training_set(name: str, new: NewDataset, graph: Graph) -> NewDataset:
    """Return the dataset with the captioners trained on it, and one of them tested on its test split.

    It is the first of ``networks`` in ``datasets/captioners.yaml``. The settings of all networks are those of the first training
    set, but for what a table of some hundred captions needs: more and smaller steps, and every word learned.

    Raises:
        HearsightError: there is no training set.
    """
    first, of_set = _first_set(graph), graph.params[CAPTIONERS]["networks"][0]
    networks = {network: dict(block) | STEPS for network, block in graph.params[first][TRAIN]["networks"].items()}
    settings: dict[str, dict[str, Any]] = {
        "extract_features": {"encoder": _encoder_of_captioners(graph)},
        TRAIN: {"training": {"seeds": [0], "min_count": 1}, "networks": networks},
    }
    comments = {
        f"{TRAIN}.training.min_count": "words rarer than this are unknown; CC section 5.2: 4",
        f"{TRAIN}.networks": "fewer epochs and batches of 25 suffice for thousands of captions",
    }
    tested = {"evaluate_captioners": {CAPTIONERS: f"{EVERY_CELL}/{name}-{of_set}"}}
    return replace(new, settings=new.settings | settings, comments={**new.comments, **comments}, inputs=tested, joins="sets")


def make_test_set(
    name: str, table: str, new: NewDataset, graph: Graph, *, captioners: bool, model: str = "", listed: str = ""
) -> NewDataset:
    """Return the test set of a table: its listed images are the test split, and all others are left out.

    Args:
        name: of the dataset.
        table: ``LAYOUT:FILE``.
        new: the dataset of that table.
        captioners: whether the captioners are tested on it.
        model: ``<dataset>/<stage>`` whose dual encoders are tested on it; empty for none.
        listed: a file that ``split.lists`` reads; empty: the table itself if it has a split, otherwise all images.

    Raises:
        HearsightError: there are no captioners, no such dual encoders, or the two read features of different encoders.
    """
    layout, _, path = table.partition(":")
    split = {"by": "published", "lists": {"test": listed or (path if layout in LISTED else "*")}}
    settings: dict[str, dict[str, Any]] = {"split": split, "extract_features": {}}
    joins = "tests" if captioners else ""
    if captioners:
        settings["extract_features"]["encoder"] = _encoder_of_captioners(graph)
    if not model:
        return replace(new, settings=settings, joins=joins)
    dataset, stage = _model(graph, model)
    images, _ = parse_output_name(graph.chain[stage][dataset]["images"])
    block = (graph.params.get(images) or {}).get("extract_features") or {}
    if captioners and block.get("encoder") != settings["extract_features"]["encoder"]:
        raise HearsightError(
            f"has another encoder than the captioners' ({images}.extract_features)",
            where="--retrieval",
            hint="add two test sets",
        )
    # A captioner reads the cells of the grid too, which a dual encoder does without.
    kept = ("encoder", "centre") if captioners else ("encoder", "centre", "grid")
    settings["extract_features"] = {key: block[key] for key in kept if key in block}
    settings["evaluate_retrieval"] = (graph.params.get(dataset) or {}).get("evaluate_retrieval") or {}
    inputs = {"input": model, "speech": f"{name}/synthesize", "images": f"{name}/extract_features"}
    stages = ("crawl", "split", "synthesize", "extract_features")
    return replace(new, stages=stages, settings=settings, inputs={"evaluate_retrieval": inputs}, joins=joins)


def captioner_evaluations(graph: Graph) -> list[str]:
    """Return the datasets of ``evaluate_captioners`` that test every captioner.

    Raises:
        HearsightError: there is none.
    """
    chain = (graph.params.get("chain") or {}).get("evaluate_captioners") or {}
    if names := [name for name, inputs in chain.items() if (inputs or {}).get(CAPTIONERS) == EVERY_CELL]:
        return names
    where, hint = (
        f"{graph.root / 'params.yaml'}: chain.evaluate_captioners",
        f"add '{CAPTIONERS}: {{{CAPTIONERS}: {EVERY_CELL}}}'",
    )
    raise HearsightError("tests no captioner", where=where, hint=hint)


def _encoder_of_captioners(graph: Graph) -> dict[str, Any]:
    """Return the encoder settings that differ from the defaults, of the first training set; all sets have the same."""
    encoder: dict[str, Any] = ((graph.params.get(_first_set(graph)) or {}).get("extract_features") or {}).get("encoder") or {}
    return encoder


def _first_set(graph: Graph) -> str:
    sets = (graph.params.get(CAPTIONERS) or {}).get("sets")
    if not sets:
        raise HearsightError("names no training set", where=place(graph.root, CAPTIONERS, "sets"), hint="train a captioner first")
    return str(sets[0])


def _model(graph: Graph, model: str) -> tuple[str, str]:
    known = [f"{dataset}/{stage}" for stage in MODELS for dataset in graph.chain.get(stage, {})]
    if model not in known:
        raise HearsightError(f"'{model}' holds no dual encoders", where="--retrieval", hint=did_you_mean(model, known))
    return parse_output_name(model)
