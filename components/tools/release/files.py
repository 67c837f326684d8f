"""Write the tables of a release of pages, row by row: only the vocabulary is held in memory.

Captions: ``caption<TAB>url``. Labels of training images: ``caption<TAB>url<TAB>labels<TAB>identifiers<TAB>confidences``; the last
three are comma-separated lists of equal length. UTF-8, no header, no quoting, as published; the layouts ``cc3m`` and
``cc3m_labels`` of the crawl read them back. The tables of statistics and concepts have a header.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from components.core.errors import HearsightError
from components.core.progress import progress
from components.metrics.caption_statistics import CaptionStatistics
from components.tools.release.made import ReleaseInputs

SPLITS = {"train": "Train/{}-training.tsv", "validation": "Validation/{}-validation.tsv", "test": "Test/{}-test.tsv"}
"""Split → file of its captions, named after ``Train/GCC-training.tsv``."""
LABELS = "Image_Labels_Subset_Train_{}-Labels-training.tsv"
STATISTICS = "statistics.tsv"
CONCEPTS = "concepts.tsv"
COLUMNS = ["key", "image_url", "caption", "labels", "split"]


@dataclass
class ReleaseCounts:
    """The counts of a release of pages."""

    statistics: dict[str, CaptionStatistics] = field(default_factory=lambda: {name: CaptionStatistics() for name in SPLITS})
    labelled: int = 0
    """Rows with labels."""
    named: int = 0
    """Labels with an identifier."""
    unnamed: int = 0
    """Labels without one, whose identifier is made from their name."""
    unreachable: int = 0
    """Records left out because their image has no address on the web."""

    def plain(self) -> dict[str, Any]:
        """Return the counts as a flat mapping."""
        examples = {split: statistics.examples for split, statistics in self.statistics.items()}
        return {**examples, "labelled": self.labelled, "left_out": self.unreachable}


def write_all(inputs: ReleaseInputs, folder: Path) -> ReleaseCounts:
    """Write every table into ``folder``; return the counts.

    Raises:
        HearsightError: no record has an image on the web.
    """
    counts = ReleaseCounts()
    with ExitStack() as stack:
        captions = {name: stack.enter_context(_open(folder / path.format(inputs.dataset))) for name, path in SPLITS.items()}
        labels = stack.enter_context(_open(folder / LABELS.format(inputs.dataset)))
        for row in _rows(inputs):
            url = row["image_url"]
            if not url.lower().startswith(("http://", "https://")) or len(url.split()) != 1:
                counts.unreachable += 1
                continue
            caption = _cell(row["caption"])
            captions[row["split"]].write(f"{caption}\t{url}\n")
            counts.statistics[row["split"]].add(caption)
            if row["split"] == "train" and row["labels"]:
                labels.write(f"{caption}\t{url}\t{label_cells(row['labels'], counts)}\n")
                counts.labelled += 1
    if not any(statistics.examples for statistics in counts.statistics.values()):
        raise HearsightError(
            f"holds no record whose image is on the web ({counts.unreachable} are not)",
            where=inputs.split.path,
            hint="there is nothing to release",
        )
    (folder / STATISTICS).write_text(statistics_tsv(counts.statistics), encoding="utf-8")
    (folder / CONCEPTS).write_bytes(inputs.concepts.file(CONCEPTS).read_bytes())
    return counts


def label_cells(labels: Sequence[Mapping[str, Any]], counts: ReleaseCounts) -> str:
    """Return the three cells of one image: labels, identifiers and confidences; a comma inside a name becomes a space.

    A label without an identifier gets one made from its name (``/label/sea_lion``), so that the lists have equal lengths.
    """
    names, identifiers, confidences = [], [], []
    for label in labels:
        name = _item(label["label"]) or "unnamed"
        identifier = _item(str(label.get("identifier") or ""))
        counts.named, counts.unnamed = counts.named + bool(identifier), counts.unnamed + (not identifier)
        names.append(name)
        identifiers.append(identifier or f"/label/{name.replace(' ', '_')}")
        confidences.append(f"{min(1.0, max(0.0, label['confidence'])):.6f}".rstrip("0").rstrip("."))
    return "\t".join(",".join(part) for part in (names, identifiers, confidences))


def statistics_tsv(statistics: Mapping[str, CaptionStatistics]) -> str:
    """Return the statistics as TSV, one line per split (CC table 3)."""
    lines = ["split\texamples\tunique_tokens\ttokens_mean\ttokens_sd\ttokens_median"]
    lines += [
        f"{split}\t{captions.examples}\t{captions.unique}\t{captions.mean:.1f}\t{captions.deviation:.1f}\t{captions.median:.1f}"
        for split, captions in statistics.items()
    ]
    return "\n".join(lines) + "\n"


def _rows(inputs: ReleaseInputs) -> Iterator[dict[str, Any]]:
    for shard in progress(inputs.split.shards, total=len(inputs.split.shards), desc="release"):
        for batch in shard.read(COLUMNS).to_batches(max_chunksize=4096):
            yield from batch.to_pylist()


def _open(path: Path) -> IO[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w", encoding="utf-8", newline="\n")


def _cell(text: str) -> str:
    # A byte order mark at the head of the file would be taken for one.
    return " ".join(text.replace("\ufeff", "").replace("\x00", "").split())


def _item(text: str) -> str:
    return _cell(text.replace(",", " "))
