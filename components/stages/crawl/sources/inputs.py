"""Input files of a source, from the names in ``crawl.source.inputs``: pinned by the snapshot, read by jobs, streamed back.

A snapshot stores its files and their digests (``inputs.json``), so a path list that grows or a file that changes cannot yield
other records under the same snapshot name. A job reads one file and is cached by its digest, so a killed run does not read files
again.
"""

from __future__ import annotations

import glob
import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from components.core.addresses import main_project
from components.core.digests import digest_value, sha256_file
from components.core.errors import HearsightError
from components.core.files import publish_json
from components.core.seeded_rng import seeded_rng
from components.execution.stage import Job, Stage, Task
from components.stages.crawl.sources.source_pages import Source, SourcePage, read_pages, redact_page, write_pages
from components.web.answers import Answers
from components.web.archives.paths import is_path_list, read_paths
from components.web.fetch import Fetcher
from components.web.takedown_list import Takedown

INPUTS_FILE = "inputs.json"
DIGEST_STEP = "identify"
FILES_PER_JOB = 16
"""Files that one job digests."""


@dataclass(frozen=True)
class Input:
    """One input file."""

    name: str
    """Name in ``crawl.source.inputs``: relative to the project, absolute, or ``s3://``. Records contain it."""
    sha256: str
    """Digest of a local file; '' for a file in S3, which must not change while its snapshot is in use."""

    def path(self, home: Path) -> str:
        """Return the path or address it is read from."""
        return self.name if is_remote(self.name) else str(home / self.name)


def digest_with_files(snapshot: str, files: Sequence[dict[str, Any]]) -> str:
    """Return the digest of a snapshot and the files it was made of (``inputs.json: files``)."""
    return digest_value([snapshot, list(files)])


def is_remote(name: str) -> bool:
    """Return whether a name is an address and not a path."""
    return "://" in name


def pin_inputs(stage: Stage, home: Path, snapshot: Path, settings: dict[str, Any], *, done: bool, used: bool) -> list[Input]:
    """Return the files of a snapshot: the pinned ones once it is complete, else those the settings select now, which get pinned.

    Args:
        settings: what decides the files and how they are read (``inputs``, ``sample``, ``layout`` ...).
        done: whether the snapshot is complete; then nothing is looked up.
        used: whether it holds answers already, which were fetched under the pinned settings.

    Raises:
        HearsightError: the snapshot was made with other settings; a name is not a file.
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
    """Return the names of single files, unique and sorted: globs are matched below ``home``, path lists are read.

    Relative paths in a path list are appended to ``prefix``.

    Raises:
        HearsightError: a name is not a file, a pattern matches no file, a path list cannot be read.
    """
    names: set[str] = set()
    for entry in inputs:
        if is_path_list(entry):
            names.update(read_paths(entry if is_remote(entry) else str(home / entry), prefix))
        elif is_remote(entry):
            names.add(entry)
        elif glob.has_magic(entry) and not (home / entry).exists():
            matches = [name for name in glob.glob(entry, root_dir=home, recursive=True) if (home / name).is_file()]  # noqa: PTH207
            if not matches:
                raise HearsightError(
                    f"no file matches '{entry}'", where="crawl.source.inputs", hint="fix the pattern or bring the files"
                )
            names.update(matches)
        else:
            names.add(entry)
    for name in names:
        if any("\ud800" <= char <= "\udfff" for char in name):
            raise HearsightError("has a name that is not UTF-8", where=ascii(name), hint="rename the file")
        if not is_remote(name) and not (home / name).is_file():
            raise HearsightError("is no file", where=home / name, hint="fix crawl.source.inputs, or bring the file")
    return sorted(names)


def draw_inputs(names: Sequence[str], sample: int, seed: int) -> list[str]:
    """Return ``sample`` of the names without replacement, sorted; all names for 0.

    Raises:
        HearsightError: there are fewer names than ``sample``.
    """
    if not sample:
        return list(names)
    if sample > len(names):
        raise HearsightError(
            f"asks for {sample} of {len(names)} inputs", where="crawl.source.sample", hint="draw fewer, or name more; 0 takes all"
        )
    # Names are ranked by a number seeded per name, so a list that grows changes few of the drawn names.
    return sorted(sorted(names, key=lambda name: (seeded_rng(seed, "crawl.inputs", name).random(), name))[:sample])


def digest_inputs(stage: Stage, home: Path, names: Sequence[str]) -> list[Input]:
    """Return the names with their files' digests, computed by jobs; unchanged files hit the cache."""
    local = [name for name in names if not is_remote(name)]
    stats = {name: (home / name).stat() for name in local}
    specs = [[name, stats[name].st_size, stats[name].st_mtime_ns] for name in local]
    jobs = [Job(f"{start:06d}", specs[start : start + FILES_PER_JOB]) for start in range(0, len(specs), FILES_PER_JOB)]
    digests_by_name: dict[str, str] = {}
    for folder in stage.jobs(digest_files_job, jobs, step=DIGEST_STEP, params={}):
        digests_by_name |= json.loads((folder / "digests.json").read_text(encoding="utf-8"))
    return [Input(name, digests_by_name.get(name, "")) for name in names]


def digest_files_job(spec: list[list[Any]], task: Task, folder: Path) -> None:
    """Job: compute the sha256 of each file in ``spec`` (name, size, modification time)."""
    digests = {name: sha256_file(main_project(task.project) / name) for name, *_ in spec}
    (folder / "digests.json").write_text(json.dumps(digests, sort_keys=True), encoding="utf-8")


PAGES_FILE = "found.parquet"
STEP = "read"
INPUT_SETTINGS = ("inputs", "input_prefix", "sample", "sample_seed")
"""Settings that decide which files are read."""


class FileSource(Source):
    """A source that reads files by jobs."""

    layout_settings: ClassVar[tuple[str, ...]] = ()
    """Further settings that decide how the files are read."""
    _inputs: Sequence[Input] = ()
    _folders: Sequence[Path] = ()

    def settings(self) -> dict[str, Any]:
        """Return the settings that decide which files are read and how; a snapshot belongs to one such set."""
        names = (*INPUT_SETTINGS, *self.layout_settings)
        return {"source": self.source.kind, **{name: getattr(self.source, name) for name in names}}

    @abstractmethod
    def read(self, jobs: list[Job]) -> list[Path]:
        """Run the jobs (spec: an :class:`Input` as a mapping); each writes its pages by :func:`write_found`."""

    def run_jobs(self, job: Callable[..., None], jobs: list[Job], **params: Any) -> list[Path]:
        """Run ``job`` for each file; return their folders."""
        return self.stage.jobs(job, jobs, step=STEP, params={**params, "takedown": self.taken.plain()})

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Yield the pages of the files, in the order of the file names."""
        if not self._folders:
            done, used = live is None, len(answers.store) > 0
            self._inputs = pin_inputs(self.stage, self.home, self.snapshot, self.settings(), done=done, used=used)
            # A file without digest is identified by its snapshot.
            specs = [{**asdict(item), "snapshot": "" if item.sha256 else self.snapshot.name} for item in self._inputs]
            self._folders = self.read([Job(spec["name"], spec) for spec in specs])
        for folder in self._folders:
            yield from read_pages(folder / PAGES_FILE)

    def describe(self) -> dict[str, Any]:
        return self.settings()

    def digest(self, snapshot: str) -> str:
        return digest_with_files(snapshot, [asdict(item) for item in self._inputs])


def write_found(folder: Path, task: Task, pages: Iterable[SourcePage]) -> None:
    """Write the pages of one file without what is taken down."""
    taken = Takedown.of(task.params["takedown"])
    write_pages(folder / PAGES_FILE, (redact_page(page, taken) for page in pages))


def input_path(spec: dict[str, str], task: Task) -> str:
    """Return the path or address a job reads its file from."""
    return Input(spec["name"], spec["sha256"]).path(main_project(task.project))
