"""A prepared set as a captioner trains on it: the vocabulary, captions as numbers, pictures, references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.models.vocabulary import END, PAD, SPECIAL, START, UNKNOWN
from components.training.members import Members

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput

COLUMNS = ["key", "split", "group", "words", "image_sha256", "media"]


@dataclass(frozen=True)
class Split:
    """The captions of one split, in key order, so that shards may be cut anywhere; Arrow holds the text."""

    table: pa.Table
    """COLUMNS."""
    picture: NDArray[np.int64]
    """n: the picture of each caption."""
    sha256: list[str]
    """The pictures, in order of first appearance."""
    members: Members
    """Their features or files."""
    group: list[str]
    """The near-duplicate group of each picture."""

    @property
    def words(self) -> pa.ListArray:
        """The tokenised captions."""
        return _one(self.table["words"])

    def select(self, rows: NDArray[np.bool_]) -> Split:
        """These captions alone; pictures keep their numbers."""
        return Split(self.table.filter(pa.array(rows)), self.picture[rows], self.sha256, self.members, self.group)


def read_split(output: StageOutput, split: str) -> Split:
    """The records of one split."""
    parts = [shard.read(COLUMNS) for shard in output.shards]
    parts = [part.filter(pc.equal(part["split"], split)) for part in parts]
    table = pa.concat_tables(parts).sort_by("key").combine_chunks() if parts else output.table(COLUMNS)
    coded = pc.dictionary_encode(_one(table["image_sha256"]))
    picture = np.asarray(coded.indices, dtype=np.int64)
    sha256 = coded.dictionary.to_pylist()
    first = np.unique(picture, return_index=True)[1] if len(picture) else np.zeros(0, dtype=np.int64)
    media, group = (table[name].take(pa.array(first)).to_pylist() for name in ("media", "group"))
    return Split(table, picture, sha256, Members(output, media), group)


def build_vocabulary(words: pa.ListArray, min_count: int) -> list[str]:
    """The special signs, then the words seen at least ``min_count`` times: most frequent first, then alphabetical."""
    counted = pc.value_counts(pc.list_flatten(words))
    pairs = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
    kept = sorted((-count, word) for word, count in pairs if count >= min_count and word not in SPECIAL)
    return [*SPECIAL, *(word for _, word in kept)]


def encode_captions(words: pa.ListArray, vocabulary: Sequence[str], longest: int) -> NDArray[np.int32]:
    """Captions as START, word numbers, END, PAD …, n × (longest + 2); cut to ``longest`` words (CC, section 5.2: 15)."""
    lengths = np.asarray(pc.list_value_length(words), dtype=np.int64)
    known = pa.array(list(vocabulary[len(SPECIAL) :]), type=pa.string())
    numbers = pc.fill_null(pc.index_in(pc.list_flatten(words), value_set=known), UNKNOWN - len(SPECIAL))
    flat = np.asarray(numbers, dtype=np.int64) + len(SPECIAL)
    row = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    inside = place < longest
    found = np.full((len(lengths), longest + 2), PAD, dtype=np.int32)
    found[:, 0] = START
    found[row[inside], place[inside] + 1] = flat[inside]
    found[np.arange(len(lengths)), np.minimum(lengths, longest) + 1] = END
    return found


def teaching(encoded: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which captions hold a known word: the others teach only signs that are never written."""
    return np.asarray((encoded >= len(SPECIAL)).any(axis=1))


def training_split(output: StageOutput, where: str) -> Split:
    """The training captions.

    Raises:
        HearsightError: there are fewer than two.
    """
    found = read_split(output, "train")
    if len(found.table) < 2:
        hint = "crawl more pages, relax the filters, or import another set"
        raise HearsightError(f"has {len(found.table)} training captions", where=where, hint=hint)
    return found


def known_captions(split: Split, vocabulary: Sequence[str], longest: int, where: str) -> tuple[Split, NDArray[np.int32], int]:
    """Captions that can be learned from, as numbers, and how many were left out for having no known word.

    Raises:
        HearsightError: fewer than two are left.
    """
    encoded = encode_captions(split.words, vocabulary, longest)
    good = teaching(encoded)
    left_out = int((~good).sum())
    if good.sum() < 2:
        what = f"{left_out} of {len(good)} training captions hold only unknown words"
        raise HearsightError(what, where=where, hint="lower min_count, or train on more captions")
    return split.select(good), encoded[good], left_out


def references_by_group(split: Split) -> dict[str, list[list[str]]]:
    """The different captions of each near-duplicate group, references of any of its pictures; empty ones are left out."""
    references: dict[str, list[list[str]]] = {}
    for group, words in zip(split.table["group"].to_pylist(), split.words.to_pylist(), strict=True):
        known = references.setdefault(group, []) if words else []
        if words and words not in known:
            known.append(words)
    return references


def judged(split: Split, where: str) -> tuple[NDArray[np.int64], list[list[list[str]]]]:
    """The pictures that have references, and these: a picture is captioned once, whatever the number of its captions.

    Raises:
        HearsightError: there are pictures, and all their references are empty.
    """
    references = references_by_group(split)
    pictures = [number for number, group in enumerate(split.group) if group in references]
    if split.group and not pictures:
        what = f"all references of the {len(split.group)} validation pictures are empty"
        raise HearsightError(what, where=where, hint="look at the captions before `prepare`")
    return np.array(pictures, dtype=np.int64), [references[split.group[number]] for number in pictures]


def _one(column: Any) -> Any:
    """A column's chunks as one array."""
    found = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found
