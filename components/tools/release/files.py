"""Choose the records of a release of captions and write its tables, row by row: only the vocabulary is held in memory.

Captions: ``caption<TAB>url``, or ``caption<TAB>file name`` where all images are of a folder. Labels of training images on the
web: ``caption<TAB>url<TAB>labels<TAB>identifiers<TAB>confidences``; the last three are comma-separated lists of equal length.
UTF-8, no header, no quoting, as Conceptual Captions is published; the layouts ``cc3m``, ``tsv`` and ``cc3m_labels`` of the crawl
read them back. The tables of statistics and concepts have a header.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

from components.core.errors import HearsightError
from components.core.progress import progress
from components.core.stage_output import ShardRef
from components.metrics.caption_lengths import CaptionStatistics
from components.tools.release.inputs import ReleaseInputs
from components.tools.release.split_files import Published, Record, published_text, record_tables
from components.web.canonical import is_folder_image
from components.web.takedown_list import NAME as TAKEDOWN
from components.web.takedown_list import RULE as TAKEN_DOWN
from components.web.takedown_list import Takedown, read_takedown

COLUMNS = ["key", "page_url", "image_url", "image_sha256", "caption", "language", "owner", "labels", "split"]
COLUMNS += Published._fields[1:]
NO_ADDRESS = "no_address"
"""Reason: the image has no address on the web, or a name that no table can hold."""


@dataclass(frozen=True)
class Selection:
    """Which records of a split are released."""

    inputs: ReleaseInputs
    listed: Takedown
    local: bool
    """Whether all images are of a folder: then their file names are published, else only addresses on the web."""

    def judge(self, row: Mapping[str, Any]) -> Record | str:
        """Return a row's record, or the reason for which it is left out.

        Raises:
            HearsightError: it is the post of an account.
        """
        if row["owner"]:
            what = "holds posts of accounts, which are released without their names only"
            raise HearsightError(what, where=self.inputs.split.path, hint="put extract_descriptions before it")
        url = row["image_url"]
        if self.listed.url(row["page_url"]) or self.listed.url(url):
            return TAKEN_DOWN
        image = unquote(url.removeprefix("file:")) if self.local and is_folder_image(url) else "" if self.local else url
        if not (_is_name(image) if self.local else url.lower().startswith(("http://", "https://")) and len(url.split()) == 1):
            return NO_ADDRESS
        return Record(row["key"], row["split"], image, row["image_sha256"], row["language"], published_text(row["caption"]))

    def rows(self, shard: ShardRef) -> Iterator[tuple[dict[str, Any], Record | str]]:
        """Yield each row of a shard of the split with its record or reason."""
        for batch in shard.read(COLUMNS).to_batches(max_chunksize=4096):
            for row in batch.to_pylist():
                yield row, self.judge(row)

    def published(self) -> Iterator[tuple[str, dict[str, Published]]]:
        """Yield the name of each shard, and key → its released records."""
        for shard in progress(self.inputs.split.shards, total=len(self.inputs.split.shards), desc="media"):
            found = {
                row["key"]: Published(record, *(row[name] for name in Published._fields[1:]))
                for row, record in self.rows(shard)
                if isinstance(record, Record)
            }
            yield shard.name, found


def select_records(root: Path, inputs: ReleaseInputs) -> Selection:
    """Return the selection of a project's dataset; errors as for ``read_takedown``."""
    shards = (shard.read(["image_url"])["image_url"].to_pylist() for shard in inputs.split.shards)
    local = all(is_folder_image(url) for urls in shards for url in urls)
    return Selection(inputs, read_takedown(root / TAKEDOWN), local)


def _is_name(name: str) -> bool:
    """Return whether a table of captions can hold a file name; the crawl strips blanks around it."""
    return name == name.strip() and name == published_text(name) and not name.lower().startswith(("http://", "https://"))


SPLITS = {"train": "Train/{}-training.tsv", "validation": "Validation/{}-validation.tsv", "test": "Test/{}-test.tsv"}
"""Split → file of its captions, named after ``Train/GCC-training.tsv``."""
LABELS = "Image_Labels_Subset_Train_{}-Labels-training.tsv"
STATISTICS = "statistics.tsv"
CONCEPTS = "concepts.tsv"


@dataclass
class ReleaseCounts:
    """The counts of a release of captions."""

    statistics: dict[str, CaptionStatistics] = field(default_factory=lambda: {name: CaptionStatistics() for name in SPLITS})
    languages: Counter[str] = field(default_factory=Counter)
    local: bool = False
    """Whether all images are of a folder."""
    labels: Counter[str] = field(default_factory=Counter)
    """``rows`` with labels; ``named`` labels with an identifier, ``unnamed`` ones whose identifier is made from their name."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Key → the reason for which a record is left out."""

    def count_left_out(self, reason: str) -> int:
        """Return the number of records that a reason leaves out."""
        return sum(each == reason for each in self.left_out.values())

    def plain(self) -> dict[str, Any]:
        """Return the counts as a flat mapping."""
        lost = {"left_out": self.count_left_out(NO_ADDRESS), "taken_down": self.count_left_out(TAKEN_DOWN)}
        return {split: each.examples for split, each in self.statistics.items()} | {"labelled": self.labels["rows"]} | lost


def write_all(selection: Selection, folder: Path) -> ReleaseCounts:
    """Write every table into ``folder``; return the counts.

    Raises:
        HearsightError: no record can be released.
    """
    inputs, counts = selection.inputs, ReleaseCounts(local=selection.local)
    with ExitStack() as stack:
        captions = {name: stack.enter_context(_open(folder / path.format(inputs.dataset))) for name, path in SPLITS.items()}
        labels = None if selection.local else stack.enter_context(_open(folder / LABELS.format(inputs.dataset)))
        records = stack.enter_context(record_tables(folder))
        for shard in progress(inputs.split.shards, total=len(inputs.split.shards), desc="release"):
            for row, record in selection.rows(shard):
                if not isinstance(record, Record):
                    counts.left_out[row["key"]] = record
                    continue
                records.add(record.split, record)
                captions[record.split].write(f"{record.caption}\t{record.image}\n")
                counts.statistics[record.split].add(record.caption)
                counts.languages[record.language] += 1
                if labels and record.split == "train" and row["labels"]:
                    labels.write(f"{record.caption}\t{record.image}\t{label_cells(row['labels'], counts)}\n")
                    counts.labels["rows"] += 1
    if not counts.languages:
        what = f"holds no record that can be released ({counts.count_left_out(NO_ADDRESS)} have no image on the web)"
        raise HearsightError(what, where=inputs.split.path, hint="there is nothing to release")
    (folder / STATISTICS).write_text(statistics_tsv(counts.statistics), encoding="utf-8")
    if rewritten := inputs.stages.get("hypernymize"):
        (folder / CONCEPTS).write_bytes(rewritten.file(CONCEPTS).read_bytes())
    return counts


def label_cells(labels: Sequence[Mapping[str, Any]], counts: ReleaseCounts) -> str:
    """Return the three cells of one image: labels, identifiers and confidences; a comma inside a name becomes a space.

    A label without an identifier gets one made from its name (``/label/sea_lion``), so that the lists have equal lengths.
    """
    names, identifiers, confidences = [], [], []
    for label in labels:
        name, identifier = (published_text((label.get(each) or "").replace(",", " ")) for each in ("label", "identifier"))
        name = name or "unnamed"
        counts.labels["named" if identifier else "unnamed"] += 1
        names.append(name)
        identifiers.append(identifier or f"/label/{name.replace(' ', '_')}")
        confidences.append(f"{min(1.0, max(0.0, label['confidence'])):.6f}".rstrip("0").rstrip("."))
    return "\t".join(",".join(part) for part in (names, identifiers, confidences))


def statistics_tsv(statistics: Mapping[str, CaptionStatistics]) -> str:
    """Return the statistics as TSV, one line per split (CC table 3)."""
    lines = [
        f"{split}\t{captions.examples}\t{captions.unique}\t{captions.mean:.1f}\t{captions.deviation:.1f}\t{captions.median:.1f}\n"
        for split, captions in statistics.items()
    ]
    return "".join(["split\texamples\tunique_tokens\ttokens_mean\ttokens_sd\ttokens_median\n", *lines])


def _open(path: Path) -> IO[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w", encoding="utf-8", newline="\n")
