"""``manifest.json``: what a stage's output holds, by content only, written last.

A folder without a manifest is unfinished. Clocks, host names and run ids have no place in it: equal content
has an equal manifest, whose sha256 is the output's digest everywhere (lineage, gates, MLflow).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from components.core.addresses import parse_output_path, stage_address
from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.files import publish_bytes

SCHEMA = 1
NAME = "manifest.json"


@dataclass(frozen=True)
class FileEntry:
    """One file of the output: its path inside it, its size in bytes, and its digest."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ShardEntry:
    """One shard: the records, their ledger, and the media they refer to (rows and members counted)."""

    name: str
    rows: int
    bytes: int
    sha256: str
    ledger: dict[str, Any]
    media: dict[str, Any] | None


@dataclass(frozen=True)
class Manifest:
    """The content of a finished stage output."""

    stage: str
    record: str
    shards: list[ShardEntry]
    files: list[FileEntry] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA

    def to_bytes(self) -> bytes:
        """The one spelling of this manifest."""
        return (json.dumps(asdict(self), indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()

    @property
    def digest(self) -> str:
        """The sha256 of the manifest's bytes: the digest of the whole output."""
        return sha256_bytes(self.to_bytes())

    def write(self, folder: Path) -> None:
        """Publish the manifest, which declares ``folder`` finished."""
        publish_bytes(folder / NAME, self.to_bytes())

    def expected_files(self) -> dict[str, tuple[int, str]]:
        """Every file the output should hold: path inside it → (bytes, sha256)."""
        files = {entry.path: (entry.bytes, entry.sha256) for entry in self.files}
        for shard in self.shards:
            files[f"shards/{shard.name}.parquet"] = (shard.bytes, shard.sha256)
            files[f"ledger/{shard.name}.parquet"] = (shard.ledger["bytes"], shard.ledger["sha256"])
            if shard.media:
                files[f"media/{shard.name}.tar"] = (shard.media["bytes"], shard.media["sha256"])
        return files


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a finished output.

    Raises:
        HearsightError: there is none (the stage has not finished), or it is not one this version can read.
    """
    path = folder / NAME
    again = f"run `dvc repro {stage_address(*parse_output_path(folder))}`"
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise HearsightError("there is no finished output here", where=folder, hint=again) from None
    try:
        content = json.loads(raw)
        if content.pop("schema") != SCHEMA:
            raise HearsightError("was written by another version of Hearsight", where=path, hint=again)
        content["shards"] = [ShardEntry(**entry) for entry in content["shards"]]
        content["files"] = [FileEntry(**entry) for entry in content["files"]]
        manifest = Manifest(**content)
    except (ValueError, TypeError, KeyError) as error:
        raise HearsightError(
            f"is not a manifest ({error})", where=path, hint=f"it was changed by hand: {again} --force"
        ) from None
    if manifest.to_bytes() != raw:
        raise HearsightError("is not in the form it was written in", where=path, hint=f"it was changed by hand: {again} --force")
    return manifest
