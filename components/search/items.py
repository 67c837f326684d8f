"""The items of an index: utterances and distinct images of the splits, as records and as rows of a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from components.retrieval.pairs import Pairs

IMAGE, SPEECH = "image", "speech"
ROWS_AT_ONCE = 4096


@dataclass
class Split:
    """One split: its pairs and their embeddings (n × D of utterances, m × D of images)."""

    name: str
    pairs: Pairs
    speech: NDArray[np.float32]
    images: NDArray[np.float32]


@dataclass
class Items:
    """The rows of an index: every image once, then every utterance, split by split."""

    splits: list[Split]
    records: list[dict[str, Any]] = field(default_factory=list)
    """SEARCH_ITEM records, in the order of the rows."""
    _sources: list[tuple[NDArray[np.float32], NDArray[np.int64]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        images: dict[str, dict[str, Any]] = {}
        for split in self.splits:
            fresh = [number for number, sha256 in enumerate(split.pairs.sha256) if sha256 not in images]
            images |= {split.pairs.sha256[number]: _image(split.pairs, number) for number in fresh}
            self._sources.append((split.images, np.array(fresh, dtype=np.int64)))
        spoken: list[dict[str, Any]] = []
        for split in self.splits:
            for row in split.pairs.utterances.to_pylist():
                image = images[row["image_sha256"]]
                for name, value in (("captions", _caption(row)), ("languages", row["language"]), ("splits", split.name)):
                    if value not in image[name]:
                        image[name].append(value)
                spoken.append(_utterance(row, image["thumbnail"], split.name))
            self._sources.append((split.speech, np.arange(len(split.speech))))
        for image in images.values():
            image["caption"] = image["captions"][0]["caption"]
        self.records = [*images.values(), *spoken]

    def __len__(self) -> int:
        return len(self.records)

    def embeddings(self) -> Iterator[NDArray[np.float32]]:
        """Yield the rows' embeddings in blocks."""
        for source, rows in self._sources:
            for first in range(0, len(rows), ROWS_AT_ONCE):
                yield source[rows[first : first + ROWS_AT_ONCE]]

    def rows_of(self, kind: str) -> int:
        """Return the number of rows of a kind."""
        return sum(record["kind"] == kind for record in self.records)


def thumbnail_files(splits: Sequence[Split]) -> dict[str, tuple[Any, str]]:
    """Return for each path inside ``search/`` the output and the reference of the thumbnail."""
    files = {}
    for split in splits:
        for sha256, (output, reference) in zip(split.pairs.sha256, split.pairs.thumbnails, strict=True):
            if reference:
                files[thumbnail_path(sha256)] = (output, reference)
    return files


def thumbnail_path(sha256: str) -> str:
    """Return the path of a thumbnail inside ``search/``."""
    return f"images/{sha256}.jpg"


def _image(pairs: Pairs, number: int) -> dict[str, Any]:
    sha256 = pairs.sha256[number]
    return {
        "key": sha256, "kind": IMAGE, "image_sha256": sha256, "caption": "", "captions": [], "languages": [], "splits": [],
        "origin": "", "voice": "", "seconds": 0.0, "audio_sha256": "", "media": "",
        "thumbnail": thumbnail_path(sha256) if pairs.thumbnails[number][1] else "",
    }  # fmt: skip


def _utterance(row: dict[str, Any], thumbnail: str, split: str) -> dict[str, Any]:
    fields = {
        name: row[name] for name in ("key", "image_sha256", "caption", "origin", "voice", "seconds", "audio_sha256", "media")
    }
    lists = {"captions": [_caption(row)], "languages": [row["language"]], "splits": [split]}
    return fields | lists | {"kind": SPEECH, "thumbnail": thumbnail}


def _caption(row: dict[str, Any]) -> dict[str, str]:
    return {name: row[name] for name in ("language", "caption")}
