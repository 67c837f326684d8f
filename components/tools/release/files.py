"""The tables of a release, row by row from the split's shards: nothing but the vocabulary is held in memory.

Captions: ``caption<TAB>url``. Labels of training pictures: ``caption<TAB>url<TAB>labels<TAB>identifiers<TAB>confidences``,
the last three with commas between and of equal length. UTF-8, no header, no quoting, as published; ``crawl.layout`` cc3m and
cc3m_labels read them back. The statistics and the concepts have a header.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from components.core.errors import HearsightError
from components.metrics.caption_statistics import CaptionStatistics

if TYPE_CHECKING:
    from components.tools.release import Made

SPLITS = {"train": "Train/{}-training.tsv", "validation": "Validation/{}-validation.tsv", "test": "Test/{}-test.tsv"}
"""split → where its captions lie, after ``Train/GCC-training.tsv``."""
LABELS = "Image_Labels_Subset_Train_{}-Labels-training.tsv"
STATISTICS = "statistics.tsv"
CONCEPTS = "concepts.tsv"
COLUMNS = ["key", "image_url", "caption", "labels", "split"]


@dataclass
class ReleaseCounts:
    """What a release holds."""

    statistics: dict[str, CaptionStatistics] = field(default_factory=lambda: {name: CaptionStatistics() for name in SPLITS})
    labelled: int = 0
    """Rows with labels."""
    named: int = 0
    """Labels that carry an identifier of their own."""
    unnamed: int = 0
    """Labels that do not: their identifier is made of their name."""
    unreachable: int = 0
    """Records left out: their picture has no address on the web."""

    def plain(self) -> dict[str, Any]:
        """As one flat line."""
        examples = {name: found.examples for name, found in self.statistics.items()}
        return {**examples, "labelled": self.labelled, "left_out": self.unreachable}


def write_all(made: Made, folder: Path) -> ReleaseCounts:
    """Write every table into ``folder``.

    Raises:
        HearsightError: no record has a picture on the web.
    """
    counts = ReleaseCounts()
    with ExitStack() as stack:
        captions = {name: stack.enter_context(_open(folder / path.format(made.dataset))) for name, path in SPLITS.items()}
        labels = stack.enter_context(_open(folder / LABELS.format(made.dataset)))
        for row in _rows(made):
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
    if not any(found.examples for found in counts.statistics.values()):
        raise HearsightError(
            f"holds no record whose picture is on the web ({counts.unreachable} are not)",
            where=made.split.path,
            hint="there is nothing to release",
        )
    (folder / STATISTICS).write_text(statistics_tsv(counts.statistics), encoding="utf-8")
    (folder / CONCEPTS).write_bytes(made.concepts.file(CONCEPTS).read_bytes())
    return counts


def label_cells(labels: Sequence[Mapping[str, Any]], counts: ReleaseCounts) -> str:
    """Labels, identifiers and confidences of one picture, three cells; a comma inside a name becomes a space.

    A label without an identifier gets one made of its name (``/label/sea_lion``), so that the lists stay equally long.
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
    """Table 3: a line a split."""
    lines = ["split\texamples\tunique_tokens\ttokens_mean\ttokens_sd\ttokens_median"]
    lines += [
        f"{name}\t{found.examples}\t{found.unique}\t{found.mean:.1f}\t{found.deviation:.1f}\t{found.median:.1f}"
        for name, found in statistics.items()
    ]
    return "\n".join(lines) + "\n"


def _rows(made: Made) -> Iterator[dict[str, Any]]:
    from components.core.progress import progress

    for shard in progress(made.split.shards, total=len(made.split.shards), desc="release"):
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
