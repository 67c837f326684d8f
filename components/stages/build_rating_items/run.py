"""Run build_rating_items: draw, merge, make the images, and write items and ledger.

Raters see images whole or the models' centre crop, upright, small, as JPEG without metadata.
"""

from __future__ import annotations

import io
import itertools
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from PIL.Image import Resampling

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.ledger import DROPPED, dropped, kept, ledger_table
from components.core.records import LEDGER, RATING_ITEM
from components.execution.stage import Job, Stage, Task
from components.stages.build_rating_items import Params
from components.stages.build_rating_items.inputs import Material, read_material
from components.stages.build_rating_items.items import TABLES, Item, Place, merge
from components.stages.build_rating_items.table_places import dataset_places, model_places, retrieval_places, truth_places
from components.vision.crops import crop_window, evaluation_window
from components.vision.training_images import open_image

SIDE = 640
"""px, of the longer side at most: an image fills half of a common screen beside its caption."""
QUALITY = 85
UNREADABLE_FILE = "unreadable.json"


def image_name(sha256: str, crop: str) -> str:
    """Return the name of an image's file."""
    return f"{sha256}.{crop}.jpg"


def image_job(spec: list[tuple[str, str, list[str]]], task: Task, folder: Path) -> None:
    """Write the crops of images as JPEG, one image at a time, and the list of unreadable ones to ``unreadable.json``.

    Args:
        spec: sha256, place in the output of ``media``, and crops of each image.

    Raises:
        HearsightError: a file is not the one that the record names.
    """
    unreadable = []
    for sha256, media, crops in spec:
        data = task.inputs["media"].read_media(media)
        if sha256_bytes(data) != sha256:
            raise HearsightError("is not the image of its record", where=media, hint="run the crawl again")
        try:
            for crop in crops:
                (folder / image_name(sha256, crop)).write_bytes(shown_image(data, crop))
        except HearsightError:
            unreadable.append(sha256)
    (folder / UNREADABLE_FILE).write_text(json.dumps(unreadable), encoding="utf-8")


def read_unreadable(folder: Path) -> list[str]:
    """Return the sha256 of a job's unreadable images."""
    content: list[str] = json.loads((folder / UNREADABLE_FILE).read_text(encoding="utf-8"))
    return content


def shown_image(data: bytes, crop: str) -> bytes:
    """Return an image as a JPEG: whole, or the central square that models see; at most SIDE px, upright, on white.

    Raises:
        HearsightError: the bytes cannot be decoded.
    """
    image = open_image(data, SIDE)
    if crop == "centre":
        window = evaluation_window(*image.size, "centre")
        image = crop_window(image, window, min(SIDE, int(window.side)))
    else:
        image.thumbnail((SIDE, SIDE), Resampling.BICUBIC)
    target = io.BytesIO()
    image.save(target, "JPEG", quality=QUALITY)
    return target.getvalue()


FEW = 4096
"""Up to so many images there are at most 16 shards, beyond 256."""
NOT_DRAWN, OTHER_SPLIT, UNREADABLE, NOTHING = "not_drawn", "other_split", "unreadable_image", "nothing_to_rate"
UNREADABLE_VALUES = ("no", "a readable image")
"""Value and threshold of the rule."""
KINDS = {"dataset": "record", "truth": "record", "model": "model", "retrieval": "utterance"}
"""Table → kind of its rows in the ledger."""


def run(stage: Stage) -> None:
    """Draw records and queries, write one item for each distinct pair, and one ledger row for each place and record."""
    material = read_material(stage)
    places = list(_places(stage, material))
    items = merge(places)
    if not items:
        where = stage.place()
        what = f"there is nothing to rate in the {stage.params.split} split of the inputs"
        raise HearsightError(what, where=where, hint="name other tables or another split, or connect more inputs")
    by_bucket = _buckets(items)
    folders = _make_images(stage, material, by_bucket)
    unreadable = frozenset(sha for folder in folders.values() for sha in read_unreadable(folder))
    rows = [*_place_rows(places, unreadable), *_record_rows(stage.params, material, places, unreadable)]
    rest = [ledger_table(rows), _others(material.others, stage.params.split)]
    for bucket, group in sorted(by_bucket.items()):
        ledger = pa.concat_tables([ledger_table(_item_row(item, unreadable) for item in group), *rest])
        shown = [item for item in group if item.shown.image_sha256 not in unreadable]
        _write_shard(stage, f"{bucket:05d}", shown, folders[bucket], ledger)
        rest = []  # in the first shard's ledger
    _count(stage, [item for item in items.values() if item.shown.image_sha256 not in unreadable])


def _places(stage: Stage, material: Material) -> Iterator[Place]:
    tables, inputs = stage.params.tables, stage.inputs
    if "dataset" in tables and "captions" in inputs:
        yield from dataset_places(stage, material)
    if "model" in tables and "captioners" in inputs:
        yield from model_places(stage, material, inputs["captioners"])
    if "retrieval" in tables and "retrieval" in inputs:
        yield from retrieval_places(stage, material, inputs["retrieval"])
    if "truth" in tables:
        yield from truth_places(stage, material)


def _buckets(items: dict[str, Item]) -> dict[int, list[Item]]:
    """Return items by the first digits of their images' sha256, by key: an added item changes its own shard and job alone."""
    digits = 1 if len({item.shown.image_sha256 for item in items.values()}) <= FEW else 2
    buckets: dict[int, list[Item]] = {}
    for _, item in sorted(items.items()):
        buckets.setdefault(int(item.shown.image_sha256[:digits], 16), []).append(item)
    return buckets


def _make_images(stage: Stage, material: Material, by_bucket: dict[int, list[Item]]) -> dict[int, Path]:
    """Make the images of each bucket in a job that is keyed by their content; return bucket → folder."""
    jobs = []
    for bucket, group in sorted(by_bucket.items()):
        crops: dict[str, set[str]] = {}
        for item in group:
            crops.setdefault(item.shown.image_sha256, set()).add(item.shown.crop)
        spec = [[sha, material.images[sha], sorted(wanted)] for sha, wanted in sorted(crops.items())]
        jobs.append(Job(f"{bucket:05d}", spec, content_addressed=True))
    return dict(zip(sorted(by_bucket), stage.jobs(image_job, jobs, step="images", params={}), strict=True))


def _write_shard(stage: Stage, name: str, items: list[Item], folder: Path, ledger: pa.Table) -> None:
    records, media = [], dict[str, bytes]()
    for item in items:
        image, audio = image_name(item.shown.image_sha256, item.shown.crop), ""
        media[image] = (folder / image).read_bytes()
        if item.shown.audio:
            audio = f"{item.shown.audio_sha256}.flac"
            media[audio] = stage.inputs["speech"].read_media(item.shown.audio)
        records.append(item.record(f"{name}/{image}", audio and f"{name}/{audio}"))
    stage.write_shard(name, pa.Table.from_pylist(records, schema=RATING_ITEM), ledger, media)


def _item_row(item: Item, unreadable: Collection[str]) -> dict[str, str]:
    """Return the ledger row of an item."""
    key = item.shown.key
    if item.shown.image_sha256 in unreadable:
        return dropped(key, UNREADABLE, *UNREADABLE_VALUES, kind="image")
    return kept(key, kind="image")


def _state(place: Place, key: str, unreadable: Collection[str]) -> dict[str, str]:
    """Return the ledger row of a place."""
    kind = KINDS[place.use.table]
    if place.shown is None:
        return dropped(key, place.rule, "no", "something to show", kind=kind)
    if place.shown.image_sha256 in unreadable:
        return dropped(key, UNREADABLE, *UNREADABLE_VALUES, kind=kind)
    return kept(key, kind=kind, detail=f"item {place.shown.key}")


def _place_rows(places: Iterable[Place], unreadable: Collection[str]) -> Iterator[dict[str, str]]:
    """Yield a row for each caption of a model and each retrieval result."""
    for place in places:
        if KINDS[place.use.table] != "record":
            yield _state(place, place.ledger_key, unreadable)


def _record_rows(
    params: Params, material: Material, places: Iterable[Place], unreadable: Collection[str]
) -> Iterator[dict[str, str]]:
    """Yield a row for each record of the split: kept if one of its places is shown, which it names."""
    states: dict[str, list[dict[str, str]]] = {}
    for place in places:
        if KINDS[place.use.table] == "record":
            states.setdefault(place.use.query, []).append(_state(place, place.use.query, unreadable))
    drawn = set(material.drawn)
    for key in sorted(material.records):
        rows = states.get(key, [])
        shown = [row for row in rows if row["verdict"] != DROPPED]
        if shown:
            yield kept(key, detail="items " + ", ".join(sorted({row["detail"].removeprefix("item ") for row in shown})))
        elif rows:
            yield rows[0]
        elif key in drawn:
            yield dropped(key, NOTHING, "", params.tables)
        else:
            yield dropped(key, NOT_DRAWN, f"{len(material.records)} records", params.sample)


def _others(keys: list[str], split: str) -> pa.Table:
    """Return the rows of other splits' records: as columns, since they may be millions."""
    row = dropped("", OTHER_SPLIT, "another", split)
    columns = {name: pa.array(keys, pa.string()) if name == "key" else pa.repeat(row[name], len(keys)) for name in LEDGER.names}
    return pa.table(columns, schema=LEDGER)


def _count(stage: Stage, items: list[Item]) -> None:
    """Add metrics: the items, the ratings that are asked for, and the items of each table."""
    stage.metric("items", len(items))
    stage.metric("ratings_wanted", sum(item.raters for item in items))
    tables = Counter(itertools.chain.from_iterable({use.table for use in item.uses} for item in items))
    for table in TABLES:
        stage.metric(f"items.{table}", tables[table])
