"""What archives and tables share: files read in jobs, each once, their findings kept as parquet and read back in pieces.

A job is one file: it runs in a worker of any engine, is cached by the file's digest, and a killed run does not read again
what was read. Not in scope: what a file holds (``archives``, ``table``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from components.execution.stage import Job, Stage, Task
from components.stages.crawl.sources.found import SourcePage, read_pages
from components.stages.crawl.sources.inputs import Input, digest_with_files, pin_inputs
from components.web.answers import Answers
from components.web.fetch import Fetcher
from components.web.takedown_list import Takedown

PAGES_FILE = "found.parquet"
STEP = "read"
INPUT_SETTINGS = ("inputs", "input_prefix", "sample", "sample_seed")
"""The settings that decide which files are read."""


class FileSource(ABC):
    """The common part of a :class:`components.stages.crawl.sources.Source` that reads files."""

    def __init__(self, stage: Stage, params: Any, home: Path, snapshot: Path, taken: Takedown) -> None:
        self.stage, self.params, self.home, self.snapshot, self.taken = stage, params, home, snapshot, taken
        self._inputs: list[Input] = []
        self._folders: list[Path] = []

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What decides which files are read and how; a snapshot is of one such set."""

    @abstractmethod
    def read(self, jobs: list[Job]) -> list[Path]:
        """Run the jobs (spec: an :class:`Input` as a mapping); each leaves ``PAGES_FILE`` in its folder."""

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """What was found, file after file in the order of their names."""
        if not self._folders:
            done, used = live is None, len(answers.store) > 0
            self._inputs = pin_inputs(self.stage, self.home, self.snapshot, self.settings(), done=done, used=used)
            self._folders = self.read([Job(item.name, self._spec(item)) for item in self._inputs])
        for folder in self._folders:
            yield from read_pages(folder / PAGES_FILE)

    def _spec(self, item: Input) -> dict[str, str]:
        # What has no digest is as old as its snapshot.
        return {**asdict(item), "snapshot": "" if item.sha256 else self.snapshot.name}

    def fetch_images(self, urls: Collection[str], live: Fetcher) -> None:
        """Ask for them, from any host."""
        live.ensure(urls, "image", None, "images", wait=False)

    def describe(self) -> dict[str, Any]:
        """The settings that chose the files."""
        return self.settings()

    def digest(self, snapshot: str) -> str:
        """The snapshot's with the files'."""
        return digest_with_files(snapshot, [asdict(item) for item in self._inputs])


def input_path(spec: dict[str, str], task: Task) -> str:
    """Where a job reads its file from."""
    from components.stages.crawl.sources.inputs import job_project_root

    return Input(spec["name"], spec["sha256"]).path(job_project_root(task))
