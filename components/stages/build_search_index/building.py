"""The index of one model: chosen, embedded, written with all that a search needs, and told of."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import INDEXED
from components.retrieval.search_items import IMAGE, Items, Split, thumbnail_files
from components.retrieval.search_items import SPEECH as SPOKEN
from components.retrieval.searcher import DESCRIPTION, INDEX, MODEL, SEARCH, Searcher
from components.search.index import build_index
from components.stages.build_search_index.embedding import PICTURES, SPEECH, embed_job

if TYPE_CHECKING:
    from components.execution.stage import Stage

FILES = ("weights.safetensors", "config.json")


BEST = "best"
"""As a setting: the model with the best validation."""


@dataclass
class Built:
    """What a stage built: the items and a searcher over them."""

    items: Items
    searcher: Searcher
    model: dict[str, Any]
    """The MODEL record."""


def build(stage: Stage) -> Built:
    """Embed, index, and write everything but the page."""
    from components.execution.stage import Job
    from components.retrieval.loading import model_folder
    from components.retrieval.pairs import read_pairs, sets_of

    params, trained = stage.params, stage.inputs["input"]
    model = choose(trained.table().to_pylist(), params.model, f"params.yaml: {stage.dataset}.index.model")
    folder = model_folder(trained, model["key"])
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    sets = {name: output.digest for name, output in stage.inputs.items() if name != "input"}
    # The weights do not tell how long the model listens: its config.json does.
    files = {"weights_sha256": model["weights_sha256"], "config_sha256": sha256_file(folder / "config.json")}
    spec = {"model": model["key"], **files, "crop": params.crop, "sets": sets}
    jobs = [Job(split, spec | {"split": split}, content_addressed=True) for split in params.splits]
    splits = [
        Split(
            split,
            read_pairs(sets_of(stage.inputs), split, config["matching"]),
            *(_mapped(made / name) for name in (SPEECH, PICTURES)),
        )
        for split, made in zip(params.splits, stage.jobs(embed_job, jobs, step="embed", params={}), strict=True)
    ]  # fmt: skip
    items = Items(splits)
    if not len(items):
        what = f"there is nothing to index in {', '.join(params.splits)}"
        raise HearsightError(what, where=f"params.yaml: {stage.dataset}.index.splits", hint="name other splits")
    table = pa.Table.from_pylist(items.records, schema=INDEXED)
    # Beside the output and then linked into it, so that what is large is written once.
    scratch = stage.work / INDEX
    shutil.rmtree(scratch, ignore_errors=True)
    build_index(scratch, items.embeddings(), table, model["weights_sha256"])
    if params.approximate:
        _approximate(stage, scratch)
    for path in sorted(scratch.iterdir()):
        stage.write_file(f"{SEARCH}/{INDEX}/{path.name}", path)
    shutil.rmtree(scratch)
    for name in FILES:
        stage.write_file(f"{SEARCH}/{MODEL}/{name}", folder / name)
    for name, (output, reference) in sorted(thumbnail_files(splits).items()):
        stage.write_file(f"{SEARCH}/{name}", output.read_media(reference))
    stage.write_file(f"{SEARCH}/{DESCRIPTION}", _about(stage, model, config).encode())
    _write_records(stage, items, table)
    return Built(items, Searcher.open(stage.out / SEARCH), model)


def _approximate(stage: Stage, folder: Path) -> None:
    """The graph beside the exact index; the recall that was measured stays in its description, and goes to the tracker."""
    from components.search.approximate import ApproximateIndex
    from components.search.index import SearchIndex

    # One thread: several give another graph each time.
    built = ApproximateIndex.build(SearchIndex.open(folder, verify=False), threads=1)
    for depth, value in built.contents.recall["at"].items():
        stage.metric(f"approximate.recall_at_{depth}", value)


def choose(models: list[dict[str, Any]], wanted: str, where: str) -> dict[str, Any]:
    """The model of that key, or the best: the highest validation, of equal ones the lower seed, then the first by key.

    Raises:
        HearsightError: there is no such model, or it is no dual encoder.
    """
    there = {model["key"]: model for model in models if model["kind"] == "dual_encoder"}
    if wanted == BEST and there:
        return min(there.values(), key=lambda model: (-model["validation"], model["seed"], model["key"]))
    if wanted not in there:
        known = ", ".join([BEST, *sorted(there)]) if there else "none: train a dual encoder"
        raise HearsightError(f"there is no model '{wanted}'", where=where, hint=f"known are {known}")
    return there[wanted]


def _write_records(stage: Stage, items: Items, table: pa.Table) -> None:
    """The records, and what became of each utterance that entered and of each picture spoken of."""
    rows = [kept(record["key"], kind="image") for record in items.records if record["kind"] == IMAGE]
    there = {record["key"] for record in items.records if record["kind"] == SPOKEN}
    wanted = set(stage.params.splits)
    entered = stage.inputs["speech"].table(["key", "split"])
    for key, split in zip(entered["key"].to_pylist(), entered["split"].to_pylist(), strict=True):
        if key in there:
            rows.append(kept(key, kind="utterance"))
        elif split in wanted:
            rows.append(dropped(key, "not_prepared", "no", "a prepared picture", kind="utterance"))
        else:
            rows.append(dropped(key, "other_split", split, stage.params.splits, kind="utterance"))
    stage.write_shard("00000", table, ledger_table(rows))
    for kind in (IMAGE, SPOKEN):
        stage.metric(f"items.{kind}", items.rows_of(kind))


def _about(stage: Stage, model: dict[str, Any], config: dict[str, Any]) -> str:
    """What a search must know of an index and its model, and a person may want to."""
    speech = stage.inputs["speech"]
    content = {
        "dataset": stage.dataset,
        "model": {name: model[name] for name in ("key", "weights_sha256", "seed", "validation")},
        "trained_as": config.get("row", ""),
        "scale": config["network"]["scale"],
        "crop": stage.params.crop,
        "splits": stage.params.splits,
        "speech": {"output": speech.name, "digest": speech.digest},
    }
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _mapped(path: Path) -> NDArray[np.float32]:
    """An array of the cache, mapped: at web scale it is larger than the memory."""
    found: NDArray[np.float32] = np.load(path, mmap_mode="r")
    return found
