"""Write and verify a release's records for other programs: Parquet for pandas and Hugging Face datasets, and WebDataset shards.

Both hold samples: an image with its captions in one split and their utterances. A sample's key depends on the image's address or
file name alone, so it is the same in all releases. Images are without metadata (``images``). The text of images with several
captions is in memory until the last one, and of media one row group.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from components.core.digests import sha256_bytes
from components.core.stage_output import StageOutput
from components.speech.audio.files import RATE_HZ
from components.tools.release.speech import FOLDER as SPEECH
from components.tools.release.speech import MANIFESTS, NUMBERS, OWN_COLUMNS, Spoken, Utterance
from components.tools.release.split_files import (
    RECORDS,
    SPLITS,
    ParquetShards,
    Published,
    Record,
    TarShards,
    published_text,
    read_csv,
    read_samples,
)
from components.web.images.head import FORMATS as SUFFIXES
from components.web.images.head import Head, read_head
from components.web.images.metadata import Unreadable, without_metadata

PARQUET, WEBDATASET = "parquet", "webdataset"
SAMPLES = {PARQUET: ".parquet", WEBDATASET: ".tar"}
"""Folder of samples → ending of its files."""
FORMATS = {"parquet": PARQUET, "hf": PARQUET, "webdataset": WEBDATASET}
"""``--format`` → its folder: what ``datasets`` loads is the Parquet files, by the front matter of README.md."""
_MEDIA = pa.struct({"bytes": pa.binary(), "path": pa.string()})
_UTTERANCE = pa.struct({"corpus": pa.string()} | {name: pa.float64() if name in NUMBERS else pa.string() for name in OWN_COLUMNS})
_COLUMNS = {
    "key": pa.string(), "split": pa.string(), "image": _MEDIA, "captions": pa.list_(pa.string()), "audio": pa.list_(_MEDIA),
    "languages": pa.list_(pa.string()), "records": pa.list_(pa.string()), "utterances": pa.list_(_UTTERANCE),
    "image_address": pa.string(), "image_sha256": pa.string(), "sha256": pa.string(), "width": pa.int32(), "height": pa.int32(),
}  # fmt: skip


def sample_key(image: str) -> str:
    """Return the key of the sample of an image: 16 hexadecimal digits from its address or file name."""
    return sha256_bytes(image.encode())[:16]


class SampleWriter(ExitStack):
    """Writes the samples of a release whose records are written; a context manager.

    Args:
        crawl: holds the images; None to leave images out.
        formats: of :data:`FORMATS`.
    """

    def __init__(self, folder: Path, crawl: StageOutput | None, formats: Iterable[str]) -> None:
        super().__init__()
        self._crawl, kinds = crawl, {FORMATS[name] for name in formats}
        self._parquet = self.enter_context(ParquetShards(folder / PARQUET, SCHEMA)) if PARQUET in kinds else None
        self._tars = self.enter_context(TarShards(folder / WEBDATASET)) if WEBDATASET in kinds else None
        self._left = _count_captions(folder)
        self._waiting: dict[tuple[str, str], list[tuple[Published, Sequence[Spoken]]]] = defaultdict(list)
        self.counts = {"samples": 0, "images": 0}

    def add(self, published: Published, spoken: Sequence[Spoken]) -> None:
        """Add one record and its utterances; the sample is written with the image's last record."""
        name = published.record.split, published.record.image
        self._waiting[name].append((published, spoken))
        if left := self._left.pop(name, 1) - 1:
            self._left[name] = left
        else:
            self._write(self._waiting.pop(name))

    def _write(self, parts: Sequence[tuple[Published, Sequence[Spoken]]]) -> None:
        first, records = parts[0][0], [published.record for published, _ in parts]
        key, split, suffix = sample_key(first.record.image), first.record.split, SUFFIXES.get(first.format, "")
        image, digest = self._image(first)
        spoken = [each for _, utterances in parts for each in utterances]
        audio = [each.audio() for each in spoken]
        utterances = [{"corpus": each.corpus, **each.utterance.own()} for each in spoken]
        fields = sample_fields(records, utterances, sha256=digest, width=first.width, height=first.height)
        if self._parquet:
            media = {
                "image": {"bytes": image, "path": f"{key}.{suffix}"} if image else None,
                "audio": [{"bytes": data, "path": name} for name, data in zip(sound_names(PARQUET, fields), audio, strict=True)],
            }
            self._parquet.add(split, fields | media, len(image) + sum(map(len, audio)))
        if self._tars:
            members = {
                **({f"{key}.{suffix}": image} if image else {}),
                f"{key}.txt": "\n".join(published_text(record.caption) for record in records).encode(),
                f"{key}.json": json.dumps(fields, ensure_ascii=False).encode(),
                **dict(zip(sound_names(WEBDATASET, fields), audio, strict=True)),
            }
            self._tars.add(split, members)
        self.counts["samples"] += 1
        self.counts["images"] += bool(image)

    def _image(self, published: Published) -> tuple[bytes, str]:
        """Return the image without metadata and its sha256; empty where there is none, or its metadata cannot be found."""
        if self._crawl is None or not published.media:
            return b"", ""
        data = self._crawl.read_media(published.media)
        try:
            image = without_metadata(data, published.format)
        except Unreadable:
            return b"", ""
        return image, published.record.image_sha256 if image == data else sha256_bytes(image)


def sample_fields(records: Sequence[Record], utterances: Sequence[Any], **image: Any) -> dict[str, Any]:
    """Return the columns of a sample without its media; ``image`` are those of the image's bytes."""
    first = records[0]
    return {
        "key": sample_key(first.image),
        "split": first.split,
        "captions": [record.caption for record in records],
        "languages": [record.language for record in records],
        "records": [record.id for record in records],
        "utterances": utterances,
        "image_address": first.image,
        "image_sha256": first.image_sha256,
        **image,
    }


def sound_names(kind: str, fields: Mapping[str, Any]) -> list[str]:
    """Return the file names of a sample's audio in a format."""
    if kind == PARQUET:
        return [f"{each['id']}.flac" for each in fields["utterances"]]
    return [
        f"{fields['key']}.{number}.flac" if number else f"{fields['key']}.flac" for number in range(len(fields["utterances"]))
    ]


def _count_captions(folder: Path) -> dict[tuple[str, str], int]:
    """Return (split, image) → number of captions, where there are several."""
    tables = [pq.read_table(path, columns=["split", "image"]) for path in (folder / RECORDS).glob("*.parquet")]
    counts = pa.concat_tables(tables).group_by(["split", "image"]).aggregate([([], "count_all")])
    several = counts.filter(pc.field("count_all") > 1).to_pylist()
    return {(each["split"], each["image"]): each["count_all"] for each in several}


def _feature(kind: pa.DataType, name: str = "") -> Any:
    """Return a column's type as Hugging Face datasets writes it."""
    if kind == _MEDIA:
        return {"_type": "Image"} if name == "image" else {"_type": "Audio", "sampling_rate": RATE_HZ}
    if pa.types.is_list(kind):
        return [_feature(kind.value_type)]
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.type) for field in kind}
    return {"_type": "Value", "dtype": {"double": "float64"}.get(str(kind), str(kind))}


SCHEMA = pa.schema(
    _COLUMNS, {"huggingface": json.dumps({"info": {"features": {name: _feature(kind, name) for name, kind in _COLUMNS.items()}}})}
)


def hub_files(folder: Path, spoken: Iterable[str]) -> list[dict[str, Any]]:
    """Return the ``configs`` of a card's front matter, from which ``datasets.load_dataset`` loads the splits: samples where there
    are some, records and corpora, each from Parquet, since the types of CSV cannot be stated.

    Args:
        folder: of the release, with its data.
        spoken: the corpora, in any order.
    """
    homes = {"samples": PARQUET, RECORDS: RECORDS, **{name: f"{SPEECH}/{name}/{MANIFESTS}" for name in sorted(spoken)}}
    configs: list[dict[str, Any]] = []
    for name, home in homes.items():
        paths = {split: f"{home}/{split}-*.parquet" for split in SPLITS}
        if files := [{"split": split, "path": path} for split, path in paths.items() if any(folder.glob(path))]:
            configs.append({"config_name": name, **({} if configs else {"default": True}), "data_files": files})
    return configs


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
            if kind == PARQUET and ((own := pq.read_schema(path)) != SCHEMA or own.metadata != SCHEMA.metadata):
                yield f"{kind}/{path.name}: its columns or their features are not those of samples"
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
