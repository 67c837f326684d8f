"""Read the profiles that come with the program, and add one: files of settings, and stages in the user's chain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from components.core.addresses import parse_output_name
from components.core.errors import HearsightError
from components.core.graph import EVERY_CELL, NONE, Graph, load_graph, merge_settings
from components.core.params import YAML_LOADER, Settings, dataset_file, did_you_mean
from components.core.yaml_edit import edited_yaml
from components.tools.datasets.add import check_settings, write_datasets

_FOLDER = files("components.tools.profiles") / "data"
DATA, CONTACT = "{data}", "{contact}"
"""Placeholders of the user's data folder, and of the address that requests to the open web name."""


class Comparison(Settings):
    """What ``datasets/captioners.yaml`` trains and compares."""

    sets: list[str] = []
    """Datasets to train on."""
    tests: list[str] = []
    """Datasets that only test."""
    networks: list[str] = []
    """Networks trained on each."""
    evaluate_captioners: dict[str, Any] = {}
    """Settings of their evaluation; empty leaves those of the project."""


class Profile(Settings):
    """An experiment that can be added to a project."""

    name: str
    """Name of its file."""
    title: str
    """What it repeats, in one line."""
    files: dict[str, str]
    """Path below the data folder, or a glob pattern → what it is."""
    needs: list[str]
    """Packages, devices, memory, disk and time, a line each."""
    chain: dict[str, dict[str, dict[str, str]]]
    """Stage → dataset → inputs, as in the chain."""
    captioners: Comparison = Comparison()
    """Replaces what datasets/captioners.yaml compares; without sets it leaves all of that."""
    targets: list[str]
    """What ``dvc repro`` is called with, in this order."""
    minutes: dict[str, float] = {}
    """Stage, as in the targets → about how long it takes on two cores; of use until it has run."""
    settings: str = Field(repr=False)
    """Text of the datasets' settings, with the placeholders in double quotes."""

    def settings_text(self, folder: str, contact: str) -> str:
        """Return the settings with the placeholders filled in.

        Raises:
            HearsightError: the profile needs a contact, and it is empty.
        """
        text = self.settings
        if CONTACT in text and not contact:
            what = f"is empty, and profile {self.name} requests images from the web"
            raise HearsightError(what, where="--contact", hint="give a URL or mail address that requests name")
        for placeholder, value in ((DATA, folder), (CONTACT, contact)):
            text = text.replace(placeholder, _quoted(value))
        return text


def profile_names() -> list[str]:
    """Return the names of all profiles, in alphabetical order."""
    return sorted(file.name.removesuffix(".yaml") for file in _FOLDER.iterdir() if file.name.endswith(".yaml"))


def read_profile(name: str) -> Profile:
    """Return a profile.

    Raises:
        HearsightError: there is none of that name.
    """
    if name not in profile_names():
        raise HearsightError(f"there is no profile '{name}'", where="hearsight profile", hint=did_you_mean(name, profile_names()))
    head, _, settings = (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8").partition("\n---\n")
    facts: dict[str, Any] = yaml.load(head, YAML_LOADER)
    return Profile.model_validate(facts | {"name": name, "settings": settings})


CAPTIONERS = "captioners"
HEAD = "# Of the profile {}, by `hearsight profile add` (docs/experiments.md).\n"


def require_profile(root: Path, profile: Profile, data: Path, contact: str = "") -> bool:
    """Add a profile unless the project has all of its datasets; return whether it was added.

    Raises:
        HearsightError: as :func:`add_profile`, or the datasets are there and read another folder.
    """
    graph, folder = load_graph(root), _stored_folder(root, data)
    names = list(yaml.load(profile.settings, YAML_LOADER))
    if not all(name in graph.params for name in names):
        add_profile(root, profile, data, contact)
        return True
    if _quoted(folder) not in json.dumps([graph.params[name] for name in names], ensure_ascii=False):
        what = f"is not the folder that the datasets of profile {profile.name} read"
        hint = f"give theirs, which {dataset_file(root, names[0])} names, or use a new clone"
        raise HearsightError(what, where=data, hint=hint)
    return False


def _stored_folder(root: Path, data: Path) -> str:
    """Return the data folder as settings name it: relative if it is inside the project."""
    folder = data.resolve()
    return str(folder.relative_to(root) if folder.is_relative_to(root) else folder)


def _quoted(text: str) -> str:
    """Return a text as it stands between double quotes in JSON and YAML."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def add_profile(root: Path, profile: Profile, data: Path, contact: str = "") -> None:
    """Write a profile's settings and chain to the files of the user's datasets.

    Args:
        data: the folder with the profile's files; stored relative to the project if it is inside.
        contact: the address that requests to the open web name.

    Raises:
        HearsightError: the folder, a file or the contact is missing, a dataset exists already, one that the profile reads does
            not, or a setting is invalid; nothing is written then.
    """
    graph = load_graph(root)
    _require_files(profile, data)
    blocks: dict[str, Any] = yaml.load(profile.settings_text(_stored_folder(root, data), contact), YAML_LOADER)
    for name in blocks:
        if name in graph.params or name in graph.datasets:
            raise HearsightError(f"there is a dataset '{name}' already", where=dataset_file(root, name), hint="remove it there")
    meant = merge_settings(graph.params, {"chain": profile.chain}) | blocks
    # All lists, also empty ones: another profile's test sets may not fit these networks.
    compared = profile.captioners.plain() if profile.captioners.sets else {}
    if not profile.captioners.evaluate_captioners:
        compared.pop("evaluate_captioners", None)
    meant[CAPTIONERS] = (graph.params.get(CAPTIONERS) or {}) | compared
    _check(Graph(root, graph.stages, meant), profile, blocks)
    write_datasets(root, profile.chain, blocks, HEAD.format(profile.name))
    if compared:
        with edited_yaml(dataset_file(root, CAPTIONERS)) as content:
            content.update(compared)


def _require_files(profile: Profile, data: Path) -> None:
    if not data.is_dir():
        raise HearsightError("is no folder", where=data, hint=f"give the folder with {', '.join(profile.files)}")
    for name, what in profile.files.items():
        if next(data.glob(name), None) is None:
            raise HearsightError(f"is missing, which profile {profile.name} needs: {what}", where=data / name, hint="bring it")


def _check(graph: Graph, profile: Profile, blocks: Mapping[str, Any]) -> None:
    """Require that every input is written by some stage, and that all settings are valid."""
    for stage, takers in profile.chain.items():
        for dataset, inputs in takers.items():
            for value in inputs.values():
                source, written_by = parse_output_name(value)
                if value not in (NONE, EVERY_CELL) and source not in graph.chain.get(written_by, {}):
                    what = f"profile {profile.name} reads {value}, which no stage writes"
                    raise HearsightError(what, where=f"chain.{stage}.{dataset}", hint=f"add the profile '{source}' first")
    check_settings(graph, blocks)
