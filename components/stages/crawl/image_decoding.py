"""Image decoding: by forked workers while the crawl still fetches, and by jobs for the images the workers did not decode.

Images are sent to workers as soon as the store holds them, and the results go to the result cache by image digest. Nothing
depends on the workers: the jobs decode whatever is missing and get equal results.
"""

from __future__ import annotations

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

from components.core.addresses import main_project
from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.execution.engine import LocalEngine
from components.execution.limits import ItemFailure, prepare_child, set_limits
from components.execution.process import die_with_parent
from components.execution.stage import Job, Stage, Task
from components.web.answers import Outcome
from components.web.budget import Budget
from components.web.images.head import FORMATS, detect_format
from components.web.images.image import DecodeResult
from components.web.images.inspection import ImageLook, decode_all, decode_within
from components.web.segments import damaged_error, read_body
from components.web.snapshot_chain import locate_body
from components.web.store import FetchStore
from components.web.warc import Entry

IMAGES_PER_JOB = 64
"""Images that one job decodes."""
MESSAGES_PER_BATCH = 16
"""Images a worker decodes before it stores the results."""
MAX_CHILDREN = 100
"""Child processes that one worker forks in sequence; an image over its budget ends a child."""
STEP = "look"
_PAGE_TYPES = ("text/html", "application/xhtml+xml")
_MAX_MESSAGE = 4096
"""Maximum bytes of a message."""


class DecodeAhead:
    """Workers that decode images while a store receives them; leaving the context waits for the submitted images.

    The workers are forked on entry, which must precede threads and event loops. On a cluster it does nothing, since the jobs have
    more processors than the machine that fetches.
    """

    def __init__(self, stage: Stage, store: FetchStore) -> None:
        local = isinstance(stage.engine, LocalEngine) and sys.platform == "linux"
        self._workers = stage.engine.workers if local and isinstance(stage.engine, LocalEngine) else 0
        self._store, self._annotations, self._budget = store, stage.annotations, stage.params.budget
        self._submitted: set[str] = set()
        self._processes: list[Any] = []
        self._sender: socket.socket | None = None

    def __enter__(self) -> DecodeAhead:
        if self._workers:
            # SEQPACKET keeps message boundaries, delivers each to one worker, and leaves no lock when a worker dies.
            self._sender, receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._sender.setblocking(False)
            context = get_context("fork")
            for _ in range(self._workers):
                arguments = (self._sender, receiver, self._annotations, self._budget, self._store.folder, os.getpid())
                self._processes.append(context.Process(target=_run_worker, args=arguments, daemon=True))
                self._processes[-1].start()
            receiver.close()
            self._store.listener = self.submit
        return self

    def submit(self, entry: Entry) -> None:
        """Send a new answer to the workers if it may be an image. Never blocks: with full buffers the jobs decode the image."""
        if self._sender is None or entry.status != 200 or entry.failure or entry.held or entry.sha256 in self._submitted:
            return
        if entry.type.partition(";")[0].strip().lower() in _PAGE_TYPES:
            return
        with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            self._sender.send(json.dumps([entry.sha256, entry.segment, entry.offset, entry.length]).encode())
            self._submitted.add(entry.sha256)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._store.listener = None
        if self._sender is not None:
            self._sender.close()
        for process in self._processes:
            if kind is not None:
                process.kill()
            process.join()


def _run_worker(
    sender: socket.socket, queue: socket.socket, annotations: ResultCache, budget: Budget, folder: Path, parent: int
) -> None:
    """Run a worker: fork a child that decodes, and another one after each child that an image ends, until the queue closes."""
    die_with_parent(parent)
    sender.close()  # an open copy here would keep the queue from closing
    for _ in range(MAX_CHILDREN):
        child = os.fork()
        if child == 0:
            prepare_child()  # a job reports an image that ends this process
            die_with_parent(os.getppid())
            with suppress(HearsightError, OSError):  # the jobs raise these errors again
                _decode_messages(queue, annotations, budget, folder)
            os._exit(0)  # skips the exit handlers inherited from the crawl
        if os.waitpid(child, 0)[1] == 0:
            break
    os._exit(0)


def _decode_messages(queue: socket.socket, annotations: ResultCache, budget: Budget, folder: Path) -> None:
    while message := queue.recv(_MAX_MESSAGE):
        messages = [message]
        with suppress(BlockingIOError):
            while message and len(messages) < MESSAGES_PER_BATCH:
                message = queue.recv(_MAX_MESSAGE, socket.MSG_DONTWAIT)
                messages.append(message)
        _decode_batch(annotations, budget, folder, messages)


def _decode_batch(annotations: ResultCache, budget: Budget, folder: Path, messages: Iterable[bytes]) -> None:
    bodies: dict[str, bytes] = {}
    for sha, segment, offset, length in (json.loads(message) for message in messages if message):
        body = read_body(folder / segment, offset, length, sha)
        if body is not None and detect_format(body) in FORMATS:
            bodies[sha] = body
    annotations.annotate(_InProcessLook(budget), bodies)


class _InProcessLook(ImageLook):
    """Decoder that runs in the calling process, which ends at an image that exceeds its time budget."""

    def compute_many(self, payloads: Sequence[Any]) -> list[dict[str, Any]]:
        results = []
        for payload in payloads:
            set_limits(self.budget.image_seconds, self.budget.image_memory)
            try:
                results.append(asdict(decode_within(self.budget, payload)))
            except MemoryError:
                results.append(self.result_over(ItemFailure("memory"), payload))
        return results


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
