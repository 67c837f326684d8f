"""The files a source reads, from what ``crawl.inputs`` names: expanded, drawn, identified, and pinned by the snapshot.

A snapshot remembers its files with their digests (``inputs.json``), so that a path list that grows, or a file that changes,
makes no other records under the same snapshot's name. Not in scope: what the files hold.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from components.core.digests import digest_value, sha256_file
from components.core.errors import HearsightError
from components.core.files import publish_json
from components.core.seeded_rng import seeded_rng
from components.execution.stage import Job, Stage, Task
from components.web.archives.paths import is_path_list, read_paths

INPUTS_FILE = "inputs.json"
DIGEST_STEP = "identify"
FILES_PER_JOB = 16
"""Files whose digests one job takes."""


@dataclass(frozen=True)
class Input:
    """One file to read."""

    name: str
    """As ``crawl.inputs`` names it: relative to the project, absolute, or ``s3://``. It goes into the records."""
    sha256: str
    """Of a local file's bytes; '' for one in S3, which is taken not to change while its snapshot is named."""

    def path(self, home: Path) -> str:
        """Where it is read from."""
        return self.name if is_remote(self.name) else str(home / self.name)


def digest_with_files(snapshot: str, files: Sequence[dict[str, Any]]) -> str:
    """The digest of a snapshot together with the files it was made of (``inputs.json: files``)."""
    return digest_value([snapshot, list(files)])


def is_remote(name: str) -> bool:
    """Whether a name is an address rather than a path."""
    return "://" in name


def pin_inputs(stage: Stage, home: Path, snapshot: Path, settings: dict[str, Any], *, done: bool, used: bool) -> list[Input]:
    """The files of a snapshot: those it was made of, once it is complete; else those the settings name now.

    Args:
        settings: what decides the files and how they are read (``inputs``, ``sample``, ``layout`` ...).
        done: whether the snapshot is complete; then nothing is looked up.
        used: whether it holds answers already, which then were asked for under the settings it remembers.

    Raises:
        HearsightError: the snapshot was made under other settings; a name is no file.
    """
    path = snapshot / INPUTS_FILE
    pinned = json.loads(path.read_bytes()) if path.exists() else None
    if (done or used) and (pinned is None or pinned["settings"] != settings):
        raise HearsightError(
            f"the snapshot '{snapshot.name}' was made of other inputs or settings",
            where=path if pinned else snapshot,
            hint="set crawl.snapshot to a new name, and it will be read anew",
        )
    if done and pinned:
        return [Input(**item) for item in pinned["files"]]
    names = draw_inputs(
        expand_inputs(settings["inputs"], home, settings["input_prefix"]), settings["sample"], settings["sample_seed"]
    )
    files = digest_inputs(stage, home, names)
    content = {"settings": settings, "files": [asdict(item) for item in files]}
    publish_json(path, content)
    return files


def expand_inputs(inputs: Sequence[str], home: Path, prefix: str = "") -> list[str]:
    """The names of single files: globs looked up below ``home``, path lists read (their relative paths put
    behind ``prefix``), each name once and in sorted order.

    Raises:
        HearsightError: a name is no file, a pattern matches none, a path list cannot be read.
    """
    names: set[str] = set()
    for entry in inputs:
        if is_path_list(entry):
            names.update(read_paths(entry if is_remote(entry) else str(home / entry), prefix))
        elif is_remote(entry):
            names.add(entry)
        elif glob.has_magic(entry) and not (home / entry).exists():
            found = [name for name in glob.glob(entry, root_dir=home, recursive=True) if (home / name).is_file()]  # noqa: PTH207
            if not found:
                raise HearsightError(
                    f"no file matches '{entry}'", where="crawl.inputs", hint="fix the pattern or bring the files"
                )
            names.update(found)
        else:
            names.add(entry)
    for name in names:
        if any("\ud800" <= char <= "\udfff" for char in name):
            raise HearsightError("has a name that is not UTF-8", where=ascii(name), hint="rename the file")
        if not is_remote(name) and not (home / name).is_file():
            raise HearsightError("is no file", where=home / name, hint="fix crawl.inputs, or bring the file")
    return sorted(names)


def draw_inputs(names: Sequence[str], sample: int, seed: int) -> list[str]:
    """``sample`` of the names without replacement, in sorted order; all of them for 0.

    Raises:
        HearsightError: there are fewer names than that.
    """
    if not sample:
        return list(names)
    if sample > len(names):
        raise HearsightError(
            f"asks for {sample} of {len(names)} inputs", where="crawl.sample", hint="draw fewer, or name more; 0 takes all"
        )
    # Each name is drawn by its own number: a list that grows changes few of those drawn.
    return sorted(sorted(names, key=lambda name: (seeded_rng(seed, "crawl.inputs", name).random(), name))[:sample])


def digest_inputs(stage: Stage, home: Path, names: Sequence[str]) -> list[Input]:
    """The names with their files' digests, taken in the workers; an unchanged file is not read again."""
    local = [name for name in names if not is_remote(name)]
    stats = {name: (home / name).stat() for name in local}
    specs = [[name, stats[name].st_size, stats[name].st_mtime_ns] for name in local]
    jobs = [Job(f"{at:06d}", specs[at : at + FILES_PER_JOB]) for at in range(0, len(specs), FILES_PER_JOB)]
    known: dict[str, str] = {}
    for folder in stage.jobs(digest_files_job, jobs, step=DIGEST_STEP, params={}):
        known |= json.loads((folder / "digests.json").read_text(encoding="utf-8"))
    return [Input(name, known.get(name, "")) for name in names]


def digest_files_job(spec: list[list[Any]], task: Task, folder: Path) -> None:
    """A job: the sha256 of each file of ``spec`` (name, size, time of change)."""
    digests = {name: sha256_file(job_project_root(task) / name) for name, *_ in spec}
    (folder / "digests.json").write_text(json.dumps(digests, sort_keys=True), encoding="utf-8")


def job_project_root(task: Task) -> Path:
    """The project's root, seen from a job: its work folder is ``<root>/.hearsight/work/<dataset>/<stage>``."""
    return task.work.parents[3]
