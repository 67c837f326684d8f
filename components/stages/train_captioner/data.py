"""Training data of a captioner from a prepared set: vocabulary, encoded captions, images, references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.models.vocabulary import END, PAD, SPECIAL, START, UNKNOWN
from components.training.members import Members

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput

COLUMNS = ["key", "split", "group", "words", "image_sha256", "media"]


@dataclass(frozen=True)
class Split:
    """The captions of one split in key order, independent of the division into shards."""

    table: pa.Table
    """The columns :data:`COLUMNS`."""
    image: NDArray[np.int64]
    """n: number of each caption's image."""
    sha256: list[str]
    """Digests of the images, in order of first appearance."""
    members: Members
    """The images' features or files."""
    group: list[str]
    """The near-duplicate group of each image."""

    @property
    def words(self) -> pa.ListArray:
        """The tokenised captions."""
        return _one_array(self.table["words"])

    def select(self, rows: NDArray[np.bool_]) -> Split:
        """Return the split with some captions; images keep their numbers."""
        return Split(self.table.filter(pa.array(rows)), self.image[rows], self.sha256, self.members, self.group)


def read_split(output: StageOutput, split: str) -> Split:
    """Read the records of one split."""
    parts = [shard.read(COLUMNS) for shard in output.shards]
    parts = [part.filter(pc.equal(part["split"], split)) for part in parts]
    table = pa.concat_tables(parts).sort_by("key").combine_chunks() if parts else output.table(COLUMNS)
    coded = pc.dictionary_encode(_one_array(table["image_sha256"]))
    image = np.asarray(coded.indices, dtype=np.int64)
    sha256 = coded.dictionary.to_pylist()
    first = np.unique(image, return_index=True)[1] if len(image) else np.zeros(0, dtype=np.int64)
    media, group = (table[name].take(pa.array(first)).to_pylist() for name in ("media", "group"))
    return Split(table, image, sha256, Members(output, media), group)


def build_vocabulary(words: pa.ListArray, min_count: int) -> list[str]:
    """Return the special tokens and the words with ``min_count`` occurrences: most frequent first, then alphabetical."""
    counted = pc.value_counts(pc.list_flatten(words))
    pairs = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
    kept = sorted((-count, word) for word, count in pairs if count >= min_count and word not in SPECIAL)
    return [*SPECIAL, *(word for _, word in kept)]


def encode_captions(words: pa.ListArray, vocabulary: Sequence[str], longest: int) -> NDArray[np.int32]:
    """Return captions as START, word numbers, END, PAD …, n × (longest + 2), cut to ``longest`` words (CC §5.2: 15)."""
    lengths = np.asarray(pc.list_value_length(words), dtype=np.int64)
    known = pa.array(list(vocabulary[len(SPECIAL) :]), type=pa.string())
    numbers = pc.fill_null(pc.index_in(pc.list_flatten(words), value_set=known), UNKNOWN - len(SPECIAL))
    flat = np.asarray(numbers, dtype=np.int64) + len(SPECIAL)
    row = np.repeat(np.arange(len(lengths)), lengths)
    position = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    inside = position < longest
    encoded = np.full((len(lengths), longest + 2), PAD, dtype=np.int32)
    encoded[:, 0] = START
    encoded[row[inside], position[inside] + 1] = flat[inside]
    encoded[np.arange(len(lengths)), np.minimum(lengths, longest) + 1] = END
    return encoded


def has_known_word(encoded: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which captions have a known word; the others would train special tokens only."""
    return np.asarray((encoded >= len(SPECIAL)).any(axis=1))


def group_captions(image: NDArray[np.int64], words: NDArray[np.int32], most: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return groups of captions of one image each, in order of their first captions.

    Args:
        image: n, the image of each caption.
        words: n × T, encoded captions.
        most: captions of a group; an image with more has several groups.

    Returns:
        The number of each group's first caption, g; and the groups' captions, g × ``most`` × T, where rows of START and PAD,
        which no loss counts, take the places of missing captions.
    """
    order = np.argsort(image, kind="stable")
    sorted_images = image[order]
    position = np.arange(len(order)) - np.searchsorted(sorted_images, sorted_images)
    column = position % most
    group = np.cumsum(column == 0) - 1
    grouped = np.full((int(group[-1]) + 1, most, words.shape[1]), PAD, dtype=words.dtype)
    grouped[:, :, 0] = START
    grouped[group, column] = words[order]
    first = order[column == 0]
    by_first = np.argsort(first)
    return first[by_first], grouped[by_first]


def training_split(output: StageOutput, where: str) -> Split:
    """Read the training captions.

    Raises:
        HearsightError: there are fewer than two.
    """
    split = read_split(output, "train")
    if len(split.table) < 2:
        hint = "crawl more pages, relax the filters, or import another set"
        raise HearsightError(f"has {len(split.table)} training captions", where=where, hint=hint)
    return split


def encode_known_captions(
    split: Split, vocabulary: Sequence[str], longest: int, where: str
) -> tuple[Split, NDArray[np.int32], int]:
    """Return the captions with a known word, their encoding, and the number of captions left out.

    Raises:
        HearsightError: fewer than two are left.
    """
    encoded = encode_captions(split.words, vocabulary, longest)
    known = has_known_word(encoded)
    left_out = int((~known).sum())
    if known.sum() < 2:
        what = f"{left_out} of {len(known)} training captions have only unknown words"
        raise HearsightError(what, where=where, hint="lower min_count, or train on more captions")
    return split.select(known), encoded[known], left_out


def references_by_group(split: Split) -> dict[str, list[list[str]]]:
    """Return the distinct non-empty captions of each near-duplicate group: the references of all its images."""
    references: dict[str, list[list[str]]] = {}
    for group, words in zip(split.table["group"].to_pylist(), split.words.to_pylist(), strict=True):
        known = references.setdefault(group, []) if words else []
        if words and words not in known:
            known.append(words)
    return references


def validation_references(split: Split, where: str) -> tuple[NDArray[np.int64], list[list[list[str]]]]:
    """Return the numbers of the images that have references, and these references; each image is captioned once.

    Raises:
        HearsightError: all references are empty.
    """
    references = references_by_group(split)
    images = [number for number, group in enumerate(split.group) if group in references]
    if split.group and not images:
        what = f"all references of the {len(split.group)} validation images are empty"
        raise HearsightError(what, where=where, hint="check the captions of the input of extract_features")
    return np.array(images, dtype=np.int64), [references[split.group[number]] for number in images]


def scored_digest(split: Split) -> str:
    """Return the digest of what a validation score depends on beside the model: the images, their groups and captions."""
    return digest_value(split.table.select(["image_sha256", "group", "words"]).to_pylist())


def _one_array(column: Any) -> Any:
    """Return a column's chunks as one array."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
