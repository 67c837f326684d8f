"""Building of the index: choose the model, embed the splits, write the index and the files of a search."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import SEARCH_ITEM
from components.execution.stage import Job, Stage, Task
from components.retrieval.embedding import embed_pairs, model_folder, open_dual_encoder
from components.retrieval.hearing import hear_states
from components.retrieval.pairs import read_pairs, sets_of
from components.retrieval.settings import hears
from components.search.index import build_index
from components.search.items import IMAGE, Items, Split, thumbnail_files
from components.search.items import SPEECH as SPOKEN
from components.search.searcher import DESCRIPTION, INDEX, MODEL, SEARCH, Searcher
from components.stages.build_search_index import BEST

SPEECH, IMAGES = "speech.npy", "images.npy"


def embed_job(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``speech.npy`` (n × D) and ``images.npy`` (m × D), float32, in the order of the split's pairs.

    Args:
        spec: ``model``, its key, ``weights_sha256`` and ``config_sha256``; ``split``; ``crop``; ``sets``: the digests of the
            inputs, since the job is cached by its spec.
    """
    torch.set_num_threads(1)
    network, config = open_dual_encoder(task.inputs["input"], spec["model"])
    pairs = read_pairs(sets_of(task.inputs), spec["split"], config["matching"])
    speech = images = np.zeros((0, network.config.embedding), np.float32)
    if len(pairs):
        speech, by_crop = embed_pairs(
            network,
            pairs,
            annotations=task.annotations,
            project=task.project,
            frames=config["frames"],
            crops=[spec["crop"]],
            hardware=task.params,
            where=f"build_search_index, {spec['split']} split",
        )
        images = by_crop[spec["crop"]]
    np.save(folder / SPEECH, speech)
    np.save(folder / IMAGES, images)


FILES = ("weights.safetensors", "config.json")


@dataclass
class Built:
    """The built index: the items and a searcher over them."""

    items: Items
    searcher: Searcher
    model: dict[str, Any]


def build(stage: Stage) -> Built:
    """Embed and index the splits, and write everything but the page."""
    params, trained = stage.params, stage.inputs["input"]
    model = choose_model(trained.table().to_pylist(), params.model, stage.place("model"))
    folder = model_folder(trained, model["key"])
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    hear_states(stage, [config["network"]], params.splits)
    sets = {name: output.digest for name, output in stage.inputs.items() if name != "input"}
    # config.json is part of the key, since it holds the length of the audio crop.
    files = {"weights_sha256": model["weights_sha256"], "config_sha256": sha256_file(folder / "config.json")}
    spec = {"model": model["key"], **files, "crop": params.crop, "sets": sets}
    jobs = [Job(split, spec | {"split": split}, content_addressed=True) for split in params.splits]
    resources = params.hardware.resources(stage.engine)
    embedded = stage.jobs(embed_job, jobs, step="embed", params=params.hardware, version=3, resources=resources)
    splits = [
        Split(
            split,
            read_pairs(sets_of(stage.inputs), split, config["matching"]),
            # Memory-mapped, since the embeddings may exceed the memory.
            *(np.load(folder_of_split / name, mmap_mode="r") for name in (SPEECH, IMAGES)),
        )
        for split, folder_of_split in zip(params.splits, embedded, strict=True)
    ]
    items = Items(splits)
    if not len(items):
        what = f"there is nothing to index in {', '.join(params.splits)}"
        raise HearsightError(what, where=stage.place("splits"), hint="name other splits")
    table = pa.Table.from_pylist(items.records, schema=SEARCH_ITEM)
    # The index is built outside the output and linked into it, so that large files are written once.
    scratch = stage.work / INDEX
    shutil.rmtree(scratch, ignore_errors=True)
    build_index(scratch, items.embeddings(), table, model["weights_sha256"])
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


def choose_model(models: list[dict[str, Any]], key: str, where: str) -> dict[str, Any]:
    """Return the model with a key, or the one that hears with the best validation score; ties go to the lower seed, then key.

    Raises:
        HearsightError: there is no such dual encoder.
    """
    by_key = {model["key"]: model for model in models if model["kind"] == "dual_encoder" and hears(model["key"])}
    if key == BEST and by_key:
        return min(by_key.values(), key=lambda model: (-model["validation"], model["seed"], model["key"]))
    if key not in by_key:
        known = ", ".join([BEST, *sorted(by_key)]) if by_key else "none: train a dual encoder"
        raise HearsightError(f"there is no model '{key}'", where=where, hint=f"known are {known}")
    return by_key[key]


def _write_records(stage: Stage, items: Items, table: pa.Table) -> None:
    """Write SEARCH_ITEM records with a ledger of all utterances and indexed images."""
    rows = [kept(record["key"], kind="image") for record in items.records if record["kind"] == IMAGE]
    indexed = {record["key"] for record in items.records if record["kind"] == SPOKEN}
    splits = set(stage.params.splits)
    entered = stage.inputs["speech"].table(["key", "split"])
    for key, split in zip(entered["key"].to_pylist(), entered["split"].to_pylist(), strict=True):
        if key in indexed:
            rows.append(kept(key, kind="utterance"))
        elif split in splits:
            rows.append(dropped(key, "not_prepared", "no", "a prepared image", kind="utterance"))
        else:
            rows.append(dropped(key, "other_split", split, stage.params.splits, kind="utterance"))
    stage.write_shard("00000", table, ledger_table(rows))
    for kind in (IMAGE, SPOKEN):
        stage.metric(f"items.{kind}", items.rows_of(kind))


def _about(stage: Stage, model: dict[str, Any], config: dict[str, Any]) -> str:
    """Return the description of the index and its model (``about.json``)."""
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
