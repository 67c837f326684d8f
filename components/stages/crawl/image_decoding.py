"""Looking at pictures in the workers: ahead, while others are still fetched, and in jobs, what was not looked at by then.

Fetching is one process that waits for the network and the disk; decoding is all work. So pictures are told to workers as soon
as the store has them, and what these find goes where every look goes, to the annotations, by the picture's digest. Nothing
depends on it: a picture that was not told, or a worker that died, is left to the jobs, which would come to the same.
Not in scope: what is seen (``image``).
"""

from __future__ import annotations

import faulthandler
import json
import os
import socket
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.execution.engine import LocalEngine
from components.execution.limits import OverLimit, set_limits
from components.execution.process import die_with_parent
from components.execution.stage import Job, Stage, Task
from components.stages.crawl.sources.inputs import project_of
from components.web.answers import Outcome
from components.web.budget import Budget
from components.web.images.image import DecodeResult
from components.web.images.inspection import ImageLook, decode_all, decode_within, load_decoders
from components.web.images.kinds import FORMATS, detect_format
from components.web.segments import damaged_error, read_body
from components.web.snapshot_chain import locate_body
from components.web.store import FetchStore
from components.web.warc import Entry

LOOKS_PER_JOB = 64
"""Images one job decodes."""
AT_A_TIME = 16
"""Images a worker that looks ahead takes before it keeps what it saw."""
CHILDREN = 100
"""Processes that one worker forks at most: each ends at a picture that is over the budget."""
STEP = "look"
_PAGES = ("text/html", "application/xhtml+xml")
_MOST = 4096
"""Bytes of a message, at most."""


class LookAhead:
    """Workers that look at what a store takes in. A context manager; it leaves when all that they were told is looked at.

    They are forked when it is entered, which is to be before there are threads or an event loop. On a cluster it does
    nothing: its jobs have more processors than the one machine that fetches.
    """

    def __init__(self, stage: Stage, store: FetchStore) -> None:
        local = isinstance(stage.engine, LocalEngine) and sys.platform == "linux"
        self._workers = stage.engine.workers if local and isinstance(stage.engine, LocalEngine) else 0
        self._store, self._annotations, self._budget = store, stage.annotations, stage.params.budget
        self._told: set[str] = set()
        self._processes: list[Any] = []
        self._end: socket.socket | None = None

    def __enter__(self) -> LookAhead:
        if self._workers:
            load_decoders()  # once, here, and not in each of the workers
            # Messages keep their bounds, each goes to one worker, and a worker that dies leaves no lock behind.
            self._end, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._end.setblocking(False)
            context = get_context("fork")
            for _ in range(self._workers):
                arguments = (self._end, far, self._annotations, self._budget, self._store.folder, os.getpid())
                self._processes.append(context.Process(target=_look, args=arguments, daemon=True))
                self._processes[-1].start()
            far.close()
            self._store.listener = self.tell
        return self

    def tell(self, entry: Entry) -> None:
        """Have a new answer looked at if it is a picture. Never waits: when the workers are far behind it is left to the jobs."""
        if self._end is None or entry.status != 200 or entry.failure or entry.held or entry.sha256 in self._told:
            return
        if entry.type.partition(";")[0].strip().lower() in _PAGES:
            return
        with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            self._end.send(json.dumps([entry.sha256, entry.segment, entry.offset, entry.length]).encode())
            self._told.add(entry.sha256)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._store.listener = None
        if self._end is not None:
            self._end.close()
        for process in self._processes:
            if kind is not None:
                process.kill()
            process.join()


def _look(end: socket.socket, told: socket.socket, annotations: ResultCache, budget: Budget, folder: Path, parent: int) -> None:
    """A worker's whole life: have a child look at what it is told, and another when one ends before nobody tells any more."""
    die_with_parent(parent)
    end.close()  # else this very process would keep the line open
    for _ in range(CHILDREN):
        child = os.fork()
        if child == 0:
            faulthandler.disable()  # a picture that ends this process is told by a job
            die_with_parent(os.getppid())
            with suppress(HearsightError, OSError):  # told by the jobs, which meet them again
                _look_at_all(told, annotations, budget, folder)
            os._exit(0)  # no exit handler of the crawl's may run here
        if os.waitpid(child, 0)[1] == 0:
            break
    os._exit(0)


def _look_at_all(told: socket.socket, annotations: ResultCache, budget: Budget, folder: Path) -> None:
    while message := told.recv(_MOST):
        messages = [message]
        with suppress(BlockingIOError):
            while message and len(messages) < AT_A_TIME:
                message = told.recv(_MOST, socket.MSG_DONTWAIT)
                messages.append(message)
        _annotate(annotations, budget, folder, messages)


def _annotate(annotations: ResultCache, budget: Budget, folder: Path, messages: Iterable[bytes]) -> None:
    bodies: dict[str, bytes] = {}
    for sha, segment, offset, length in (json.loads(message) for message in messages if message):
        body = read_body(folder / segment, offset, length, sha)
        if body is not None and detect_format(body) in FORMATS:
            bodies[sha] = body
    annotations.annotate(_Here(budget), bodies)


class _Here(ImageLook):
    """Looks in this very process, which ends at an image that is out of time."""

    def compute_many(self, payloads: Sequence[Any]) -> list[dict[str, Any]]:
        """The decode result of each image, as plain values."""
        found = []
        for payload in payloads:
            set_limits(self.budget.image_seconds, self.budget.image_memory)
            try:
                found.append(asdict(decode_within(self.budget, payload)))
            except MemoryError:
                found.append(self.result_over(OverLimit("memory"), payload))
        return found


def look_at(spec: dict[str, list[Any]], task: Task, folder: Path) -> None:
    """A job: decode the images of ``spec`` (sha256 → path of a segment, offset, length) and write the results as JSON."""
    store = project_of(task) / task.shared["store"]
    bodies = {sha: _Body(store / path, offset, length, sha) for sha, (path, offset, length) in spec.items()}
    results = decode_all(task.annotations, Budget(**task.params), bodies)
    small = {sha: {name: value for name, value in result.items() if name != "thumbnail"} for sha, result in results.items()}
    (folder / "facts.json").write_text(json.dumps(small, sort_keys=True), encoding="utf-8")


@dataclass(frozen=True)
class _Body:
    """A stored picture, not read yet."""

    path: Path
    offset: int
    length: int
    sha: str

    def read(self) -> bytes:
        """Its bytes.

        Raises:
            HearsightError: they are not those that were stored.
        """
        body = self.read_if_whole()
        if body is None:
            raise damaged_error(f"the stored picture {self.sha[:16]}", self.path)
        return body

    def read_if_whole(self) -> bytes | None:
        """Its bytes; None when they are not those that were stored."""
        return read_body(self.path, self.offset, self.length, self.sha)


def decode_results(stage: Stage, store: FetchStore, outcomes: Iterable[Outcome], limit: int) -> dict[str, DecodeResult]:
    """Image sha256 → its result without the thumbnail, of the good answers of at most ``limit`` bytes; jobs look at new ones."""
    home = store.folder.parent
    places: dict[str, list[Any]] = {}
    for outcome in outcomes:
        entry = outcome.entry
        if not outcome.rule and entry is not None and entry.bytes <= limit and entry.sha256 not in places:
            path, offset, length = locate_body(store.folder, entry)
            places[entry.sha256] = [path.relative_to(home).as_posix(), offset, length]
    names = list(places)
    specs = [{sha: places[sha] for sha in names[at : at + LOOKS_PER_JOB]} for at in range(0, len(names), LOOKS_PER_JOB)]
    jobs = [Job(f"{index:05d}", spec) for index, spec in enumerate(specs)]
    shared = {"store": home.relative_to(stage.state.parent).as_posix()}
    results: dict[str, DecodeResult] = {}
    # What an image may cost is in the key: under another budget each is asked for again.
    budget = {name: value for name, value in stage.params.budget.plain().items() if name.startswith("image_")}
    for folder in stage.jobs(look_at, jobs, step=STEP, params=budget, shared=shared):
        plain = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
        results |= {sha: DecodeResult(**result) for sha, result in plain.items()}
    return results
