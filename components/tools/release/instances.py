"""Make the posts of a release: the anonymised records of a split, without those that are taken down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from components.tools.release.anonymous import Pseudonyms
from components.tools.release.inputs import ReleaseInputs
from components.tools.release.mentions import Mentions
from components.web.images.image import FORMATS
from components.web.takedown_list import Takedown

COLUMNS = [
    "key", "page_url", "image_url", "alt", "caption", "language", "format", "image_sha256", "media", "owner", "posted",
    "collected", "group", "split",
]  # fmt: skip


@dataclass(frozen=True)
class PostOptions:
    """The choices of whoever releases the dataset."""

    licence: str
    subsets: Mapping[str, int]
    """Subset → number of posts drawn for it."""
    mask_mentions: bool


class Instance(NamedTuple):
    """One post of the release: its published fields, then fields that only the release's code reads."""

    filename: str
    user: str
    raw_caption: str
    caption: str
    date: str
    split: str
    key: str
    group: str
    language: str
    collected: str
    kind: str
    """The image's format."""
    media: str
    sha256: str

    def published(self) -> dict[str, str]:
        """Return the attributes of ``dataset.json`` (PCV §3)."""
        return {name: getattr(self, name) for name in ("user", "filename", "raw_caption", "caption", "date")}


def make_instances(
    inputs: ReleaseInputs, pseudonyms: Pseudonyms, listed: Takedown, *, mask_all: bool
) -> tuple[list[Instance], int, int]:
    """Anonymise the records of the split that are not on the takedown list.

    Returns:
        The instances in the order of their file names, and the numbers of masked account names and of posts left out.
    """
    rows = inputs.split.table(COLUMNS).to_pylist()
    mentions = Mentions(pseudonyms, (row["owner"] for row in rows), mask_all=mask_all)
    instances: list[Instance] = []
    for row in rows:
        owner = row["owner"]
        if listed.owner(owner) or listed.url(row["page_url"]) or listed.url(row["image_url"]):
            continue
        instances.append(
            Instance(
                filename=pseudonyms.file(row["key"], FORMATS[row["format"]]),
                user=pseudonyms.user(owner),
                raw_caption=mentions.mask(row["alt"], owner),
                caption=mentions.mask(row["caption"], owner),
                date=row["posted"],
                kind=row["format"],
                sha256=row["image_sha256"],
                **{name: row[name] for name in ("split", "key", "group", "language", "collected", "media")},
            )
        )
    return sorted(instances), mentions.masked, len(rows) - len(instances)
