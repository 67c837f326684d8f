"""Builds the world once for many faults: one uninterrupted run, which also counts the steps of each command."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.execution.input_watch import InputWatch
from tests.faults import commands
from tests.faults.fault import Edit, World
from tests.faults.moments import COMPARED, Strike
from tests.faults.project import STAGES, Small, copy_small, make_small


def set_split(root: Path, test: float) -> None:
    """Change a setting of split, as an editor saves it: a new file in place of the old one."""
    path = root / "datasets" / "english.yaml"
    content = yaml.safe_load(path.read_text())
    content["split"]["test"] = test
    fresh = path.with_name("english.yaml.new")
    fresh.write_text(yaml.safe_dump(content, sort_keys=False))
    fresh.replace(path)


def take_down(root: Path) -> None:
    """Add a page to the takedown list."""
    with (root / "takedown.jsonl").open("a") as file:
        file.write('{"kind": "page", "value": "http://a.sample/page-1.html"}\n')


EDITS: dict[str, tuple[Edit, str]] = {"split.test": (lambda root: set_split(root, 0.3), "split")}
"""Edit → what it does to a project, and the first stage that reads what it changes."""


def build_world(folder: Path, *, quick: bool = False) -> World:
    """Run the chain once in ``folder``."""
    commands.load()
    template = make_small(folder / "template")
    counting = [Strike(f"run {stage}") for stage in STAGES]
    modules = folder / "modules"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InputWatch, "require_unchanged", _noting(counting, InputWatch.require_unchanged))
        done = commands.dvc(template.root, "repro", strikes=counting, **{commands.LISTING: str(modules)})
    assert done.code == 0, done.output
    commands.load(sorted(set(modules.read_text().split()) - set(sys.modules)))
    # What the uninterrupted run says to MLflow is not of the runs that follow.
    shutil.rmtree(template.root / ".hearsight" / "runs", ignore_errors=True)
    steps = {strike.command: strike.counters.steps() for strike in counting}
    return World(template, steps, {"": template.manifests()}, {"": template.files()}, folder, quick, dict(EDITS))


def _noting(counting: list[Strike], compare: Callable[..., None]) -> Callable[..., None]:
    """Return a comparison of inputs that also notes the step at which it began."""

    def noted(watch: InputWatch, *given: Any) -> None:
        for strike in counting:
            if strike.command == f"run {watch.stage}":
                strike.counters.set(COMPARED, strike.counters.get(0))
        compare(watch, *given)

    return noted


def reference(world: World, variant: str) -> dict[str, bytes]:
    """Return the manifests of an uninterrupted run of a variant; runs it once."""
    if variant not in world.manifests:
        edit, first = world.edits[variant]
        project: Small = copy_small(world.template, world.folder / f"variant-{len(world.manifests)}")
        edit(project.root)
        project.forget(first)
        last = first if world.quick else STAGES[-1]
        goal = f"{last}@english"
        done = commands.dvc(project.root, "repro", goal, **world.environments.get(variant, {}))
        assert done.code == 0, done.output
        world.manifests[variant], world.files[variant] = project.manifests(), project.files()
        shutil.rmtree(project.root)
    return world.manifests[variant]
