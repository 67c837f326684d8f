"""Reading a finished stage output: shards, ledger, media and files, each verified against the manifest."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from components.core.addresses import lineage_path, parse_output_path, stage_address
from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.manifest import Manifest, read_manifest
from components.core.records import LEDGER, OUTPUT_SCHEMAS
from components.core.shards import TarReader, read_table
from components.core.stored_files import match_manifest, provide, provide_all, restore

if TYPE_CHECKING:
    from components.core.object_store import ObjectStore


@dataclass(frozen=True)
class ShardRef:
    """One shard on disk: the paths of its records, ledger and media, and the expected digest of the records."""

    name: str
    path: Path
    sha256: str
    ledger: Path
    media: Path | None = None
    intermediate: bool = False
    """Whether it comes from an earlier map of the same stage instead of a finished output."""
    store: ObjectStore | None = field(default=None, repr=False, compare=False)
    """As of :class:`StageOutput`."""

    def read(self, columns: list[str] | None = None) -> pa.Table:
        """Return the shard's records; raises HearsightError when the file does not match its digest."""
        verify(self.path, self.sha256, self.store)
        return read_table(self.path, columns)


@dataclass(frozen=True)
class StageOutput:
    """The output of one stage for one dataset: ``data/<dataset>/<stage>``."""

    path: Path
    store: ObjectStore | None = field(default=None, repr=False, compare=False)
    """Where files come from on a node that does not see the project's settings; None for the project's storage."""
    _tars: dict[str, TarReader] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name in the chain: ``<dataset>/<stage>``."""
        return "/".join(parse_output_path(self.path))

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest; raises HearsightError when the stage has not finished."""
        manifest = read_manifest(self.path)
        match_manifest(self.path, manifest)
        return manifest

    @property
    def digest(self) -> str:
        """The digest of the output: the sha256 of its manifest."""
        return self.manifest.digest

    def require_unchanged(self) -> None:
        """Verify that the output is the one that its stage published; an output without a lineage is accepted.

        Raises:
            HearsightError: the lineage names another digest: the manifest was changed by hand.
        """
        lineage = lineage_path(self.path)
        if not lineage.exists():
            return
        try:
            published = json.loads(lineage.read_bytes())["manifest_sha256"]
        except (ValueError, KeyError, TypeError):
            published = None
        if published != self.digest:
            raise HearsightError(
                f"is not the output that its lineage names ({lineage.name} of reports/lineage): one of both was changed by hand",
                where=self.path / "manifest.json",
                hint=f"run `dvc repro --force -s {stage_address(*parse_output_path(self.path))}`",
            )

    @cached_property
    def shards(self) -> list[ShardRef]:
        """The shards, in the order of the manifest."""
        return [
            ShardRef(
                name=entry.name,
                path=self.path / "shards" / f"{entry.name}.parquet",
                sha256=entry.sha256,
                ledger=self.path / "ledger" / f"{entry.name}.parquet",
                media=self.path / "media" / f"{entry.name}.tar" if entry.media else None,
                store=self.store,
            )
            for entry in self.manifest.shards
        ]

    def table(self, columns: list[str] | None = None) -> pa.Table:
        """Return all records in the order of the shards, with all columns or with ``columns``."""
        if not self.shards:
            schema = OUTPUT_SCHEMAS[self.manifest.stage][1]
            return schema.empty_table().select(columns or schema.names)
        return pa.concat_tables([shard.read(columns) for shard in self.shards])

    def ledger(self) -> pa.Table:
        """Return the ledger: one row for every record that entered the stage; raises HearsightError when a file is damaged."""
        for entry, shard in zip(self.manifest.shards, self.shards, strict=True):
            verify(shard.ledger, entry.ledger["sha256"], self.store)
        return pa.concat_tables([read_table(shard.ledger) for shard in self.shards]) if self.shards else LEDGER.empty_table()

    def read_media(self, media: str) -> bytes:
        """Return the bytes of ``<tar shard>/<member>``, the form of records' ``media`` columns; raises as :meth:`tar`."""
        shard, _, member = media.partition("/")
        if shard not in self._tars:
            self._tars[shard] = self.tar(shard)
        return self._tars[shard].read(member)

    def tar(self, shard: str) -> TarReader:
        """Return the tar of a shard's media; raises HearsightError when there is none or it is damaged."""
        path, known = self.path / "media" / f"{shard}.tar", self._tar_digests
        if shard not in known:
            raise HearsightError(f"holds no media '{shard}'", where=self.path, hint="run its stage again")
        if path.exists():
            found = path.stat()
            _verify_once(path, known[shard], self.store, found.st_size, found.st_mtime_ns, found.st_ino)
        else:
            verify(path, known[shard], self.store)
        return TarReader(path)

    @cached_property
    def _tar_digests(self) -> dict[str, str]:
        return {entry.name: entry.media["sha256"] for entry in self.manifest.shards if entry.media}

    def file(self, relative: str) -> Path:
        """Return the path of a file of the output, verified; raises HearsightError when there is none or it is damaged."""
        for entry in self.manifest.files:
            if entry.path == relative:
                verify(self.path / relative, entry.sha256, self.store)
                return self.path / relative
        raise HearsightError(f"holds no file '{relative}'", where=self.path, hint="run its stage again")

    def fetch(self, below: str = "") -> Path:
        """Fetch the files whose paths begin with ``below``, if they are in S3 alone; return the path ``below``, unverified."""
        provide_all(self.path, below, self.store)
        return self.path / below


@lru_cache(maxsize=100_000)
def _verify_once(path: Path, sha256: str, store: ObjectStore | None, *identity: int) -> None:
    """Verify a file once in this process, unless its size, time or inode changes: many records read one tar."""
    verify(path, sha256, store)


def verify(path: Path, sha256: str, store: ObjectStore | None = None) -> None:
    """Raise HearsightError unless the file at ``path`` has the digest ``sha256``."""
    dataset, stage = parse_output_path(path.parent.parent)
    hint = f"run `dvc repro --force -s {stage_address(dataset, stage)}`"
    provide(path, store)
    try:
        actual = sha256_file(path)
    except FileNotFoundError:
        raise HearsightError("is missing though the manifest lists it", where=path, hint=hint) from None
    if actual != sha256 and not restore(path, sha256, store):
        raise HearsightError(
            f"is not the file the manifest lists (sha256 {actual[:12]}, expected {sha256[:12]})", where=path, hint=hint
        )
