"""The places of the tables: the drawn captions, the captions of models for them, retrieval results, and the ground truth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from components.core.addresses import RETRIEVED_FILE
from components.core.errors import HearsightError
from components.core.shards import read_table
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.stages.build_rating_items import Params
from components.stages.build_rating_items.inputs import Material, draw, first_key
from components.stages.build_rating_items.items import Place, Shown, Use

TO_IMAGE = "speech_to_image"
NO_CAPTION, NO_IMAGE, NO_SPEECH = "no_caption", "unknown_image", "unknown_utterance"
"""Rules of the ledger: an empty caption, an image or an utterance that the inputs do not have."""


def dataset_places(stage: Stage, material: Material) -> Iterator[Place]:
    """Yield the captions of the drawn records with their whole images (CC table 2)."""
    for key in material.drawn:
        use = Use("dataset", stage.dataset, "", key, "", 0, True)
        yield _text_place(use, key, stage.params.raters.captions, material.records[key])


def model_places(stage: Stage, material: Material, captioners: StageOutput) -> Iterator[Place]:
    """Yield the captions that each captioner's first seed wrote for the drawn images (CC table 4)."""
    params: Params = stage.params
    table = captioners.table(["key", "test", "model", "training", "network", "seed", "output"])
    table = table.filter(pc.equal(table["test"], stage.dataset))
    if params.trained_on:
        table = table.filter(pc.is_in(table["training"], value_set=pa.array(params.trained_on)))
    first = _first_seeds(table, ["training", "network"])
    images = {material.records[key]["image_sha256"] for key in material.drawn}
    for row in table.to_pylist():
        record = material.records.get(row["key"])
        if row["model"] in first and record is not None and record["image_sha256"] in images:
            use = Use("model", row["model"], "", row["key"], "", 0, False)
            yield _text_place(use, f"{row['key']}.{row['model']}", params.raters.captions, record | {"caption": row["output"]})


def truth_places(stage: Stage, material: Material) -> Iterator[Place]:
    """Yield the drawn records with the whole image and with the centre that models see (CSC table 3)."""
    params: Params = stage.params
    for key in material.drawn:
        for crop in ("whole", "centre"):
            use, record = Use("truth", stage.dataset, "", key, "", 0, True), material.records[key]
            if params.voiced:
                utterance = material.first_utterance.get(key)
                shown = _heard(record["image_sha256"], crop, utterance) if utterance else None
                yield Place(use, key, params.raters.retrieval, shown, "" if shown else NO_SPEECH)
            else:
                yield _text_place(use, key, params.raters.retrieval, record, crop)


def retrieval_places(stage: Stage, material: Material, retrieval: StageOutput) -> Iterator[Place]:
    """Yield the best results of the drawn queries in both directions, of the first seed of each row (CSC table 4).

    A record that several voices speak asks once, with its first utterance, and an image asks in its first round: raters would
    see the same again.

    Raises:
        HearsightError: the evaluation was not made on this crop, or the chain names no speech.
    """
    params: Params = stage.params
    ranked = retrieval.table(["key", "query", "direction", "model", "row", "seed", "crop"])
    best = read_table(retrieval.file(RETRIEVED_FILE))
    _require_results(stage, ranked, best)
    first = _first_seeds(ranked, ["row"])
    asked = _drawn_queries(params, ranked)
    best = best.filter(pc.and_(pc.equal(best["crop"], params.crop), pc.is_in(best["model"], value_set=pa.array(sorted(first)))))
    best = best.filter(pc.and_(pc.less_equal(best["rank"], params.ranks), pc.is_in(best["key"], value_set=pa.array(asked))))
    for row in best.to_pylist():
        to_image = row["direction"] == TO_IMAGE
        spoken, sha = (row["key"], row["candidate"]) if to_image else (row["candidate"], row["key"].partition(".")[0])
        query = row["key"] if to_image else sha
        use = Use("retrieval", row["model"], row["direction"], query, row["candidate"], row["rank"], row["known"])
        name = f"{row['key']}.{row['rank']}.{row['direction']}.{row['model']}"
        utterance = material.utterances.get(spoken)
        rule = NO_SPEECH if utterance is None else NO_IMAGE if sha not in material.images else ""
        if rule or utterance is None:
            yield Place(use, name, params.raters.retrieval, None, rule)
        elif params.voiced:
            yield Place(use, name, params.raters.retrieval, _heard(sha, "whole", utterance))
        else:
            yield _text_place(use, name, params.raters.retrieval, utterance | {"image_sha256": sha})


def _require_results(stage: Stage, ranked: pa.Table, best: pa.Table) -> None:
    params, where = stage.params, stage.place()
    crops = pc.unique(best["crop"]).to_pylist()
    if params.crop not in crops:
        what = f"'{params.crop}' was not evaluated by {stage.inputs['retrieval'].name}"
        raise HearsightError(what, where=f"{where}.crop", hint=f"use one of {', '.join(sorted(crops))}")
    if "speech" not in stage.inputs:
        hint = "name the speech that the retrieval was evaluated on"
        raise HearsightError("needs speech", where=f"chain.build_rating_items.{stage.dataset}", hint=hint)


def _drawn_queries(params: Params, ranked: pa.Table) -> list[str]:
    """Return the keys of the drawn queries, one for each record and image; the same of every model."""
    keys: dict[str, dict[str, set[str]]] = {}
    pairs = ranked.group_by(["direction", "query", "key"], use_threads=False).aggregate([]).to_pylist()
    for row in pairs:
        keys.setdefault(row["direction"], {}).setdefault(row["query"], set()).add(row["key"])
    return [
        first_key(queries[query])
        for direction, queries in sorted(keys.items())
        for query in draw(queries, params.queries, params.seed, "rated query", direction)
    ]


def _first_seeds(table: pa.Table, names: list[str]) -> set[str]:
    """Return the models with the lowest seed of each combination of the columns ``names``."""
    first: dict[tuple[Any, ...], tuple[int, str]] = {}
    for row in table.group_by([*names, "seed", "model"], use_threads=False).aggregate([]).to_pylist():
        name = tuple(row[column] for column in names)
        first[name] = min(first.get(name, (row["seed"], row["model"])), (row["seed"], row["model"]))
    return {model for _, model in first.values()}


def _text_place(use: Use, ledger_key: str, raters: int, row: dict[str, Any], crop: str = "whole") -> Place:
    shown = Shown(row["image_sha256"], crop, row["caption"], row["language"]) if row["caption"].strip() else None
    return Place(use, ledger_key, raters, shown, "" if shown else NO_CAPTION)


def _heard(sha: str, crop: str, utterance: dict[str, Any]) -> Shown:
    return Shown(sha, crop, utterance["caption"], utterance["language"], utterance["audio_sha256"], utterance["media"])
