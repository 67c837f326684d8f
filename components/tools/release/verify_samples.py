"""Verify the samples and the Parquet tables of a release against its records and manifests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from components.core.digests import sha256_bytes
from components.tools.release.formats import PARQUET, WEBDATASET, sample_fields, sound_names
from components.tools.release.records import FOLDER as RECORDS
from components.tools.release.records import Record, published_text, read_csv
from components.tools.release.speech import FOLDER as SPEECH
from components.tools.release.speech import MANIFESTS, NUMBERS, Utterance
from components.tools.release.split_files import read_samples
from components.web.images.head import FORMATS as SUFFIXES
from components.web.images.head import Head, read_head

Media = tuple[str, bytes]
"""File name, content."""
Sample = tuple[dict[str, Any], Media | None, list[Media]]
"""Fields, image and utterances' audio."""


def verify_samples(folder: Path, records: Mapping[str, Record], *, posts: bool) -> Iterator[str]:
    """Yield a line for each sample that is not as records, manifests and its media state, or is in another split's file.

    Args:
        posts: whether every sample has the image of its record; otherwise images may be left out or without metadata.
    """
    spoken = {
        (path.parent.parent.name, row["id"]): {"corpus": path.parent.parent.name, **Utterance(**row).own()}
        for path in folder.glob(f"{SPEECH}/*/{MANIFESTS}/*.csv")
        for row in read_csv(path, Utterance._fields)
    }
    images: dict[tuple[str, str], dict[str, Any]] = {}
    for kind, read in ((PARQUET, _read_parquet), (WEBDATASET, _read_tar)):
        paths, keys = sorted((folder / kind).glob("*")), set[tuple[str, str]]()
        left, unheard = (dict(records), dict(spoken)) if paths else ({}, {})
        for path in paths:
            for sample, image, sounds in read(path):
                key = sample["split"], sample["key"]
                own = [left.pop(each) for each in sample["records"] if each in left]
                said = [unheard.pop((each["corpus"], each["id"]), None) for each in sample["utterances"]]
                facts = {column: sample[column] for column in ("sha256", "width", "height")}
                if (
                    not path.name.startswith(f"{sample['split']}-")
                    or key in keys
                    or len({record[1:4] for record in own}) != 1  # of one split and one image
                    or sample != sample_fields(own, said, **facts)
                    or not {each["record"] for each in sample["utterances"]} <= set(sample["records"])
                    or images.setdefault(key, facts) != facts
                    or not _is_image(sample, image, needed=posts)
                    or [name for name, _ in sounds] != sound_names(kind, sample)
                    or [sha256_bytes(sound) for _, sound in sounds] != [each["audio_sha256"] for each in sample["utterances"]]
                ):
                    yield f"{kind}/{path.name}: sample {sample['key']} is not as its records and its speech"
                keys.add(key)
        yield from (f"{kind}: record {key} is in no sample" for key in left)
        yield from (f"{kind}: utterance {key} of {corpus} is in no sample" for corpus, key in unheard)


def _is_image(sample: Mapping[str, Any], image: Media | None, *, needed: bool) -> bool:
    """Return whether an image is as its sample states: name, digest and sides, whichever way it is turned."""
    if image is None:
        return not needed and sample["sha256"] == ""
    name, data = image
    head = read_head(data, last=True) or Head("")
    return (
        name == f"{sample['key']}.{SUFFIXES.get(head.format)}"
        and {sample["width"], sample["height"]} == {head.width, head.height}
        and sample["sha256"] == sha256_bytes(data)
        and (not needed or sample["sha256"] == sample["image_sha256"])
    )


def _read_parquet(path: Path) -> Iterator[Sample]:
    for row in _rows(path, 16):
        image, sounds = row.pop("image"), row.pop("audio")
        yield row, (image["path"], image["bytes"]) if image else None, [(each["path"], each["bytes"]) for each in sounds]


def _read_tar(path: Path) -> Iterator[Sample]:
    for key, data in read_samples(path):
        sample = json.loads(data.pop(f"{key}.json"))
        captions = [published_text(caption) for caption in sample["captions"]]
        if data.pop(f"{key}.txt").decode().split("\n") != captions:
            sample["key"] = f"of {key}, whose .txt differs from its .json,"
        image = next((name for name in data if not name.endswith(".flac")), None)
        yield sample, (image, data.pop(image)) if image else None, list(data.items())


def verify_typed(folder: Path) -> Iterator[str]:
    """Yield a line for each table whose Parquet files have other rows than its CSV file."""
    for path in sorted([*folder.glob(f"{RECORDS}/*.csv"), *folder.glob(f"{SPEECH}/*/{MANIFESTS}/*.csv")]):
        rows = ({name: float(text) if name in NUMBERS else text for name, text in row.items()} for row in read_csv(path, ()))
        typed = (row for file in sorted(path.parent.glob(f"{path.stem}-*.parquet")) for row in _rows(file, 1000))
        if any(one != other for one, other in zip_longest(rows, typed)):
            yield f"{path.relative_to(folder)}: its Parquet files have other rows"


def _rows(path: Path, together: int) -> Iterator[dict[str, Any]]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=together):
            yield from batch.to_pylist()
