"""Common part of the archive, table and export sources: files read by jobs, their pages stored as parquet and streamed back.

A job reads one file: it runs on a worker of any engine and is cached by the file's digest, so a killed run does not read files
again. Out of scope: file formats (``archives``, ``table``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from components.execution.stage import Job, Stage, Task
from components.stages.crawl.sources.found import SourcePage, read_pages
from components.stages.crawl.sources.inputs import Input, digest_with_files, job_project_root, pin_inputs
from components.web.answers import Answers
from components.web.fetch import Fetcher
from components.web.takedown_list import Takedown

PAGES_FILE = "found.parquet"
STEP = "read"
INPUT_SETTINGS = ("inputs", "input_prefix", "sample", "sample_seed")
"""Settings that decide which files are read."""


class FileSource(ABC):
    """Common part of a :class:`components.stages.crawl.sources.Source` that reads files."""

    def __init__(self, stage: Stage, params: Any, home: Path, snapshot: Path, taken: Takedown) -> None:
        self.stage, self.params, self.source = stage, params, params.source
        self.home, self.snapshot, self.taken = home, snapshot, taken
        self._inputs: list[Input] = []
        self._folders: list[Path] = []

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return the settings that decide which files are read and how; a snapshot belongs to one such set."""

    @abstractmethod
    def read(self, jobs: list[Job]) -> list[Path]:
        """Run the jobs (spec: an :class:`Input` as a mapping); each writes ``PAGES_FILE`` into its folder."""

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Yield the pages of the files, in the order of the file names."""
        if not self._folders:
            done, used = live is None, len(answers.store) > 0
            self._inputs = pin_inputs(self.stage, self.home, self.snapshot, self.settings(), done=done, used=used)
            self._folders = self.read([Job(item.name, self._spec(item)) for item in self._inputs])
        for folder in self._folders:
            yield from read_pages(folder / PAGES_FILE)

    def _spec(self, item: Input) -> dict[str, str]:
        # A file without digest is identified by its snapshot.
        return {**asdict(item), "snapshot": "" if item.sha256 else self.snapshot.name}

    def fetch_images(self, urls: Collection[str], live: Fetcher) -> None:
        """Request the images from any host."""
        live.ensure(urls, "image", None, "images", wait=False)

    def describe(self) -> dict[str, Any]:
        """Return the settings that selected the files."""
        return self.settings()

    def digest(self, snapshot: str) -> str:
        """Return the digest of the snapshot and the files."""
        return digest_with_files(snapshot, [asdict(item) for item in self._inputs])


def input_path(spec: dict[str, str], task: Task) -> str:
    """Return the path or address a job reads its file from."""
    return Input(spec["name"], spec["sha256"]).path(job_project_root(task))
