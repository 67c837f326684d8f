"""Add a dataset to params.yaml in place: comments, order and spelling of everything else stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from components.core.addresses import CELLS, MATRICES, check_stage_address
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import NONE, Graph, load_graph
from components.core.params import read_params_file
from components.tools.datasets.source_options import NewDataset
from components.tools.datasets.test_sets import CAPTIONERS, captioner_evaluations

_KEYS = ("chain", "engine", "pools", "schedules", "storage", "item", "key", *MATRICES)
"""Keys of params.yaml that hold no dataset, and names of dvc.yaml's loops."""
_FOLDERS = ("calibration", CELLS, "data_docs", "days", "gates", "lineage", "packages", "store", "test_sets", "warnings")
"""Folders of ``data`` and ``reports`` that belong to no dataset."""
_DEVICES = re.compile(r"con|prn|aux|nul|(?:com|lpt)\d")
_LONGEST = 60
"""Characters; the names of files and of MLflow's experiments contain it."""


def check_name(name: str, graph: Graph) -> None:
    """Raise HearsightError with the reason unless a new dataset can have this name."""
    path: Path = graph.root / "params.yaml"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise HearsightError(f"'{name}' cannot name a dataset", where=path, hint="use small letters, digits and _")
    if name in graph.datasets:
        raise HearsightError(f"there is a dataset '{name}' already", where=path, hint="choose another name, or edit it there")
    reasons = {
        "it stands for an absent input in the chain": name == NONE,
        "it is a stage": name in graph.stages,
        "it is a key of params.yaml or dvc.yaml with another meaning": name in _KEYS or name in graph.params,
        "YAML reads it as another value": not isinstance(yaml.safe_load(name), str) or name in ("y", "n"),
        "it is a folder of data/ or reports/ with another meaning": name in _FOLDERS,
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
    """Write a dataset's stages and settings into params.yaml.

    Args:
        new: its kind (:mod:`components.tools.datasets.source_options`).
        stages: the stages it takes, instead of those of its kind; ``crawl`` always is one.
        contact: the address that requests to the open web name.

    Returns:
        The names of the last checks, with spaces between, to pass to ``dvc repro``.

    Raises:
        HearsightError: the name is taken or means something else, a stage cannot be added, or params.yaml has another shape than
            this can change; the file is then as it was.
    """
    path, graph = root / "params.yaml", load_graph(root)
    check_name(name, graph)
    wiring = wire(name, list(dict.fromkeys(["crawl", *(stages or new.stages)])), graph) | new.inputs
    evaluations = captioner_evaluations(graph) if new.tests_captioners else []
    if missing := sorted(new.needs(name) - set(wiring)):
        raise HearsightError(f"a test set needs {' and '.join(missing)}", where="--stages", hint="name it too")
    crawl = {"snapshot": f"{name}-1", **new.crawl, **({"contact": contact} if contact else {})}
    block = {stage: crawl if stage == "crawl" else new.settings.get(stage, {}) for stage in wiring}
    text = path.read_text(encoding="utf-8")
    meant = read_params_file(path)
    for stage, inputs in wiring.items():
        chain = meant.setdefault("chain", {})
        chain[stage] = (chain.get(stage) or {}) | {name: inputs}
        text = with_chain_entry(text, stage, name, inputs)
    meant[name] = block
    if new.tests_captioners:
        text = _with_test_set(text, name)
        meant.setdefault(CAPTIONERS, {})["tests"] = [*graph.test_sets(CAPTIONERS), name]
    write_params(path, _with_block(text, name, block), meant)
    last = [check_stage_address(dataset, "evaluate_captioners") for dataset in evaluations]
    last += [check_stage_address(name, stage) for stage in new.inputs]
    return " ".join(last or [check_stage_address(name, list(wiring)[-1])])


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


def write_params(path: Path, text: str, meant: Mapping[str, Any]) -> None:
    """Write ``text`` to params.yaml.

    Raises:
        HearsightError: the text does not read as ``meant``, since the file has another layout; it is then as it was.
    """
    try:
        as_meant = yaml.safe_load(text) == meant
    except yaml.YAMLError:
        as_meant = False
    if not as_meant:
        raise HearsightError(
            "is not laid out as 'chain: stage: dataset' with one entry per line", where=path, hint="add the dataset by hand"
        )
    publish_bytes(path, text.encode("utf-8"))


def with_chain_entry(text: str, stage: str, name: str, inputs: Mapping[str, str]) -> str:
    """Return the text of params.yaml with a line for the dataset behind the last one that takes the stage."""
    lines = text.split("\n")
    start = lines.index("chain:") + 1 if "chain:" in lines else len(lines)
    end = next(
        (at for at in range(start, len(lines)) if re.match(r"\S", lines[at]) and not lines[at].startswith("#")), len(lines)
    )
    entry = f"    {name}: {flow_text(inputs)}"
    at = next((at for at in range(start, end) if re.fullmatch(rf"  {stage}:\s*(#.*)?", lines[at])), None)
    if at is None:
        last = max(at for at in range(start - 1, end) if at < start or re.match(r" ", lines[at]))
        lines[last + 1 : last + 1] = [f"  {stage}:", entry]
    else:
        behind = next((after for after in range(at + 1, end) if not re.match(r" {3,}\S", lines[after])), end)
        lines.insert(behind, entry)
    return "\n".join(lines)


def _with_test_set(text: str, name: str) -> str:
    """Add the dataset to the list of test sets, which is on one line."""
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if re.fullmatch(rf"{CAPTIONERS}:\s*(#.*)?", line)), len(lines))
    for at in range(start + 1, len(lines)):
        if match := re.fullmatch(r"(  tests: \[)(.*)(\].*)", lines[at]):
            lines[at] = match[1] + ", ".join(filter(None, (match[2].strip(), name))) + match[3]
            return "\n".join(lines)
        if re.match(r"\S", lines[at]) and not lines[at].startswith("#"):
            break
    lines.insert(start + 1, f"  tests: [{name}]")
    return "\n".join(lines)


def _with_block(text: str, name: str, block: Mapping[str, Mapping[str, Any]]) -> str:
    """Append the dataset's settings, a line for each stage, and for each setting of the crawl."""
    lines = [f"{name}:"]
    for stage, settings in block.items():
        if stage == "crawl":
            lines += ["  crawl:", *_block_lines(settings, "    ")]
        else:
            lines.append(f"  {stage}: {flow_text(settings)}")
    return text.rstrip("\n") + "\n\n" + "\n".join(lines) + "\n"


def _block_lines(settings: Mapping[str, Any], indent: str) -> Iterator[str]:
    """Yield a line for each setting and for each address: DVC, when it changes a setting, cannot read those in brackets again."""
    for key, value in settings.items():
        if not (isinstance(value, (Mapping, list)) and "://" in json.dumps(value)):
            yield f"{indent}{key}: {flow_text(value)}"
            continue
        yield f"{indent}{key}:"
        if isinstance(value, Mapping):
            yield from _block_lines(value, indent + "  ")
        else:
            yield from (f"{indent}  - {flow_text(item)}" for item in value)


def flow_text(value: Any) -> str:
    """Return a value as YAML on one line; text that YAML could read as something else is quoted."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {flow_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow_text, value)) + "]"
    if isinstance(value, str):
        return (
            value
            if re.fullmatch(r"[A-Za-z_][\w/.-]*", value) and yaml.safe_load(value) == value
            else json.dumps(value, ensure_ascii=False)
        )
    return json.dumps(value)
