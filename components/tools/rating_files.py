"""Files of ratings for and from other labelling tools: imports, items as tasks for Label Studio, the canonical table as CSV.

Ratings of other tools are copied into ``ratings/<dataset>``, with raters' names replaced by pseudonyms: the format and 8 hex
digits of a sha256 over the name and a salt, which is drawn once for a project and stays on its machine
(``.hearsight/ratings/salt``). So a rater keeps a pseudonym over several exports of one tool, and nobody without the
salt can test a guessed name. The copy is CSV: nothing else of the file is kept, since exports name people in several places.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.files import publish_bytes, read_private
from components.core.graph import Graph
from components.core.stage_output import StageOutput
from components.ratings.formats import csv, label_studio, read_ratings

ITEMS, RATINGS = "build_rating_items", "import_ratings"
_SALT = re.compile(r"[0-9a-f]{32}")


def import_file(graph: Graph, dataset: str, file: Path) -> dict[str, object]:
    """Write the ratings of a file to ``ratings/<dataset>/<format>-<name>.csv``; an existing copy is replaced.

    Returns:
        The copy's path, its format, and the numbers of ratings, raters, and annotations that are no ratings.

    Raises:
        HearsightError: the dataset has no ratings in the chain, or the file cannot be read.
    """
    graph.require(RATINGS, dataset)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise HearsightError(f"cannot be read ({error.strerror})", where=file, hint="name a file of ratings") from None
    kind, ratings = read_ratings(data, str(file))
    rated = ratings.filter(pc.equal(ratings["left_out"], ""))
    if not rated.num_rows:
        raise HearsightError("holds annotations, and all of them are skipped or empty", where=file, hint="export rated tasks")
    named = with_pseudonyms(rated, kind, read_salt(graph.root))
    name = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")[:40] or "ratings"
    copy = graph.root / "ratings" / dataset / (f"{name}.csv" if name.startswith(kind) else f"{kind}-{name}.csv")
    publish_bytes(copy, csv.write(_canonical(named)))
    return {
        "written": str(copy.relative_to(graph.root)),
        "format": kind,
        "ratings": rated.num_rows,
        "raters": pc.count_distinct(named["rater"]).as_py(),
        "left_out": ratings.num_rows - rated.num_rows,
    }


def with_pseudonyms(ratings: pa.Table, kind: str, salt: str) -> pa.Table:
    """Return the ratings with each rater replaced by ``<format>-<8 hex digits>``."""
    raters = ratings["rater"].combine_chunks().dictionary_encode()
    names = ["\n".join((salt, kind, name)).encode() for name in raters.dictionary.to_pylist()]
    pseudonyms = [f"{kind}-{sha256_bytes(name)[:8]}" for name in names]
    return ratings.set_column(
        ratings.column_names.index("rater"), "rater", pa.array(pseudonyms, pa.string()).take(raters.indices)
    )


def read_salt(root: Path) -> str:
    """Return the project's salt; the first call draws it.

    Raises:
        HearsightError: the file holds no salt.
    """
    path = root / ".hearsight" / "ratings" / "salt"
    salt = read_private(path, lambda: secrets.token_hex(16))
    if not _SALT.fullmatch(salt):
        raise HearsightError("is not a salt", where=path, hint="restore it; if it is lost, delete it and import all files again")
    return salt


def _canonical(ratings: pa.Table) -> pa.Table:
    """Return the columns of a written file; query, candidate and rank are left to the items."""
    empty = pa.array([""] * ratings.num_rows, pa.string())
    return pa.table({name: ratings[name] if name in ratings.column_names else empty for name in csv.COLUMNS})


def export_tasks(graph: Graph, dataset: str, out: Path, address: str) -> dict[str, object]:
    """Write a dataset's items as tasks into the folder ``out``: texts and speech apart, each with the tool's configuration.

    Tasks hold what a rater may see: image, caption or speech, and the item's key; no source, rank or score. They are in the order
    of keys, which are digests, so neighbours have nothing in common.

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
