"""Records joined with their recordings: what a shard of the map needs, with the recordings' digests in it.

A recording is an input that DVC does not know. Its digest goes into the joined shard, and so into the cache's key, and that of
all of them into the lineage. Digests are taken in jobs; a file of the same size and time of change is not read again.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.digests import digest_value, sha256_file
from components.core.errors import HearsightError
from components.core.shards import write_table
from components.core.stage_output import ShardRef
from components.execution.stage import Job, Stage, Task
from components.stages.import_recordings.corpora import NEEDS, corpus_of

PER_JOB = 256
"""Recordings whose digests one job takes."""
OF_RECORD = ("key", "caption", "language", "split", "group", "image_sha256")
JOINED = pa.schema(
    [
        pa.field(name, pa.string(), nullable=False)
        for name in (*OF_RECORD, "image_media", "voice", "recording", "recording_sha256", "missing")
    ]
)
"""One record: ``recording`` is relative to the project; ``missing`` says why there is none, or is empty."""


def join(stage: Stage) -> list[ShardRef]:
    """The input's shards, each record with its recording.

    Raises:
        HearsightError: the folder is not there or of another layout, a recording cannot be read, or no record has one.
    """
    home, folder = stage.state.parent, stage.params.folder
    corpus = corpus_of(stage.params.layout, home / folder)
    shards: list[tuple[ShardRef, list[dict[str, str]]]] = []
    stats: dict[str, list[Any]] = {}
    for shard in stage.inputs["input"].shards:
        rows = []
        for record in shard.read(sorted({*OF_RECORD, *NEEDS, "media"})).to_pylist():
            found = corpus.recording(record)
            row = {name: record[name] for name in OF_RECORD} | {"image_media": record["media"], "recording_sha256": ""}
            if isinstance(found, str):
                rows.append({**row, "voice": "", "recording": "", "missing": found})
                continue
            name = f"{folder.rstrip('/')}/{found.name}"
            about = _about(home / name)
            if about:
                stats[name] = [name, *about]
            rows.append({**row, "voice": found.speaker, "recording": name, "missing": "" if about else f"no file {found.name}"})
        shards.append((shard, rows))
    if not stats and any(rows for _, rows in shards):
        why = next(row["missing"] for _, rows in shards for row in rows)
        raise HearsightError(
            f"holds a recording of none of the captions ({why})",
            where=home / folder,
            hint="fix narrate.folder and narrate.layout, and see that the crawl's layout is the corpus' own",
        )
    digests = _digests(stage, [stats[name] for name in sorted(stats)])
    stage.note_parent("recordings", digest_value(sorted(digests.items())))
    return [_write(stage, shard, rows, digests) for shard, rows in shards]


def _about(path: Path) -> list[int] | None:
    """Size and time of change of a regular file, or None."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return [found.st_size, found.st_mtime_ns] if stat.S_ISREG(found.st_mode) else None


def _digests(stage: Stage, specs: Sequence[list[Any]]) -> dict[str, str]:
    jobs = [Job(f"{at:06d}", list(specs[at : at + PER_JOB]), content_addressed=True) for at in range(0, len(specs), PER_JOB)]
    found: dict[str, str] = {}
    for folder in stage.jobs(take_digests, jobs, step="identify", params={}):
        found |= json.loads((folder / "digests.json").read_text(encoding="utf-8"))
    return found


def take_digests(spec: list[list[Any]], task: Task, folder: Path) -> None:
    """A job: the sha256 of each file of ``spec`` (name, size, time of change)."""
    home, digests = project_of(task), {}
    for name, *_ in spec:
        try:
            digests[name] = sha256_file(home / name)
        except OSError as error:
            raise HearsightError(f"cannot be read ({error.strerror})", where=home / name, hint="fix the file's rights") from None
    (folder / "digests.json").write_text(json.dumps(digests, sort_keys=True), encoding="utf-8")


def project_of(task: Task) -> Path:
    """The project's root, seen from a worker: its work folder is ``<root>/.hearsight/work/<dataset>/<stage>``."""
    return task.work.parents[3]


def _write(stage: Stage, shard: ShardRef, rows: list[dict[str, str]], digests: dict[str, str]) -> ShardRef:
    path = stage.work / "joined" / f"{shard.name}.parquet"
    path.parent.mkdir(exist_ok=True)
    rows = [{**row, "recording_sha256": digests.get(row["recording"], "")} for row in rows]
    write_table(path, pa.Table.from_pylist(rows, schema=JOINED))
    return ShardRef(shard.name, path, sha256_file(path), shard.ledger)
