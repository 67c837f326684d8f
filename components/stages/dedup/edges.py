"""Edges between records: same images, and duplicate posts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.execution.stage import Job, Stage
from components.stages.dedup import Aligned, PerceptualHash, Posts, captions
from components.stages.dedup.close_pairs import Pairs, distances
from components.stages.dedup.hashes import near_hashes
from components.stages.dedup.images import find_repeats, prepare
from components.stages.dedup.posts import Matched, PostPairs, image_distances
from components.stages.dedup.records import Records
from components.vision.named_encoders import PostEncoder


@dataclass(frozen=True)
class Images:
    """The distinct images of a run."""

    folders: list[Path]
    """Job outputs for the images that each shard is the first to show."""
    rows: dict[str, int]
    """sha256 of an image → its row among all."""
    vectors: NDArray[np.float16]
    unreadable: dict[str, str]
    """sha256 of an undecodable image → the error."""


def prepare_images(stage: Stage, records: Records) -> Images:
    """Return features of all images and the folders of their sketches, computed or cached."""
    params = stage.params
    encoder = PostEncoder.of(stage.project, params.mobilenet_v2, params.encoder, stage.engine.device(params.accelerator))
    jobs = [
        Job(shard.name, {"images": shown, "encoder": list(encoder)}, content_addressed=True)
        for shard, shown in zip(records.shards, records.first_shown(), strict=True)
    ]
    folders = stage.jobs(prepare, jobs, step="images", params={}, resources=encoder.resources)
    rows: dict[str, int] = {}
    unreadable: dict[str, str] = {}
    for folder in folders:
        for sha256 in json.loads((folder / "images.json").read_text()):
            rows[sha256] = len(rows)
        unreadable |= json.loads((folder / "unreadable.json").read_text())
    # The views of frames' contents come after the whole images, which posts are compared by.
    counts = [len(json.loads((folder / "images.json").read_text())) for folder in folders]
    vectors = [np.load(folder / "vectors.npy")[:count] for folder, count in zip(folders, counts, strict=True)]
    none = np.empty((0, encoder.annotator(stage.project).width), np.float16)
    return Images(folders, rows, np.concatenate([none, *vectors]), unreadable)


def aligned_repeats(stage: Stage, images: Images) -> Iterator[Pairs]:
    """Yield pairs of rows of images that match by features and alignment; those of old shards come from the cache."""
    names = [f"{folder.parent.name}/{folder.name}" for folder in images.folders]
    jobs = [
        Job(f"{number:05d}", {"own": name, "earlier": names[:number]}, content_addressed=True)
        for number, name in enumerate(names)
    ]
    folders = stage.jobs(find_repeats, jobs, step="repeats", params=stage.params.signal)
    counts = [len(json.loads((folder / "images.json").read_text())) for folder in images.folders]
    starts = np.concatenate([[0], np.cumsum(counts)])
    for number, folder in enumerate(folders):
        repeats = np.load(folder / "repeats.npy").astype(np.int64)
        yield repeats[:, 0] + starts[number], repeats[:, 2] + starts[repeats[:, 1]]


def signal_matches(records: Records, images: Images, signal: PerceptualHash | Aligned, repeats: Sequence[Pairs]) -> Matched:
    """Return the function that tells which pairs of rows of images ``signal`` matches.

    Args:
        records, images: of the run.
        signal: the settings.
        repeats: pairs of rows that ``aligned`` matches; not read for the other signal.
    """
    if signal.kind == "phash":
        most, hashes = signal.max_distance, np.zeros(len(images.rows), np.uint64)
        for sha256, phash in zip(records.images, records.hashes, strict=True):
            if sha256 in images.rows:
                hashes[images.rows[sha256]] = phash
        return lambda one, other: np.bitwise_count(hashes[one] ^ hashes[other]) <= most
    known = [np.empty(0, np.int64), *(_pair_numbers(i, j, len(images.rows)) for i, j in repeats)]
    numbers = np.append(np.unique(np.concatenate(known)), -1)

    def matched(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.bool_]:
        asked = _pair_numbers(one, other, len(images.rows))
        return np.asarray((one == other) | (numbers[np.searchsorted(numbers[:-1], asked)] == asked))

    return matched


def _pair_numbers(i: NDArray[np.int64], j: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return a number for each pair of rows below ``count``, the same in both orders."""
    return np.minimum(i, j) * count + np.maximum(i, j)


def same_images(
    records: Records, images: Images | None, signal: PerceptualHash | Aligned, repeats: Sequence[Pairs]
) -> Iterator[Pairs]:
    """Yield edges between records with matching images, enough to connect all that match."""
    yield _equals(records.images)
    plain = np.flatnonzero(records.exact >= 0)
    yield plain, plain[_first_equal(records.exact[plain])[0]]
    if signal.kind == "phash":
        others = np.flatnonzero(records.exact < 0)
        same, first = _first_equal(records.hashes[others])
        yield others, others[same]
        first = others[first]
        for i, j in near_hashes(records.hashes[first], signal.max_distance):
            yield first[i], first[j]
        return
    assert images is not None
    shown = _firsts(records.images)
    first = np.array([shown[sha256] for sha256 in images.rows], np.int64)
    for i, j in repeats:
        exact = records.exact[first[i]] == records.exact[first[j]]
        yield first[i[exact]], first[j[exact]]


def _first_equal(numbers: NDArray[Any]) -> Pairs:
    """Return for each number the index of the first equal one, and the indices of all first ones."""
    _, first, of = np.unique(numbers, return_index=True, return_inverse=True)
    return first[of], first


class Duplicates:
    """Pairs of records that are duplicate posts, for any thresholds.

    Args:
        records, images: of the run.
        settings: of posts.
        matched: which pairs of rows of ``images`` count as the same whatever their distance; None for the paper's rule.
    """

    def __init__(self, records: Records, images: Images, settings: Posts, matched: Matched | None = None) -> None:
        self._matched = matched
        self.known = np.array([n for n, sha256 in enumerate(records.images) if sha256 in images.rows], np.int64)
        stops = captions.stop_words(tuple(settings.languages))
        counts = [Counter(captions.words(records.captions[n], stops)) for n in self.known.tolist()]
        distinct, self._caption = captions.fold(counts)
        if settings.idf == "corpus":
            idf = captions.corpus_idf(counts)
        else:
            idf = captions.language_idf({word for count in distinct for word in count}, settings.languages)
        self._image = np.array([images.rows[records.images[n]] for n in self.known.tolist()], np.int64)
        self._rows = captions.vectors(distinct, idf)
        self._vectors = images.vectors
        exact = np.full(len(images.rows), -1, np.int64)
        exact[self._image] = records.exact[self.known]
        self._pairs: PostPairs = PostPairs(self._rows, self._caption, self._vectors, self._image, exact)
        self._position = np.full(len(records), -1, np.int64)
        self._position[self.known] = np.arange(len(self.known))

    def within(self, image: float, caption: float) -> Iterator[Pairs]:
        """Yield pairs of records within these distances (the paper's definition 3)."""
        for i, j in self._pairs.within(image, caption):
            yield self.known[i], self.known[j]

    def duplicates(self, image: float, caption: float) -> Iterator[Pairs]:
        """Yield pairs of records that count as duplicates: within these distances, or with matched images and that caption."""
        for i, j in self._pairs.within(image, caption, self._matched):
            yield self.known[i], self.known[j]

    def matched(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the given pairs of records have images that count as the same by the signal."""
        if self._matched is None:
            return np.zeros(len(i), bool)
        return self._matched(self._image[self._position[i]], self._image[self._position[j]])

    def distances(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> tuple[Any, Any]:
        """Return the image and caption distances of the given pairs of records."""
        one, other = self._position[i], self._position[j]
        image = image_distances(self._vectors, self._image[one], self._image[other])
        return image, distances(self._rows, self._caption[one], self._caption[other])


def _firsts(values: Sequence[str]) -> dict[str, int]:
    """Return each distinct value → its first index."""
    first_index: dict[str, int] = {}
    for index, value in enumerate(values):
        first_index.setdefault(value, index)
    return first_index


def _equals(values: Sequence[str]) -> Pairs:
    """Return an edge from each repetition of a value to its first index."""
    first = _firsts(values)
    repeats = [index for index, value in enumerate(values) if first[value] != index]
    return np.array(repeats, np.int64), np.array([first[values[index]] for index in repeats], np.int64)
