"""Utterances and their pictures, of one set or of several, as training and evaluation read them: nothing is held but places."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.core.addresses import PREPARED_FILE
from components.core.caption_normalization import normalised
from components.core.errors import HearsightError
from components.training.members import Members

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput

UTTERANCES = [
    "key", "record", "caption", "language", "split", "group", "image_sha256", "origin", "voice", "seconds",
    "audio_sha256", "media",
]  # fmt: skip
PICTURES = ["image_sha256", "media", "centre", "thumbnail"]


class SpokenSet(NamedTuple):
    """The two outputs of a spoken set."""

    speech: StageOutput
    """UTTERANCE records and their audio."""
    pictures: StageOutput
    """PREPARED records and what the image tower reads."""


@dataclass(frozen=True)
class Pairs:
    """The utterances of one split, by set and key, and the pictures that they speak of."""

    utterances: pa.Table
    """UTTERANCES."""
    audio: Members
    """n: the FLAC of each utterance."""
    picture: NDArray[np.int64]
    """n: the picture of each utterance."""
    sha256: list[str]
    """m: the pictures, in order of first appearance."""
    media: Members
    """m: what the image tower reads: features of views, or the picture's file."""
    centre: Members | None
    """m: features of the centre crop; None where the pictures' files are read, or none are kept."""
    thumbnails: list[tuple[StageOutput, str]]
    """m: where a small picture lies; an empty reference where none is kept."""
    identity: NDArray[np.int64]
    """n: equal numbers match (equation 2)."""
    picture_identity: NDArray[np.int64]
    """m: of each picture."""
    encoder: dict[str, Any]
    """What made the features, or would read the pictures: of ``prepared.json``."""

    def __len__(self) -> int:
        return len(self.picture)

    @property
    def keys(self) -> list[str]:
        """n: the utterances' keys."""
        found: list[str] = self.utterances["key"].to_pylist()
        return found


def sets_of(inputs: dict[str, StageOutput]) -> list[SpokenSet]:
    """The sets among a stage's inputs, each once: ``input`` or ``speech`` with ``pictures``, ``more`` with ``more_pictures``."""
    names = (("speech" if "speech" in inputs else "input", "pictures"), ("more", "more_pictures"))
    found = [SpokenSet(inputs[speech], inputs[pictures]) for speech, pictures in names if speech in inputs]
    return [one for place, one in enumerate(found) if all(one.speech.path != other.speech.path for other in found[:place])]


def read_pairs(sets: Sequence[SpokenSet], split: str, matching: Sequence[str]) -> Pairs:
    """The pairs of one split. An utterance whose picture was not prepared is left out (``prepare``'s ledger says why).

    Args:
        matching: which of picture, text and group make two pairs match.

    Raises:
        HearsightError: the sets' pictures were prepared for different image towers, or matching is by nothing.
    """
    import torch

    from components.models.matching import match_identities

    if not matching:
        raise HearsightError("matching names nothing", where="params.yaml: loss.matching", hint="write at least [picture]")
    encoders = [_encoder(one.pictures) for one in sets]
    for one, encoder in zip(sets, encoders, strict=True):
        if encoder != encoders[0]:
            what = f"was prepared with another encoder than {sets[0].pictures.name} ({encoder}, not {encoders[0]})"
            raise HearsightError(what, where=one.pictures.name, hint="prepare both with the same")
    parts = [_read(one, split) for one in sets]
    utterances = pa.concat_tables([part.utterances for part in parts])
    pictures = pa.concat_tables([part.pictures for part in parts])
    sha256 = pc.dictionary_encode(pictures["image_sha256"].combine_chunks())
    # A picture that two sets hold is one picture: the first set's.
    first = np.unique(np.asarray(sha256.indices), return_index=True)[1]
    picture = np.asarray(pc.index_in(utterances["image_sha256"].combine_chunks(), value_set=sha256.dictionary), dtype=np.int64)
    columns = {"picture": utterances["image_sha256"].to_pylist(), "group": utterances["group"].to_pylist()}
    # As the split by text compares captions: what it holds to be one text is no negative of itself.
    columns["text"] = [normalised(caption) for caption in utterances["caption"].to_pylist()]
    identity = match_identities(*(columns[name] for name in matching)) if len(picture) else torch.zeros(0)
    of_picture = np.zeros(len(first), dtype=np.int64)
    of_picture[picture] = np.asarray(identity, dtype=np.int64)
    centres = [part.centre for part in parts]
    thumbnails = [
        (one.pictures, name) for one, part in zip(sets, parts, strict=True) for name in part.pictures["thumbnail"].to_pylist()
    ]
    return Pairs(
        utterances,
        Members.joined([part.audio for part in parts]),
        picture,
        sha256.dictionary.to_pylist(),
        Members.joined([part.media for part in parts]).select(first),
        Members.joined([one for one in centres if one is not None]).select(first)
        if all(one is not None for one in centres)
        else None,
        [thumbnails[place] for place in first],
        np.asarray(identity, dtype=np.int64),
        of_picture,
        encoders[0],
    )


class _Part(NamedTuple):
    utterances: pa.Table
    pictures: pa.Table
    audio: Members
    media: Members
    centre: Members | None


def _read(one: SpokenSet, split: str) -> _Part:
    table = one.speech.table(UTTERANCES)
    prepared = one.pictures.table(PICTURES)
    table = table.filter(
        pc.and_(pc.equal(table["split"], split), pc.is_in(table["image_sha256"], value_set=_values(prepared["image_sha256"])))
    ).sort_by("key")
    spoken = pc.unique(_values(table["image_sha256"]))
    pictures = prepared.take(pc.index_in(spoken, value_set=_values(prepared["image_sha256"])))
    centre = pictures["centre"].to_pylist()
    return _Part(
        table,
        pictures,
        Members(one.speech, table["media"].to_pylist()),
        Members(one.pictures, pictures["media"].to_pylist()),
        Members(one.pictures, centre) if all(centre) else None,
    )


def _values(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks()


def _encoder(pictures: StageOutput) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(pictures.file(PREPARED_FILE).read_text(encoding="utf-8"))["encoder"]
    return found
