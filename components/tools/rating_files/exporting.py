"""Items as tasks for Label Studio and Argilla, and the canonical table as files of each format.

Tasks hold what a rater may see: image, caption or speech, and the item's key; no source, rank or score. They are in the order
of keys, which are digests, so neighbours have nothing in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import Graph
from components.core.stage_output import StageOutput
from components.ratings.formats import NAMES, argilla, csv, label_studio

ITEMS, RATINGS = "build_rating_items", "import_ratings"
TOOLS = ("label_studio", "argilla")
WRITERS = {"csv": (csv.write, "ratings.csv"), "label_studio": (label_studio.write, "ratings.json")}
WRITERS["argilla"] = (argilla.write, "ratings.json")
"""Format → how the canonical table is written, and the usual name of the file."""


def export_tasks(graph: Graph, dataset: str, tool: str, out: Path, address: str) -> dict[str, object]:
    """Write a dataset's items as tasks into the folder ``out``: texts and speech apart, each with the tool's configuration.

    Args:
        tool: one of :data:`TOOLS`.
        address: what stands before the paths of images and speech: the address at which the tool finds ``out``.

    Raises:
        HearsightError: the tool is unknown, or the items are not finished.
    """
    if tool not in TOOLS:
        raise HearsightError(f"there are no tasks for '{tool}'", where="--format", hint=f"use one of {', '.join(TOOLS)}")
    graph.require(ITEMS, dataset)
    output = StageOutput(graph.output(ITEMS, dataset))
    items = sorted(output.table().to_pylist(), key=lambda item: str(item["key"]))
    for item in items:
        publish_bytes(out / _image(item), output.read_media(item["image"]), durable=False)
        if item["audio_sha256"]:
            publish_bytes(out / _audio(item), output.read_media(item["audio"]), durable=False)
    written = []  # last, so that there are no tasks without their media
    for name, speech in (("text", False), ("speech", True)):
        chosen = [item for item in items if bool(item["audio_sha256"]) == speech]
        if chosen:
            written += _write_tasks(tool, name, chosen, out, address)
    return {"written": str(out), "files": written, "items": len(items), "ratings_asked": sum(item["raters"] for item in items)}


def _write_tasks(tool: str, name: str, items: Sequence[Mapping[str, Any]], out: Path, address: str) -> list[str]:
    module = label_studio if tool == "label_studio" else argilla
    tasks = module.tasks(items, lambda item: address + _image(item), lambda item: address + _audio(item))
    if tool == "label_studio":
        settings, about = f"{name}.xml", label_studio.configuration(name == "speech").encode()
    else:
        settings, about = f"{name}.settings.json", argilla.settings(name == "speech", label_studio.QUESTION)
    for file, data in ((f"{name}.json", tasks), (settings, about)):
        publish_bytes(out / file, data)
    return [f"{name}.json", settings]


def _image(item: Mapping[str, Any]) -> str:
    return f"images/{item['key']}.jpg"


def _audio(item: Mapping[str, Any]) -> str:
    return f"speech/{item['key']}.flac"


def export_ratings(graph: Graph, dataset: str, kind: str, out: Path) -> dict[str, object]:
    """Write the canonical table of a dataset's ratings as a file; raters are pseudonyms there already.

    Raises:
        HearsightError: the format is unknown, or the ratings are not imported.
    """
    if kind not in WRITERS:
        raise HearsightError(f"'{kind}' is not a format of ratings", where="--format", hint=f"use one of {', '.join(NAMES)}")
    graph.require(RATINGS, dataset)
    table = StageOutput(graph.output(RATINGS, dataset)).table()
    publish_bytes(out, WRITERS[kind][0](table))
    return {"written": str(out), "ratings": table.num_rows}
