"""Locks of a run: one run of a project on this machine, and one of all its clones. Does not import Prefect.

The remote's lock is the ref :data:`LOCK_REF`, created and moved only from a known value. Its holder moves it at intervals; a lock
that did not move for the time ``stale`` is taken over. That time is measured by the process that waits, so the clocks of two
machines need not agree. The push that publishes a run deletes the lock from its last value, so a run whose lock was taken over
publishes nothing.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.execution.process import sole_writer
from flows.repository import Move, PushRefused, Repository

LOCK_REF = "refs/hearsight/lock"
WAIT = 6 * 3600.0
"""Seconds that a scheduled run waits for a run that is going on."""
POLL = 2.0
"""Seconds between two looks at the remote's lock."""


def run_lock(root: Path, patience: float = 0.0) -> AbstractContextManager[None]:
    """Hold the project's run lock, so that no other flow run works in this folder; see :func:`sole_writer`."""
    return sole_writer(root / ".hearsight" / "run.lock", "the project", patience)


def clone_id(root: Path) -> str:
    """Return the identity of this clone: its machine, folder, and a token that is drawn once."""
    path = root / ".hearsight" / "clone-id"
    if not path.is_file() or not path.stat().st_size:
        path.parent.mkdir(parents=True, exist_ok=True)
        publish_bytes(path, uuid.uuid4().hex.encode())
    return f"{socket.gethostname()}:{root.resolve()}:{path.read_text(errors='replace').strip()}"


class RemoteLock:
    """The lock on the remote of a repository, while this process holds it."""

    def __init__(self, repository: Repository, what: str, stale: float) -> None:
        self.repository, self.what, self.stale, self.ref = repository, what, stale, LOCK_REF
        self.value = ""
        self._token, self._started = uuid.uuid4().hex, _now()
        self._guard, self._stop = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True, name="remote-lock")

    def acquire(self, patience: float = WAIT) -> None:
        """Take the lock, and move it at intervals until :meth:`stop`. The caller holds :func:`run_lock`.

        Raises:
            HearsightError: another clone holds it and moves it, for ``patience`` seconds.
        """
        deadline = time.monotonic() + patience
        seen, since = "", time.monotonic()
        while True:
            try:
                value, holder = self._read()
                if value != seen:
                    seen, since = value, time.monotonic()
                # A lock of this clone is a dead process's, since this one holds the clone's run lock.
                free = not value or holder.get("clone") == clone_id(self.repository.root) or time.monotonic() - since > self.stale
                if free and self._move(value):
                    self._thread.start()
                    return
            except HearsightError:
                if not seen or time.monotonic() > deadline:
                    raise
                free, since = False, time.monotonic()  # the remote cannot be reached now, by its holder neither
            if time.monotonic() > deadline:
                raise HearsightError(
                    f"the run lock is held by process {holder.get('pid')} on {holder.get('host')} ({holder.get('what')})",
                    where=f"{LOCK_REF} of remote {self.repository.remote}",
                    hint="wait for that run to end, or end it",
                )
            if not free:
                time.sleep(min(POLL, self.stale / 4))

    def _read(self) -> tuple[str, dict[str, Any]]:
        value = self.repository.fetch(LOCK_REF)
        if not value:
            return "", {}
        try:
            holder = json.loads(self.repository.run("log", "-1", "--format=%B", value, fail=False))
            return value, holder if isinstance(holder, dict) else {}
        except ValueError:
            return value, {}

    def _move(self, old: str) -> bool:
        """Move the lock from ``old`` to a new commit of this process; return False when another process was faster."""
        holder = {
            "host": socket.gethostname(), "pid": os.getpid(), "what": self.what, "started": self._started, "heartbeat": _now(),
            "clone": clone_id(self.repository.root), "token": self._token,
        }  # fmt: skip
        commit = self.repository.commit("", [], [], json.dumps(holder, indent=1))
        try:
            self.repository.push(Move(LOCK_REF, old, commit))
        except PushRefused:
            return False
        self.value = commit
        return True

    def _beat(self) -> None:
        while not self._stop.wait(self.stale / 5):
            with self._guard:
                if self._stop.is_set():
                    return
                try:
                    if not self._move(self.value) and not self._recover():
                        return  # lost: the push that publishes the run will be refused
                except HearsightError:
                    continue  # the remote cannot be reached now; the lock is lost only when another run takes it

    def _recover(self) -> bool:
        """Return whether the lock is still this process's, after a push whose answer was lost."""
        value, holder = self._read()
        if holder.get("token") != self._token:
            return False
        self.value = value
        return True

    def stop(self) -> None:
        """Stop moving the lock, so that :attr:`value` stays what the remote has."""
        self._stop.set()
        with self._guard:
            pass

    def release(self) -> None:
        """Delete the lock if it is still this process's."""
        self.stop()
        for _ in range(2):
            if not self.value:
                return
            try:
                self.repository.push(Move(LOCK_REF, self.value, ""))
                self.value = ""
            except PushRefused:
                if not self._recover():
                    self.value = ""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
