"""Image decoding by jobs; results go to the result cache by image digest."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.addresses import main_project
from components.execution.stage import Job, Stage, Task
from components.web.answers import Outcome
from components.web.budget import Budget
from components.web.images.image import DecodeResult
from components.web.images.inspection import decode_all
from components.web.segments import damaged_error, read_body
from components.web.snapshot_chain import locate_body
from components.web.store import FetchStore

IMAGES_PER_JOB = 64
"""Images that one job decodes."""
STEP = "look"


def decode_images_job(spec: dict[str, list[Any]], task: Task, folder: Path) -> None:
    """Job: decode the images of ``spec`` (sha256 → segment path, offset, length) and write the results as JSON."""
    store = main_project(task.project) / task.shared["store"]
    bodies = {sha: _Body(store / path, offset, length, sha) for sha, (path, offset, length) in spec.items()}
    results = decode_all(task.annotations, Budget(**task.params), bodies)
    small = {sha: {name: value for name, value in result.items() if name != "thumbnail"} for sha, result in results.items()}
    (folder / "facts.json").write_text(json.dumps(small, sort_keys=True), encoding="utf-8")


@dataclass(frozen=True)
class _Body:
    """A stored image that is read on demand."""

    path: Path
    offset: int
    length: int
    sha: str

    def read(self) -> bytes:
        """Return the bytes. Raises HearsightError: the stored bytes do not match their digest."""
        body = read_body(self.path, self.offset, self.length, self.sha)
        if body is None:
            raise damaged_error(f"the stored image {self.sha[:16]}", self.path)
        return body


def decode_results(stage: Stage, store: FetchStore, outcomes: Iterable[Outcome], limit: int) -> dict[str, DecodeResult]:
    """Return image sha256 → decode result without thumbnail, for successful answers of at most ``limit`` bytes.

    Jobs decode the images that are not in the result cache.
    """
    home = store.folder.parent
    locations: dict[str, list[Any]] = {}
    for outcome in outcomes:
        entry = outcome.entry
        if not outcome.rule and entry is not None and entry.bytes <= limit and entry.sha256 not in locations:
            path, offset, length = locate_body(store.folder, entry)
            locations[entry.sha256] = [path.relative_to(home).as_posix(), offset, length]
    shas = list(locations)
    specs = [
        {sha: locations[sha] for sha in shas[start : start + IMAGES_PER_JOB]} for start in range(0, len(shas), IMAGES_PER_JOB)
    ]
    jobs = [Job(f"{index:05d}", spec) for index, spec in enumerate(specs)]
    shared = {"store": home.relative_to(main_project(stage.project)).as_posix()}
    results: dict[str, DecodeResult] = {}
    # The image budget is part of the job key, since results differ between budgets.
    budget = {name: value for name, value in stage.params.budget.plain().items() if name.startswith("image_")}
    for folder in stage.jobs(decode_images_job, jobs, step=STEP, params=budget, shared=shared):
        plain = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
        results |= {sha: DecodeResult(**result) for sha, result in plain.items()}
    return results
