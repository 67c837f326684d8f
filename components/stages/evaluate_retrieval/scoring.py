"""How one model ranks a split's pictures for each utterance, and its utterances for each picture.

A caption may be spoken several times. With all times in one pool a picture would be found through any of its voices, an easier
task than the paper's, so each time is a **round** of its own: round n offers one utterance of each record, the n-th, or, where a
record has fewer, one of these again, so that every round offers as many. An utterance that asks is always offered every picture
of the split, once. A picture that several records describe (FACC has five captions a picture) has as many right utterances a
round.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from components.execution.stage import Stage, Task
    from components.metrics.retrieval import RelevantRanks
    from components.models.loading import LoadedDualEncoder
    from components.retrieval.pairs import Pairs

SCORES, ABOUT = "scored.parquet", "about.json"
TO_IMAGE, TO_SPEECH = "speech_to_image", "image_to_speech"
WAYS = (TO_IMAGE, TO_SPEECH)
FILES = ("config.json", "weights.safetensors")


def score_all(stage: Stage) -> dict[str, Path]:
    """A job a model, known by its files and the sets' digests, so that more models, or others, undo nothing: key → its folder."""
    from components.execution.stage import Job

    models, params = stage.inputs["input"], stage.params
    listed = {entry.path: entry.sha256 for entry in models.manifest.files}
    common = {
        "split": params.split, "crops": params.crops, "deepest": max(params.depths), "matching": params.matching,
        "sets": {name: stage.inputs[name].digest for name in ("speech", "pictures")},
    }  # fmt: skip
    jobs = []
    for model in sorted(models.table(["key", "seed"]).to_pylist(), key=lambda row: row["key"]):
        files = {name: listed[f"models/{model['key']}/{name}"] for name in FILES}
        jobs.append(Job(model["key"], common | model | {"files": files}, content_addressed=True))
    if not jobs:
        raise HearsightError("holds no model", where=models.name, hint="name a row and a seed in its settings")
    folders = stage.jobs(score_model, jobs, step="models", params={})
    return dict(zip((job.name for job in jobs), folders, strict=True))


def score_model(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``scored.parquet``, SCORED records, and ``about.json``: what the model is, and what was asked of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    import torch

    from components.core.records import SCORED
    from components.metrics.retrieval import relevant_ranks
    from components.retrieval.loading import open_dual_encoder
    from components.retrieval.pairs import read_pairs, sets_of

    torch.set_num_threads(1)
    models, key = task.inputs["input"], spec["key"]
    loaded = open_dual_encoder(models, key)
    sets = sets_of({name: task.inputs[name] for name in spec["sets"]})
    pairs = read_pairs(sets, spec["split"], spec["matching"])
    if not len(pairs):
        where, what = sets[0].speech.name, f"has no utterance of a prepared picture on the {spec['split']} side"
        raise HearsightError(what, where=where, hint="evaluate another side, or crawl more pages")
    _same_encoder(loaded.config, pairs, f"{models.name}: {key}", sets[0].pictures.name)
    speech, pictures = embed(loaded, pairs, spec["crops"])
    rounds = rounds_of(pairs)
    base = {"model": key, "kind": loaded.config["kind"], "row": key.rpartition("-")[0], "seed": spec["seed"]}
    parts = []
    for crop, seen in pictures.items():
        about = base | {"crop": crop}
        found = relevant_ranks(speech, seen, pairs.identity, pairs.picture_identity)
        names, records = pairs.keys, pairs.utterances["record"].to_pylist()
        parts.append(_records(found, names, records, len(seen), about | {"way": TO_IMAGE}, spec["deepest"]))
        for number, offered in enumerate(rounds):
            found = relevant_ranks(seen, speech[offered], pairs.picture_identity, pairs.identity[offered])
            names = [f"{sha}.{number}" for sha in pairs.sha256]
            parts.append(_records(found, names, pairs.sha256, len(offered), about | {"way": TO_SPEECH}, spec["deepest"]))
    pq.write_table(pa.concat_tables(parts).cast(SCORED), folder / SCORES)
    told = {name: loaded.config[name] for name in ("loss", "percent", "training_pairs", "start", "parameters", "steps")}
    told |= {"batch": loaded.config["settings"]["optimisation"]["batch"], "validation": loaded.config["validation"]}
    asked = {"pictures": len(pairs.sha256), "utterances": len(pairs), "records": len(rounds[0]), "rounds": len(rounds)}
    (folder / ABOUT).write_text(json.dumps(base | told | asked, sort_keys=True), encoding="utf-8")


def about_of(folder: Path) -> dict[str, Any]:
    """What a job said of its model."""
    found: dict[str, Any] = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    return found


def embed(
    loaded: LoadedDualEncoder, pairs: Pairs, crops: Sequence[Any]
) -> tuple[NDArray[np.float32], dict[str, NDArray[np.float32]]]:
    """The utterances, n × D, and of each crop the pictures, m × D."""
    import numpy as np
    import torch

    from components.retrieval.embedding import embed_pairs, embed_pictures
    from components.retrieval.items import Coefficients, PairItems

    network, frames = loaded.model, loaded.config["frames"]
    speech, first = embed_pairs(network, pairs, frames=frames, crop=crops[0])
    found = {crops[0]: first}
    for crop in crops[1:]:
        rows, side = np.arange(len(pairs)), network.config.picture_side
        items = PairItems(pairs, Coefficients(pairs, 0), rows, seed=0, frames=frames, side=side, training=False, crop=crop)
        with torch.inference_mode():
            found[crop] = embed_pictures(network, items, np.arange(len(pairs.sha256)))
    return speech, found


def rounds_of(pairs: Pairs) -> list[NDArray[np.int64]]:
    """Round → an utterance of each record, by number: as many rounds as the record spoken most often has utterances."""
    import numpy as np

    keys, spoken = pairs.keys, dict[str, list[int]]()
    for place, record in enumerate(pairs.utterances["record"].to_pylist()):
        spoken.setdefault(record, []).append(place)
    # By its number, not by its name: .10 comes after .9.
    ordered = [sorted(places, key=lambda place: (len(keys[place]), keys[place])) for places in spoken.values()]
    most = max(map(len, ordered))
    return [np.array([places[number % len(places)] for places in ordered], dtype=np.int64) for number in range(most)]


def _records(
    found: RelevantRanks, keys: Sequence[str], queries: Sequence[str], items: int, about: dict[str, Any], deepest: int
) -> pa.Table:
    import pyarrow as pa

    from components.core.records import SCORED

    count = len(keys)
    columns: dict[str, Any] = {name: [value] * count for name, value in about.items()}
    columns |= {"key": keys, "query": queries, "rank": found.best, "right": found.right, "items": [items] * count}
    columns["places"] = pa.array([places[places <= deepest].tolist() for places in found.ranks], pa.list_(pa.int32()))
    return pa.table({name: columns[name] for name in SCORED.names}, schema=SCORED)


def _same_encoder(config: dict[str, Any], pairs: Pairs, model: str, prepared: str) -> None:
    if config["encoder"] != pairs.encoder:
        what = f"looked at pictures through {config['encoder']}, and {prepared} was prepared for {pairs.encoder}"
        raise HearsightError(what, where=model, hint="prepare both with the same encoder, and train again")
