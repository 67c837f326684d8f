"""A finished stage output, read: its shards, ledger, media and files, each verified against the manifest."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from components.core.addresses import parse_output_path, stage_address
from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.manifest import Manifest, read_manifest
from components.core.records import LEDGER, OUTPUT_SCHEMAS
from components.core.shards import TarReader, read_table


@dataclass(frozen=True)
class ShardRef:
    """One shard on disk: its records, the digest they should have, and the files beside them."""

    name: str
    path: Path
    sha256: str
    ledger: Path
    media: Path | None = None
    intermediate: bool = False
    """Not of a finished output but of an earlier map of the same stage."""

    def read(self, columns: list[str] | None = None) -> pa.Table:
        """The shard's records; raises HearsightError when the bytes are not those of the digest."""
        verify(self.path, self.sha256)
        return read_table(self.path, columns)


@dataclass(frozen=True)
class StageOutput:
    """The output of one stage for one dataset: ``data/<dataset>/<stage>``."""

    path: Path
    _tars: dict[str, TarReader] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """``<dataset>/<stage>``, as the chain names it."""
        return "/".join(parse_output_path(self.path))

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest; raises HearsightError when the stage has not finished."""
        return read_manifest(self.path)

    @property
    def digest(self) -> str:
        """The digest of the whole output."""
        return self.manifest.digest

    @cached_property
    def shards(self) -> list[ShardRef]:
        """The shards, in order."""
        return [
            ShardRef(
                name=entry.name,
                path=self.path / "shards" / f"{entry.name}.parquet",
                sha256=entry.sha256,
                ledger=self.path / "ledger" / f"{entry.name}.parquet",
                media=self.path / "media" / f"{entry.name}.tar" if entry.media else None,
            )
            for entry in self.manifest.shards
        ]

    def table(self, columns: list[str] | None = None) -> pa.Table:
        """All records, shard after shard; ``columns`` reads only those."""
        if not self.shards:
            schema = OUTPUT_SCHEMAS[self.manifest.stage][1]
            return schema.empty_table().select(columns or schema.names)
        return pa.concat_tables([shard.read(columns) for shard in self.shards])

    def ledger(self) -> pa.Table:
        """The ledger of everything that entered this stage."""
        return pa.concat_tables([read_table(shard.ledger) for shard in self.shards]) if self.shards else LEDGER.empty_table()

    def read_media(self, media: str) -> bytes:
        """The bytes of ``<tar shard>/<member>``, as records refer to them."""
        shard, _, member = media.partition("/")
        if shard not in self._tars:
            self._tars[shard] = TarReader(self.path / "media" / f"{shard}.tar")
        return self._tars[shard].read(member)

    def file(self, relative: str) -> Path:
        """The path of an extra file of this output, verified."""
        for entry in self.manifest.files:
            if entry.path == relative:
                verify(self.path / relative, entry.sha256)
                return self.path / relative
        raise HearsightError(f"holds no file '{relative}'", where=self.path, hint="run its stage again")


def verify(path: Path, sha256: str) -> None:
    """Raise HearsightError unless ``path`` holds the bytes of ``sha256``."""
    dataset, stage = parse_output_path(path.parent.parent)
    hint = f"run `dvc repro --force -s {stage_address(dataset, stage)}`"
    try:
        found = sha256_file(path)
    except FileNotFoundError:
        raise HearsightError("is missing though the manifest lists it", where=path, hint=hint) from None
    if found != sha256:
        raise HearsightError(
            f"is not the file the manifest lists (sha256 {found[:12]}, expected {sha256[:12]})", where=path, hint=hint
        )
