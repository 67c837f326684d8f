"""Rankings of one model: a split's images for each utterance, and its utterances for each image.

A caption may be spoken several times. A pool of all utterances would be an easier task than the paper's, since any voice could
find the image. So an image ranks utterances in **rounds**: round n offers one utterance of each record, the n-th, or an
earlier one again where a record has fewer; all rounds offer equally many. An utterance always ranks every image of the split
once. An image with several records (FACC has five captions per image) has as many relevant utterances in each round.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from components.core.addresses import RETRIEVED_FILE
from components.core.errors import HearsightError
from components.core.records import RETRIEVAL_RANK, RETRIEVED
from components.execution.stage import Job, Stage, Task
from components.metrics.retrieval import RelevantRanks, relevant_ranks
from components.retrieval.embedding import embed_pairs, networks_of, open_dual_encoder
from components.retrieval.hearing import hear_states, hear_words, transcripts
from components.retrieval.pairs import Pairs, read_pairs, sets_of
from components.retrieval.settings import TRANSCRIPT
from components.search.nearest import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Search = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]
    """Embeddings of queries and items, and the identities of both."""


SCORES, ABOUT = "scored.parquet", "about.json"
TO_IMAGE, TO_SPEECH = "speech_to_image", "image_to_speech"
DIRECTIONS = {TO_IMAGE: "speech to image", TO_SPEECH: "image to speech"}
"""Direction → its title."""
FILES = ("config.json", "weights.safetensors")


def score_all(stage: Stage) -> dict[str, Path]:
    """Score each model in a job keyed by its files and the sets' digests, so other models stay cached; return key → folder.

    A model that reads words is scored on the true ones and, as another row, on those that a recogniser hears.
    """
    models, params = stage.inputs["input"], stage.params
    digests = {entry.path: entry.sha256 for entry in models.manifest.files}
    common = {
        "split": params.split, "crops": params.crops, "deepest": max(params.depths), "matching": params.matching,
        "top": params.top, "sets": {name: stage.inputs[name].digest for name in ("speech", "images")},
    } | params.job_spec()  # fmt: skip
    trained = sorted(models.table(["key", "seed"]).to_pylist(), key=lambda row: row["key"])
    networks = networks_of(models, [model["key"] for model in trained])
    hear_states(stage, networks.values(), [params.split], params.voices)
    towers = {key: network["speech"] for key, network in networks.items()}
    read = "text" in towers.values() and hear_words(stage, params.split, params.voices)
    jobs = []
    for model in trained:
        key, files = model["key"], {name: digests[f"models/{model['key']}/{name}"] for name in FILES}
        names = [key, key.replace("text", TRANSCRIPT, 1)] if read and towers[key] == "text" else [key]
        jobs += [Job(name, common | model | {"files": files, "name": name}, content_addressed=True) for name in names]
    if not jobs:
        raise HearsightError("holds no model", where=models.name, hint="add a row and a seed to the training's settings")
    resources = params.hardware.resources(stage.engine)
    folders = stage.jobs(score_model, jobs, step="models", params=params.hardware, version=3, resources=resources)
    return dict(zip((job.name for job in jobs), folders, strict=True))


def score_model(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``scored.parquet`` (RETRIEVAL_RANK records), ``top.parquet`` (RETRIEVED rows) and ``about.json`` (model, counts)."""
    torch.set_num_threads(1)
    models, key, name = task.inputs["input"], spec["key"], spec["name"]
    loaded = open_dual_encoder(models, key)
    sets = sets_of({name: task.inputs[name] for name in spec["sets"]})
    pairs = read_pairs(sets, spec["split"], spec["matching"], spec.get("voices", ()))
    if not len(pairs):
        where, what = sets[0].speech.name, f"has no utterance with a prepared image in the {spec['split']} split"
        raise HearsightError(what, where=where, hint="evaluate another split, or crawl more pages")
    if (trained_with := loaded.config["encoder"]) != pairs.encoder:
        what = f"was trained with the encoder {trained_with}, and {sets[0].images.name} was prepared for {pairs.encoder}"
        raise HearsightError(what, where=f"{models.name}: {key}", hint="prepare both with the same encoder, and train again")
    speech_embeddings, images = embed_pairs(
        loaded.model,
        pairs,
        annotations=task.annotations,
        project=task.project,
        texts=transcripts(task.annotations, pairs) if name != key else None,
        frames=loaded.config["frames"],
        crops=spec["crops"],
        hardware=task.params,
        where=f"evaluate_retrieval, {models.name}: {key}",
    )
    rounds = rounds_of(pairs)
    base = {"model": name, "kind": loaded.config["kind"], "row": name.rpartition("-")[0], "seed": spec["seed"]}
    parts, best = [], []
    for crop, image_embeddings in images.items():
        fields = base | {"crop": crop}
        names, records = pairs.keys, pairs.utterances["record"].to_pylist()
        search = (speech_embeddings, image_embeddings, pairs.identity, pairs.image_identity)
        asked = fields | {"direction": TO_IMAGE}
        parts.append(_records(relevant_ranks(*search), names, records, len(image_embeddings), asked, spec["deepest"]))
        best.append(_best(search, names, pairs.sha256, asked, spec["top"]))
        for number, offered in enumerate(rounds):
            search = (image_embeddings, speech_embeddings[offered], pairs.image_identity, pairs.identity[offered])
            asked, queries = fields | {"direction": TO_SPEECH}, [f"{sha}.{number}" for sha in pairs.sha256]
            parts.append(_records(relevant_ranks(*search), queries, pairs.sha256, len(offered), asked, spec["deepest"]))
            best.append(_best(search, queries, [names[index] for index in offered], asked, spec["top"]))
    pq.write_table(pa.concat_tables(parts).cast(RETRIEVAL_RANK), folder / SCORES)
    pq.write_table(pa.concat_tables(best), folder / RETRIEVED_FILE)
    model_info = {name: loaded.config[name] for name in ("loss", "percent", "training_pairs", "start", "parameters", "steps")}
    model_info |= {"speech": TRANSCRIPT if name != key else loaded.model.config.speech}
    model_info |= {"batch": loaded.config["settings"]["optimisation"]["batch"], "validation": loaded.config["validation"]}
    counts = {"images": len(pairs.sha256), "utterances": len(pairs), "records": len(rounds[0]), "rounds": len(rounds)}
    (folder / ABOUT).write_text(json.dumps(base | model_info | counts, sort_keys=True), encoding="utf-8")


def read_model_info(folder: Path) -> dict[str, Any]:
    """Return the content of a job's ``about.json``."""
    content: dict[str, Any] = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    return content


def rounds_of(pairs: Pairs) -> list[NDArray[np.int64]]:
    """Return for each round one utterance number per record; there are as many rounds as any record has utterances."""
    keys, spoken = pairs.keys, dict[str, list[int]]()
    for index, record in enumerate(pairs.utterances["record"].to_pylist()):
        spoken.setdefault(record, []).append(index)
    # Shorter keys first, so that .10 comes after .9.
    ordered = [sorted(places, key=lambda index: (len(keys[index]), keys[index])) for places in spoken.values()]
    most = max(map(len, ordered))
    return [np.array([places[number % len(places)] for places in ordered], dtype=np.int64) for number in range(most)]


def _records(
    ranked: RelevantRanks, keys: Sequence[str], queries: Sequence[str], items: int, fields: dict[str, Any], deepest: int
) -> pa.Table:
    count = len(keys)
    columns: dict[str, Any] = {name: [value] * count for name, value in fields.items()}
    columns |= {"key": keys, "query": queries, "rank": ranked.best, "relevant": ranked.relevant, "items": [items] * count}
    columns["relevant_ranks"] = pa.array([ranks[ranks <= deepest].tolist() for ranks in ranked.ranks], pa.list_(pa.int32()))
    return pa.table({name: columns[name] for name in RETRIEVAL_RANK.names}, schema=RETRIEVAL_RANK)


def _best(search: Search, keys: Sequence[str], candidates: Sequence[str], fields: dict[str, Any], depth: int) -> pa.Table:
    """Return the RETRIEVED rows of a search: the best ``depth`` candidates of each query, in the order of its ranks."""
    queries, items, asked, offered = search
    best, _ = nearest(items, queries, depth, last=lambda query, rows: offered[rows] == asked[query], threads=1)
    count, found = best.shape
    columns: dict[str, Any] = {name: [fields[name]] * (count * found) for name in ("direction", "model", "crop")}
    columns |= {"key": np.repeat(keys, found), "rank": np.tile(np.arange(1, found + 1, dtype=np.int32), count)}
    columns |= {"candidate": np.asarray(candidates)[best.ravel()], "known": (asked[:, None] == offered[best]).ravel()}
    return pa.table({name: columns[name] for name in RETRIEVED.names}, schema=RETRIEVED)
