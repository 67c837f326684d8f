"""Choose the records that a release of captions holds, and say why others are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from components.core.errors import HearsightError
from components.core.stage_output import ShardRef
from components.tools.release.inputs import ReleaseInputs
from components.tools.release.records import Record, published_text
from components.tools.release.speech import Published
from components.web.canonical import is_folder_image
from components.web.takedown_list import NAME as TAKEDOWN
from components.web.takedown_list import RULE, Takedown, read_takedown

COLUMNS = ["key", "page_url", "image_url", "image_sha256", "caption", "language", "owner", "post", "labels", "split"]
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
            raise HearsightError(
                "holds posts of accounts, which are released without their names only",
                where=self.inputs.split.path,
                hint="put extract_descriptions before the split",
            )
        url = row["image_url"]
        if self.listed.url(row["page_url"]) or self.listed.url(url):
            return RULE
        image = unquote(url.removeprefix("file:")) if self.local and is_folder_image(url) else "" if self.local else url
        if not (_is_name(image) if self.local else url.lower().startswith(("http://", "https://")) and len(url.split()) == 1):
            return NO_ADDRESS
        return Record(row["key"], row["split"], image, row["image_sha256"], row["language"], published_text(row["caption"]))

    def rows(self, shard: ShardRef) -> Iterator[tuple[dict[str, Any], Record | str]]:
        """Yield each row of a shard of the split with its record or reason."""
        for batch in shard.read(COLUMNS).to_batches(max_chunksize=4096):
            for row in batch.to_pylist():
                yield row, self.judge(row)

    def published(self, shard: str) -> dict[str, Published]:
        """Return key → record of the released rows of the shard with that name; speech has the shards of its split."""
        shards = {each.name: each for each in self.inputs.split.shards}
        if shard not in shards:
            raise HearsightError(
                f"has no shard {shard}, and its speech has", where=self.inputs.split.path, hint="report this defect"
            )
        rows = self.rows(shards[shard])
        return {row["key"]: Published(record, row["post"]) for row, record in rows if isinstance(record, Record)}


def select_records(root: Path, inputs: ReleaseInputs) -> Selection:
    """Return the selection of a project's dataset; errors as for ``read_takedown``."""
    local = True
    for shard in inputs.split.shards:
        local = local and all(is_folder_image(url) for url in shard.read(["image_url"])["image_url"].to_pylist())
    return Selection(inputs, read_takedown(root / TAKEDOWN), local)


def _is_name(name: str) -> bool:
    """Return whether a table of captions can hold a file name; the crawl strips blanks around it."""
    return name == name.strip() and name == published_text(name) and not name.lower().startswith(("http://", "https://"))
