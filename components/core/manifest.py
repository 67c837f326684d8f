"""``manifest.json``: the list of an output's files with digests and counts, written last.

A folder without a manifest is unfinished. A manifest holds no clock, host name or run id, so equal content has an equal manifest.
Its sha256 is the output's digest in lineage and MLflow.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from components.core.addresses import parse_output_path, stage_address
from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.files import publish_bytes

SCHEMA = 1
NAME = "manifest.json"
WARNINGS = "warnings.json"
"""The file of an output with the warnings of its check; an output without any has none."""


@dataclass(frozen=True)
class FileEntry:
    """One file of the output: its relative path, size in bytes and digest."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ShardEntry:
    """One shard: its records, their ledger, and their media, with the counts of rows and members."""

    name: str
    rows: int
    bytes: int
    sha256: str
    ledger: dict[str, Any]
    media: dict[str, Any] | None


@dataclass(frozen=True)
class Manifest:
    """The manifest of a finished output."""

    stage: str
    record: str
    shards: list[ShardEntry]
    files: list[FileEntry] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA

    def to_bytes(self) -> bytes:
        """Return the manifest's canonical JSON."""
        return (json.dumps(asdict(self), indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()

    @property
    def digest(self) -> str:
        """The sha256 of the manifest's bytes: the digest of the output."""
        return sha256_bytes(self.to_bytes())

    @property
    def data_digest(self) -> str:
        """The digest of what the stage has made: the same with other warnings, e.g. by an edited suite."""
        return replace(self, files=[entry for entry in self.files if entry.path != WARNINGS]).digest

    def with_warnings(self, data: bytes) -> Manifest:
        """Return the manifest with the file of warnings, whose content is ``data``."""
        entry = FileEntry(WARNINGS, len(data), sha256_bytes(data))
        return replace(self, files=sorted([*self.files, entry], key=lambda entry: entry.path))

    def write(self, folder: Path) -> None:
        """Write the manifest, which marks the output in ``folder`` as finished."""
        publish_bytes(folder / NAME, self.to_bytes())

    def expected_files(self) -> dict[str, tuple[int, str]]:
        """Return relative path → (bytes, sha256) of every file of the output."""
        files = {entry.path: (entry.bytes, entry.sha256) for entry in self.files}
        for shard in self.shards:
            files[f"shards/{shard.name}.parquet"] = (shard.bytes, shard.sha256)
            files[f"ledger/{shard.name}.parquet"] = (shard.ledger["bytes"], shard.ledger["sha256"])
            if shard.media:
                files[f"media/{shard.name}.tar"] = (shard.media["bytes"], shard.media["sha256"])
        return files

    def objects(self) -> dict[str, int]:
        """Return digest → bytes of what the output consists of: its files and the manifest."""
        return {sha256: size for size, sha256 in self.expected_files().values()} | {self.digest: len(self.to_bytes())}

    @property
    def size(self) -> int:
        """Bytes of all files of the output."""
        return sum(size for size, _ in self.expected_files().values())


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a finished output.

    Raises:
        HearsightError: there is none (the stage has not finished), or it is damaged or of another version.
    """
    try:
        raw = (folder / NAME).read_bytes()
    except FileNotFoundError:
        hint = f"run `dvc repro {stage_address(*parse_output_path(folder))}`"
        raise HearsightError("there is no finished output here", where=folder, hint=hint) from None
    return parse_manifest(raw, folder / NAME)


def parse_manifest(raw: bytes, path: Path) -> Manifest:
    """Return the manifest with the bytes ``raw``; ``path`` is for messages. Raises as :func:`read_manifest`."""
    address = stage_address(*parse_output_path(path.parent))
    again, by_hand = f"run `dvc repro {address}`", f"it was changed by hand: run `dvc repro --force -s {address}`"
    try:
        content = json.loads(raw)
        if content.pop("schema") != SCHEMA:
            raise HearsightError("was written by another version of Hearsight", where=path, hint=again)
        content["shards"] = [ShardEntry(**entry) for entry in content["shards"]]
        content["files"] = [FileEntry(**entry) for entry in content["files"]]
        manifest = Manifest(**content)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise HearsightError(f"is not a manifest ({error})", where=path, hint=by_hand) from None
    if manifest.to_bytes() != raw:
        raise HearsightError("is not in the form it was written in", where=path, hint=by_hand)
    return manifest
