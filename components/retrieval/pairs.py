"""Utterances and their images, of one or several sets, for training and evaluation; media are read on demand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray

from components.core.addresses import PREPARED_FILE
from components.core.caption_normalization import normalise_caption
from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.params import did_you_mean
from components.models.matching import match_identities
from components.training.members import Members

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput

UTTERANCES = [
    "key", "record", "caption", "language", "split", "group", "image_sha256", "origin", "voice", "seconds",
    "audio_sha256", "media",
]  # fmt: skip
IMAGES = ["image_sha256", "media", "centre", "thumbnail"]


class SpokenSet(NamedTuple):
    """The two outputs that make a spoken set."""

    speech: StageOutput
    """UTTERANCE records and their audio."""
    images: StageOutput
    """FEATURES records and the image tower's input."""


@dataclass(frozen=True)
class Pairs:
    """The utterances of one split, by set and key, and their images."""

    utterances: pa.Table
    """n rows with the columns UTTERANCES."""
    audio: Members
    """n: the FLAC of each utterance."""
    image: NDArray[np.int64]
    """n: index of each utterance's image."""
    sha256: list[str]
    """m: the images' digests, in order of first appearance."""
    media: Members
    """m: the image tower's input: features of views, or the image's file."""
    centre: Members | None
    """m: features of the centre crop; None if the images' files are read, or no crops are stored."""
    thumbnails: list[tuple[StageOutput, str]]
    """m: output and reference of a thumbnail; an empty reference if none is stored."""
    identity: NDArray[np.int64]
    """n: equal numbers match (CSC, eq. 2)."""
    image_identity: NDArray[np.int64]
    """m: identity of each image."""
    encoder: dict[str, Any]
    """The image encoder of the features or for the images, from ``prepared.json``."""

    def __len__(self) -> int:
        return len(self.image)

    @property
    def keys(self) -> list[str]:
        """n: the utterances' keys."""
        keys: list[str] = self.utterances["key"].to_pylist()
        return keys

    def digest(self) -> str:
        """Return the digest of what a score on these pairs depends on beside the model: recordings, images and matches."""
        content = self.utterances.select(["audio_sha256", "image_sha256"]).to_pylist()
        return digest_value([content, self.identity.tolist()])


def sets_of(inputs: dict[str, StageOutput]) -> list[SpokenSet]:
    """Return the distinct sets among a stage's inputs: ``input`` or ``speech`` with ``images``, ``more`` with
    ``more_images``."""
    names = (("speech" if "speech" in inputs else "input", "images"), ("more", "more_images"))
    sets: dict[Path, SpokenSet] = {}
    for speech, images in names:
        if speech in inputs:
            sets.setdefault(inputs[speech].path, SpokenSet(inputs[speech], inputs[images]))
    return list(sets.values())


def read_pairs(sets: Sequence[SpokenSet], split: str, matching: Sequence[str], voices: Sequence[str] = ()) -> Pairs:
    """Return the pairs of one split. Utterances without a prepared image are left out (see the ledger of
    ``extract_features``).

    Args:
        matching: which of image, text and group make two pairs match (CSC, eq. 2).
        voices: read the utterances of these voices alone; empty reads all.

    Raises:
        HearsightError: the sets' images were prepared for different image towers, ``matching`` is empty, or no set has one of
            the voices.
    """
    if not matching:
        raise HearsightError("matching is empty", where="loss.matching", hint="write at least [image]")
    prepared = [json.loads(one.images.file(PREPARED_FILE).read_text(encoding="utf-8")) for one in sets]
    encoders: list[dict[str, Any]] = [content["encoder"] for content in prepared]
    for spoken_set, encoder in zip(sets, encoders, strict=True):
        if encoder != encoders[0]:
            what = f"was prepared with another encoder than {sets[0].images.name} ({encoder}, not {encoders[0]})"
            raise HearsightError(what, where=spoken_set.images.name, hint="prepare both with the same encoder")
    if voices:
        known = {voice for one in sets for voice in pc.unique(one.speech.table(["voice"])["voice"]).to_pylist()}
        if missing := [voice for voice in voices if voice not in known]:
            names = ", ".join(one.speech.name for one in sets)
            raise HearsightError(
                f"have no utterance of '{missing[0]}'", where=names, hint=did_you_mean(missing[0], sorted(known))
            )
    parts = [_read(spoken_set, split, voices) for spoken_set in sets]
    utterances = pa.concat_tables([part.utterances for part in parts])
    images = pa.concat_tables([part.images for part in parts])
    sha256 = pc.dictionary_encode(images["image_sha256"].combine_chunks())
    # An image in both sets counts once, as the first set's.
    first = np.unique(np.asarray(sha256.indices), return_index=True)[1]
    image = np.asarray(pc.index_in(utterances["image_sha256"].combine_chunks(), value_set=sha256.dictionary), dtype=np.int64)
    columns = {"image": utterances["image_sha256"].to_pylist(), "group": utterances["group"].to_pylist()}
    # Captions are normalised as in the split by text, so that equal texts are never negatives of each other.
    columns["text"] = [normalise_caption(caption) for caption in utterances["caption"].to_pylist()]
    identity = match_identities(*(columns[name] for name in matching)) if len(image) else torch.zeros(0)
    image_identity = np.zeros(len(first), dtype=np.int64)
    image_identity[image] = np.asarray(identity, dtype=np.int64)
    centres = [part.centre for part in parts]
    thumbnails = [
        (spoken_set.images, name)
        for spoken_set, part in zip(sets, parts, strict=True)
        for name in part.images["thumbnail"].to_pylist()
    ]
    return Pairs(
        utterances,
        Members.joined([part.audio for part in parts]),
        image,
        sha256.dictionary.to_pylist(),
        Members.joined([part.media for part in parts]).select(first),
        Members.joined([spoken_set for spoken_set in centres if spoken_set is not None]).select(first)
        if all(spoken_set is not None for spoken_set in centres)
        else None,
        [thumbnails[index] for index in first],
        np.asarray(identity, dtype=np.int64),
        image_identity,
        encoders[0],
    )


class _SetPairs(NamedTuple):
    utterances: pa.Table
    images: pa.Table
    audio: Members
    media: Members
    centre: Members | None


def _read(one: SpokenSet, split: str, voices: Sequence[str]) -> _SetPairs:
    table, prepared = one.speech.table(UTTERANCES), one.images.table(IMAGES)
    known = prepared["image_sha256"].combine_chunks()
    is_pair = pc.and_(pc.equal(table["split"], split), pc.is_in(table["image_sha256"], value_set=known))
    if voices:
        is_pair = pc.and_(is_pair, pc.is_in(table["voice"], value_set=pa.array(voices)))
    table = table.filter(is_pair).sort_by("key")
    images = prepared.take(pc.index_in(pc.unique(table["image_sha256"].combine_chunks()), value_set=known))
    centre = images["centre"].to_pylist()
    return _SetPairs(
        table,
        images,
        Members(one.speech, table["media"].to_pylist()),
        Members(one.images, images["media"].to_pylist()),
        Members(one.images, centre) if all(centre) else None,
    )
