"""Reading of rating items: RATING_ITEM records by key, with the images and the speech that raters see and hear.

A reader holds the records as one Arrow table and the places of the media; images and speech are read from disk on request, so a
hundred thousand items need some ten MB. All methods may be called from several threads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.shards import TarReader
from components.core.stage_output import StageOutput

STAGE = "build_rating_items"
"""The stage that writes the items."""


def item_key(image_sha256: str, crop: str, caption: str, audio_sha256: str = "") -> str:
    """Return the key of what is shown: 16 hex digits of the digest of image, crop, and speech or, without speech, caption."""
    return digest_value([image_sha256, crop, "speech" if audio_sha256 else "text", audio_sha256 or caption])[:16]


class RatingItems:
    """The items of one output of ``build_rating_items``; make it with :meth:`open`."""

    def __init__(self, output: StageOutput, table: pa.Table) -> None:
        self.digest: str = output.digest
        """The sha256 of the output's manifest."""
        self.keys: list[str] = table["key"].to_pylist()
        """The items' keys, in the order of the output."""
        self._table = table.combine_chunks()
        self._row = {key: row for row, key in enumerate(self.keys)}
        # All indexes are read here, since a reader of media that opens them on demand is no shared object of threads.
        self._tars = {shard.name: TarReader(shard.media) for shard in output.shards if shard.media}

    @classmethod
    def open(cls, folder: Path) -> RatingItems:
        """Return the items in ``data/<dataset>/build_rating_items``.

        Raises:
            HearsightError: the folder holds no finished output of the stage, or a file is not the one that its manifest lists.
        """
        output = StageOutput(folder)
        if output.manifest.stage != STAGE:
            raise HearsightError(f"holds no rating items but {output.manifest.record} records", where=folder, hint=_hint(folder))
        return cls(output, output.table())

    def __len__(self) -> int:
        return len(self.keys)

    def __contains__(self, key: object) -> bool:
        return key in self._row

    def item(self, key: str) -> dict[str, Any]:
        """Return the RATING_ITEM record with a key.

        Raises:
            KeyError: there is no such item.
        """
        record: dict[str, Any] = self._table.slice(self._row[key], 1).to_pylist()[0]
        return record

    def column(self, name: str) -> list[Any]:
        """Return a column of all records, in the order of :attr:`keys`."""
        values: list[Any] = self._table[name].to_pylist()
        return values

    def image(self, key: str) -> bytes:
        """Return an item's image as it is shown, JPEG; raises KeyError when there is no such item."""
        return self._media("image", key)

    def audio(self, key: str) -> bytes | None:
        """Return an item's speech, FLAC, or None where its text is shown; raises KeyError when there is no such item."""
        return self._media("audio", key) or None

    def _media(self, column: str, key: str) -> bytes:
        place: str = self._table[column][self._row[key]].as_py()
        shard, _, member = place.partition("/")
        return self._tars[shard].read(member) if place else b""


def _hint(folder: Path) -> str:
    return f"open data/<dataset>/{STAGE}, which `hearsight run {STAGE} --dataset {folder.parent.name}` writes"
