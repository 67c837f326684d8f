"""Add a profile's chain and settings to params.yaml in place: comments, order and anchors of everything else stay."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from components.core.addresses import parse_output_name
from components.core.errors import HearsightError
from components.core.graph import EVERY_CELL, NONE, Graph, load_graph
from components.core.params import read_params_file
from components.execution.runner import stage_settings
from components.tools.datasets.add import flow_text, with_chain_entry, write_params
from components.tools.profiles.profile import Profile

CAPTIONERS = "captioners"


def add_profile(root: Path, profile: Profile, data: Path, contact: str = "") -> None:
    """Write a profile's chain and settings to params.yaml.

    Args:
        data: the folder with the profile's files; stored relative to the project if it is inside.
        contact: the address that requests to the open web name.

    Raises:
        HearsightError: the folder, a file or the contact is missing, a dataset exists already, one that the profile reads does
            not, a setting is invalid, or params.yaml has another layout than this can change; the file is then as it was.
    """
    path, graph = root / "params.yaml", load_graph(root)
    _require_files(profile, data)
    folder = data.resolve()
    text = profile.settings_text(str(folder.relative_to(root) if folder.is_relative_to(root) else folder), contact)
    blocks: dict[str, Any] = yaml.safe_load(text)
    for name in blocks:
        if name in graph.params or name in graph.datasets:
            raise HearsightError(f"there is a dataset '{name}' already", where=path, hint="rename or remove it there")
    changed, meant = path.read_text(encoding="utf-8"), read_params_file(path)
    for stage, takers in profile.chain.items():
        for dataset, inputs in takers.items():
            meant.setdefault("chain", {}).setdefault(stage, {})[dataset] = inputs
            changed = with_chain_entry(changed, stage, dataset, inputs)
    if profile.captioners.sets:
        # All lists, also empty ones: another profile's test sets may not fit these networks.
        for name, values in profile.captioners.plain().items():
            meant.setdefault(CAPTIONERS, {})[name] = values
            changed = _with_list(changed, name, values)
    meant |= blocks
    _check(Graph(root, graph.stages, meant), profile, blocks)
    write_params(path, changed.rstrip("\n") + "\n\n" + text, meant)


def _require_files(profile: Profile, data: Path) -> None:
    if not data.is_dir():
        raise HearsightError("is no folder", where=data, hint=f"give the folder with {', '.join(profile.files)}")
    for name, what in profile.files.items():
        if next(data.glob(name), None) is None:
            raise HearsightError(f"is missing, which profile {profile.name} needs: {what}", where=data / name, hint="bring it")


def _with_list(text: str, name: str, values: list[str]) -> str:
    """Replace a list of the block ``captioners``."""
    block = re.search(rf"^{CAPTIONERS}:.*\n(?:(?: .*|#.*)?\n)*", text, re.MULTILINE)
    if block is None:
        return text
    lines = re.sub(rf"^  {name}: \[.*?\]", lambda _: f"  {name}: {flow_text(values)}", block[0], count=1, flags=re.MULTILINE)
    return text[: block.start()] + lines + text[block.end() :]


def _check(graph: Graph, profile: Profile, blocks: Mapping[str, Any]) -> None:
    """Require that every input is written by some stage, and that all settings are valid."""
    for stage, takers in profile.chain.items():
        for dataset, inputs in takers.items():
            for value in inputs.values():
                source, written_by = parse_output_name(value)
                if value not in (NONE, EVERY_CELL) and source not in graph.chain.get(written_by, {}):
                    what = f"profile {profile.name} reads {value}, which no stage of params.yaml writes"
                    raise HearsightError(what, where=f"chain.{stage}.{dataset}", hint=f"add the profile '{source}' first")
    for stage, takers in graph.chain.items():
        for dataset in takers:
            if dataset in blocks or (dataset in graph.cells and graph.cells[dataset].set in blocks):
                stage_settings(graph, stage, dataset)
