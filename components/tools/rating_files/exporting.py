"""Items as tasks for Label Studio, and the canonical table as CSV.

Tasks hold what a rater may see: image, caption or speech, and the item's key; no source, rank or score. They are in the order
of keys, which are digests, so neighbours have nothing in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.files import publish_bytes
from components.core.graph import Graph
from components.core.stage_output import StageOutput
from components.ratings.formats import csv, label_studio

ITEMS, RATINGS = "build_rating_items", "import_ratings"


def export_tasks(graph: Graph, dataset: str, out: Path, address: str) -> dict[str, object]:
    """Write a dataset's items as tasks into the folder ``out``: texts and speech apart, each with the tool's configuration.

    Args:
        address: what stands before the paths of images and speech: the address at which the tool finds ``out``.

    Raises:
        HearsightError: the items are not finished.
    """
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
            written += _write_tasks(name, chosen, out, address)
    return {"written": str(out), "files": written, "items": len(items), "ratings_asked": sum(item["raters"] for item in items)}


def _write_tasks(name: str, items: Sequence[Mapping[str, Any]], out: Path, address: str) -> list[str]:
    tasks = label_studio.tasks(items, lambda item: address + _image(item), lambda item: address + _audio(item))
    publish_bytes(out / f"{name}.json", tasks)
    publish_bytes(out / f"{name}.xml", label_studio.configuration(name == "speech").encode())
    return [f"{name}.json", f"{name}.xml"]


def _image(item: Mapping[str, Any]) -> str:
    return f"images/{item['key']}.jpg"


def _audio(item: Mapping[str, Any]) -> str:
    return f"speech/{item['key']}.flac"


def export_ratings(graph: Graph, dataset: str, out: Path) -> dict[str, object]:
    """Write the canonical table of a dataset's ratings as CSV; raters are pseudonyms there already.

    Raises:
        HearsightError: the ratings are not imported.
    """
    graph.require(RATINGS, dataset)
    table = StageOutput(graph.output(RATINGS, dataset)).table()
    publish_bytes(out, csv.write(table))
    return {"written": str(out), "ratings": table.num_rows}
