"""Read the profiles that come with the program."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from pydantic import Field

from components.core.errors import HearsightError
from components.core.params import YAML_LOADER, Settings, did_you_mean

# yaml is loaded with the settings above.
import yaml  # isort: skip

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
            text = text.replace(placeholder, json.dumps(value, ensure_ascii=False)[1:-1])
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
