"""Add a dataset: a file with its settings, and its stages in the user's chain."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from components.core.addresses import CELLS, MATRICES, stage_address
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import NONE, Graph, load_graph, merge_settings
from components.core.params import OWN_CHAIN, dataset_file
from components.core.yaml_edit import edited_yaml, yaml_text
from components.execution.runner import stage_settings
from components.tools.datasets.models import CAPTIONERS, TRAIN, captioner_evaluations
from components.tools.datasets.source_options import NewDataset

_KEYS = ("chain", "engine", "pools", "schedules", "storage", "item", "key", *MATRICES)
"""Keys of params.yaml, names of dvc.yaml's loops, and files that hold no dataset."""
_FOLDERS = ("calibration", "captioner_tests", CELLS, "data_docs", "days", "kept", "lineage", "packages", "store")
"""Folders of ``data``, ``ratings`` and ``reports`` that belong to no dataset."""
_DEVICES = re.compile(r"con|prn|aux|nul|(?:com|lpt)\d")
_LONGEST = 60
"""Characters; the names of files and of MLflow's experiments contain it."""


def check_name(name: str, graph: Graph) -> None:
    """Raise HearsightError with the reason unless a new dataset can have this name."""
    path: Path = dataset_file(graph.root, name)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise HearsightError(f"'{name}' cannot name a dataset", where=path, hint="use small letters, digits and _")
    if name in graph.datasets:
        raise HearsightError(f"there is a dataset '{name}' already", where=path, hint="choose another name, or edit it there")
    reasons = {
        "it stands for an absent input in the chain": name == NONE,
        "it is a stage": name in graph.stages,
        "settings or dvc.yaml use it with another meaning": name in _KEYS or name in graph.params,
        "YAML reads it as another value": not isinstance(yaml.safe_load(name), str) or name in ("y", "n"),
        "it is a folder of data/, ratings/ or reports/ with another meaning": name in _FOLDERS,
        "Windows reserves it": bool(_DEVICES.fullmatch(name)),
        f"it has over {_LONGEST} characters": len(name) > _LONGEST,
    }
    if reason := next((reason for reason, holds in reasons.items() if holds), ""):
        raise HearsightError(f"'{name}' cannot name a dataset: {reason}", where=path, hint="choose another name")


AFTER = {
    "filter": ("crawl",),
    "hypernymize": ("filter",),
    "extract_descriptions": ("crawl",),
    "dedup": ("hypernymize", "extract_descriptions", "filter"),
    "cluster": ("extract_descriptions",),
    "split": ("dedup", "hypernymize", "extract_descriptions", "crawl"),
    "synthesize": ("split",),
    "evaluate_speech": ("synthesize",),
    "extract_features": ("split",),
}
"""Stage → the stages whose output it can read as ``input``; the first that the dataset takes."""
READS_IMAGES = ("dedup", "cluster", "extract_features")
"""Stages that also read the images of the crawl, as ``media``."""
OPTIONAL = {"split": ("ratings",)}
"""Stage → inputs that it can do without, which a new dataset does not have."""


def add_dataset(root: Path, name: str, new: NewDataset, stages: Sequence[str] = (), contact: str = "") -> str:
    """Write a dataset's settings to a file of its own, and its stages into the user's chain.

    Args:
        new: its kind (:mod:`components.tools.datasets.source_options`).
        stages: the stages it takes, instead of those of its kind; ``crawl`` always is one.
        contact: the address that requests to the open web name.

    Returns:
        The names of the last stages, with spaces between, to pass to ``dvc repro``.

    Raises:
        HearsightError: the name is taken or means something else, or a stage cannot be added; nothing is written then.
    """
    graph = load_graph(root)
    check_name(name, graph)
    wiring = wire(name, list(dict.fromkeys(["crawl", *(stages or new.stages)])), graph) | new.inputs
    evaluations = captioner_evaluations(graph) if new.joins == "tests" else []
    if missing := sorted(new.needs(name) - set(wiring)):
        raise HearsightError(f"it needs {' and '.join(missing)}", where="--stages", hint="name it too")
    crawl = {"snapshot": f"{name}-1", **new.crawl, **({"contact": contact} if contact else {})}
    blocks = {stage: new.settings.get(stage, {}) for stage in (*wiring, *((TRAIN,) if new.joins == "sets" else ()))}
    block = blocks | {"crawl": crawl}
    chain = {stage: {name: inputs} for stage, inputs in wiring.items()}
    captioners = graph.params.get(CAPTIONERS) or {}
    joined = {new.joins: [*(captioners.get(new.joins) or []), name]} if new.joins else {}
    added = {"chain": chain, name: block, **({CAPTIONERS: joined} if joined else {})}
    try:
        check_settings(Graph(root, graph.stages, merge_settings(graph.params, added)), [name])
    except HearsightError as error:
        error.where = OPTION_OF.get(error.where.partition(f" {name}.")[2], error.where)
        raise
    write_datasets(root, chain, {name: block}, comments=new.comments)
    if joined:
        with edited_yaml(dataset_file(root, CAPTIONERS)) as content:
            content.update(joined)
    last = [stage_address(dataset, "evaluate_captioners") for dataset in evaluations]
    last += [stage_address(name, stage) for stage in new.inputs]
    return " ".join(last or [stage_address(name, list(wiring)[-1])])


OPTION_OF = {
    "crawl.allow_private": "--allow-private",
    "crawl.contact": "--contact",
    "crawl.source.image_folder": "--images",
    "crawl.source.language": "--language",
}
"""Setting that a kind of source may need → the option that sets it."""


def check_settings(graph: Graph, datasets: Collection[str]) -> None:
    """Raise HearsightError for the first setting of these datasets, or of captioners trained on them, that is not valid."""
    for stage, takers in graph.chain.items():
        for dataset in takers:
            if dataset in datasets or (dataset in graph.cells and graph.cells[dataset].set in datasets):
                stage_settings(graph, stage, dataset)


def wire(name: str, stages: Sequence[str], graph: Graph) -> dict[str, dict[str, str]]:
    """Return stage → inputs of a dataset, in the order of dvc.yaml.

    Raises:
        HearsightError: a stage is unknown, reads outputs of other datasets (so it is wired by hand), or lacks the one before.
    """
    for stage in stages:
        if stage not in ("crawl", *AFTER):
            known = ", ".join(("crawl", *AFTER))
            raise HearsightError(
                f"'{stage}' cannot be added this way", where="--stages", hint=f"these can: {known}; wire others by hand"
            )
    wiring: dict[str, dict[str, str]] = {}
    for stage in (stage for stage in graph.stages if stage in stages):
        before = next((earlier for earlier in AFTER.get(stage, ()) if earlier in stages), "")
        if stage in AFTER and not before:
            raise HearsightError(f"'{stage}' needs one of {', '.join(AFTER[stage])}", where="--stages", hint="name one of them")
        inputs = {"input": f"{name}/{before}"} if before else {}
        inputs |= {"media": f"{name}/crawl"} if stage in READS_IMAGES else {}
        wiring[stage] = inputs | dict.fromkeys(OPTIONAL.get(stage, ()), NONE)
    return wiring


def write_datasets(
    root: Path,
    wiring: Mapping[str, Mapping[str, Any]],
    blocks: Mapping[str, Any],
    head: str = "",
    comments: Mapping[str, str] | None = None,
) -> None:
    """Write the settings of datasets to files of their own, and their stages to the user's chain.

    Args:
        wiring: stage → dataset → inputs.
        blocks: dataset → settings.
        head: a comment at the top of each file.
        comments: setting (``filter.sides_over``) → its comment.
    """
    for name, block in blocks.items():
        publish_bytes(dataset_file(root, name), (head + yaml_text(block, comments)).encode("utf-8"))
    if not (root / OWN_CHAIN).is_file():
        publish_bytes(root / OWN_CHAIN, b"chain: {}\n")
    with edited_yaml(root / OWN_CHAIN) as content:
        content["chain"] = content.get("chain") or {}
        for stage, takers in wiring.items():
            content["chain"][stage] = content["chain"].get(stage) or {}
            content["chain"][stage].update(takers)
