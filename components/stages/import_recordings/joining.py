"""Records joined with their recordings, with the recordings' digests.

Recordings are inputs outside of DVC. Their digests enter the joined shards, and so the cache keys, and the digest of all enters
the lineage. Digests are computed in jobs; a file with unchanged size and modification time is not read again.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.addresses import main_project
from components.core.digests import digest_value, sha256_file
from components.core.errors import HearsightError
from components.core.shards import write_table
from components.core.stage_output import ShardRef
from components.execution.stage import Job, Stage, Task
from components.stages.import_recordings.corpora import NEEDS, open_corpus

PER_JOB = 256
"""Recordings per digest job."""
OF_RECORD = ("key", "caption", "language", "split", "group", "image_sha256")
JOINED = pa.schema(
    [
        pa.field(name, pa.string(), nullable=False)
        for name in (*OF_RECORD, "image_media", "voice", "origin", "recording", "recording_sha256", "missing")
    ]
)
"""Schema of a record; ``recording`` is relative to the project, ``missing`` says why there is none, or is empty."""


def join(stage: Stage) -> list[ShardRef]:
    """Return the input's shards, each record with its recording.

    Raises:
        HearsightError: the folder is missing or has another layout, a recording cannot be read, or no record has one.
    """
    home, folder = main_project(stage.project), stage.params.folder
    corpus = open_corpus(stage.params.layout, home / folder)
    shards: list[tuple[ShardRef, list[dict[str, str]]]] = []
    stats: dict[str, list[Any]] = {}
    for shard in stage.inputs["input"].shards:
        rows = []
        for record in shard.read(sorted({*OF_RECORD, *NEEDS, "media"})).to_pylist():
            recording = corpus.recording(record)
            row = {name: record[name] for name in OF_RECORD} | {"image_media": record["media"], "recording_sha256": ""}
            if isinstance(recording, str):
                rows.append({**row, "voice": "", "origin": "", "recording": "", "missing": recording})
                continue
            name = f"{folder.rstrip('/')}/{recording.name}"
            info = _file_stat(home / name)
            if info:
                stats[name] = [name, *info]
            missing = "" if info else f"no file {recording.name}"
            speaker = {"voice": recording.speaker, "origin": recording.origin}
            rows.append({**row, **speaker, "recording": name, "missing": missing})
        shards.append((shard, rows))
    if not stats and any(rows for _, rows in shards):
        reason = next(row["missing"] for _, rows in shards for row in rows)
        raise HearsightError(
            f"has no recording of any caption ({reason})",
            where=home / folder,
            hint="fix import_recordings.folder and .layout; the crawl must use the layout of the corpus",
        )
    digests = _digests(stage, [stats[name] for name in sorted(stats)])
    stage.note_parent("recordings", digest_value(sorted(digests.items())))
    return [_write(stage, shard, rows, digests) for shard, rows in shards]


def _file_stat(path: Path) -> list[int] | None:
    """Return size and modification time (ns) of a regular file, or None."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return [status.st_size, status.st_mtime_ns] if stat.S_ISREG(status.st_mode) else None


def _digests(stage: Stage, specs: Sequence[list[Any]]) -> dict[str, str]:
    jobs = [
        Job(f"{start:06d}", list(specs[start : start + PER_JOB]), content_addressed=True)
        for start in range(0, len(specs), PER_JOB)
    ]
    digests: dict[str, str] = {}
    for folder in stage.jobs(take_digests, jobs, step="identify", params={}):
        digests |= json.loads((folder / "digests.json").read_text(encoding="utf-8"))
    return digests


def take_digests(spec: list[list[Any]], task: Task, folder: Path) -> None:
    """Write the sha256 of each file of ``spec`` (name, size, modification time); a job."""
    home, digests = main_project(task.project), {}
    for name, *_ in spec:
        try:
            digests[name] = sha256_file(home / name)
        except OSError as error:
            raise HearsightError(f"cannot be read ({error.strerror})", where=home / name, hint="fix the file's rights") from None
    (folder / "digests.json").write_text(json.dumps(digests, sort_keys=True), encoding="utf-8")


def _write(stage: Stage, shard: ShardRef, rows: list[dict[str, str]], digests: dict[str, str]) -> ShardRef:
    path = stage.work / "joined" / f"{shard.name}.parquet"
    path.parent.mkdir(exist_ok=True)
    rows = [{**row, "recording_sha256": digests.get(row["recording"], "")} for row in rows]
    write_table(path, pa.Table.from_pylist(rows, schema=JOINED))
    return ShardRef(shard.name, path, sha256_file(path), shard.ledger)
