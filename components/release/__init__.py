"""release: a finished dataset as files for others, in the layout Conceptual Captions is published in (C7, C8).

A verb and not a stage: a release goes to a folder of the user's choice, outlives the project's ``data/``, and nothing in the
graph reads it; a stage would empty its folder before each run, and a release must never be overwritten by another.
What is written: ``files``; the page that comes with it: ``notes``; how it gets to its place: ``publish``.
Source: Conceptual Captions (seed 000) table 3; its dataset page (seed 001). Not in scope: pictures, which stay where they are.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.boundary import Boundary
from components.core.errors import HearsightError

STAGES = ("filter", "hypernymize", "dedup", "split")
"""The stages whose settings made the release what it is, in order."""


@dataclass(frozen=True)
class Made:
    """The outputs a release is made of, each of the very run that the next was made from."""

    dataset: str
    split: Boundary
    concepts: Boundary
    settings: dict[str, Any]
    """``<dataset>/<stage>`` → its parameters, of every stage from the filter to the split."""


def release(root: Path, dataset: str, out: Path, licence: str = "") -> dict[str, Any]:
    """Write the release of ``dataset`` into ``out``; equal data give equal bytes.

    Args:
        licence: what the captions are licensed under, for the README; without, it says that none is stated.

    Returns:
        What was written: the folder, the examples of each split, rows with labels, and whether it was there already.

    Raises:
        HearsightError: the dataset is not finished, or its parts are of different runs; no row can be released; ``out`` holds
            another release, or something else.
    """
    from components.release.files import write_all
    from components.release.notes import write_notes
    from components.release.publish import publish_folder

    made = find_parts(root, dataset)

    def fill(folder: Path) -> dict[str, Any]:
        facts = write_all(made, folder)
        write_notes(made, facts, folder, licence)
        return facts.plain()

    facts, new = publish_folder(out, fill)
    return {"release": str(out), "dataset": dataset, **facts, "written": "yes" if new else "no: the same was there"}


def find_parts(root: Path, dataset: str) -> Made:
    """The finished split of a dataset, and the outputs before it that it came from.

    Raises:
        HearsightError: one is not finished or did not pass its check, or is of another run than the one after it came from.
    """
    from components.core.gate import require_passed
    from components.core.graph import load_graph

    graph = load_graph(root)
    graph.require("split", dataset)
    split = found = Boundary(graph.output("split", dataset))
    require_passed(root, split)
    settings: dict[str, Any] = {}
    concepts: Boundary | None = None
    while found.path.name in STAGES:
        lineage = _lineage(found)
        settings[found.name] = lineage["params"]
        if found.path.name == "hypernymize":
            concepts = found
        before = next((parent for parent in lineage["parents"] if parent["name"] == "input"), None)
        if before is None:
            break
        earlier = Boundary(root / "data" / before["boundary"])
        if earlier.path.name in STAGES and earlier.digest != before["manifest_sha256"]:
            raise HearsightError(
                f"is not the output that {found.name} was made from", where=earlier.path, mend=f"run `dvc repro split@{dataset}`"
            )
        found = earlier
    if concepts is None:
        raise HearsightError("comes from no hypernymize stage", where=split.path, mend="release a dataset whose chain takes it")
    return Made(dataset, split, concepts, dict(reversed(settings.items())))


def _lineage(boundary: Boundary) -> dict[str, Any]:
    _ = boundary.manifest
    path = boundary.path / "lineage.json"
    try:
        content = json.loads(path.read_bytes())
        assert isinstance(content["params"], dict)
        assert all(isinstance(parent, dict) for parent in content["parents"])
    except (OSError, ValueError, KeyError, TypeError, AssertionError):
        stage, dataset = boundary.path.name, boundary.path.parent.name
        raise HearsightError(
            "does not tell what it was made from", where=path, mend=f"run `dvc repro --force -s {stage}@{dataset}`"
        ) from None
    return dict(content)
