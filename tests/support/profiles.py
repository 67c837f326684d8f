"""A copy of the project with one profile added, over empty files of the names that it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.core.graph import Graph, load_graph
from components.execution.runner import stage_settings
from components.tools.profiles.profile import add_profile, profile_names, read_profile
from tests.support.datasets import project

PROFILES = profile_names()
CONTACT = "mail@example.org"
BEFORE = {"flickr8k_facc": ["flickr8k"]}
"""Profile → those that it is added to."""


def files_of(folder: Path, *names: str) -> Path:
    """Write empty files as the profiles need them; return the folder."""
    for name in names:
        for file in read_profile(name).files:
            path = folder / file.replace("*", "a")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    return folder


def with_profile(root: Path, name: str) -> Graph:
    """Return the graph of a new project in ``root`` with the profile."""
    root.mkdir(exist_ok=True)
    project(root)
    names = [*BEFORE.get(name, []), name]
    for each in names:
        add_profile(root, read_profile(each), files_of(root / "given", *names), CONTACT)
    return load_graph(root)


def settings_of(graph: Graph, stage: str, dataset: str) -> Any:
    """Return a stage's settings."""
    return stage_settings(graph, stage, dataset)
