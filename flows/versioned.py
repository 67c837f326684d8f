"""Runs whose results are committed: a commit on a branch and a tag for each run, after the data is on DVC's remote.

The commit has HEAD's files with the settings, ``dvc.lock`` and the outputs that DVC leaves to git (tables of
plots). A run first takes what other clones have committed to the branch. Does not import Prefect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import LOCK_FILE
from components.core.params import FOLDER
from components.core.printing import print_error
from flows.commands import environment, error_line, run_dvc
from flows.graph import StageTask, read_tasks, seconds
from flows.lockfile import changed_entries, take_stages
from flows.locks import WAIT, RemoteLock, run_lock
from flows.repository import FLOW_RUN, Move, PushRefused, Repository
from flows.schedules import Schedule, tag_time, time_tag

PARAMS = "params.yaml"
AHEAD = timedelta(minutes=10)
"""Difference of two machines' clocks that is usual; a later time is not believed."""
PUSH_LIMIT = 12 * 3600.0
"""Time limit of `dvc push` and `dvc pull` in seconds."""


@dataclass
class VersionedRun:
    """One run of a schedule, between :func:`open_run` and :meth:`publish`."""

    name: str
    schedule: Schedule
    repository: Repository
    flow_run: str
    lock: RemoteLock | None

    @property
    def branch(self) -> str:
        """The branch of the schedule's runs."""
        return self.schedule.branch_of(self.name)

    @property
    def _ref(self) -> str:
        return f"refs/heads/{self.branch}"

    def last_run(self) -> datetime | None:
        """Return the time of the newest tag of the schedule, here or on the remote; None when there is none."""
        return last_run(self.repository, self.branch)

    def update(self) -> None:
        """Take what other clones have committed to the branch since this clone's last run: settings, results, and their data.

        Raises:
            HearsightError: settings were changed there and here in the same lines, the branch has other commits here than
                there, or data cannot be pulled.
        """
        git, root = self.repository, self.repository.root
        local = git.value(self._ref)
        theirs = git.fetch(self._ref) if git.remote else ""
        if not theirs or git.is_ancestor(theirs, local):
            return
        if local and not git.is_ancestor(local, theirs):
            raise HearsightError(
                f"has commits that remote {git.remote} lacks, and lacks others of it",
                where=f"{self.branch} in {root}",
                hint=f"check it out and `git merge {theirs[:12]}`",
            )
        base = local or git.run("merge-base", "HEAD", theirs, fail=False)
        old, new = (git.read(commit, LOCK_FILE) if commit else None for commit in (base, theirs))
        written = [*self._merge_settings(base, theirs), LOCK_FILE]
        if taken := changed_entries(old, new):
            take_stages(root, new, taken)
            files = [path for stage in read_tasks(root) if stage.address in taken for path in stage.files]
            take_files(git, theirs, files)
            pull(root, taken, self.flow_run)
            written += files
        git.move(Move(self._ref, local, theirs), written=written)

    def _merge_settings(self, base: str, theirs: str) -> list[str]:
        """Take over the settings that others have changed; return the paths of all files of settings."""
        git, root = self.repository, self.repository.root
        listed = git.run("ls-tree", "--name-only", theirs, f"{FOLDER}/").split("\n")
        names = sorted({*setting_files(root), *(name for name in listed if name.endswith(".yaml"))})
        merged = {}
        for name in names:
            new, old = git.read(theirs, name), git.read(base, name) if base else None
            ours = (root / name).read_text(encoding="utf-8") if (root / name).is_file() else None
            if new is None or new in (ours, old):
                continue
            merged[name] = new if ours is None else git.merge_texts(ours, old if old is not None else ours, new)
            if merged[name] is None:
                raise HearsightError(
                    f"was changed here and on {self.branch} in the same lines",
                    where=root / name,
                    hint=f"take over one side: git diff {theirs[:12]} -- {name}",
                )
        for name, text in merged.items():
            (root / name).parent.mkdir(exist_ok=True)
            publish_bytes(root / name, str(text).encode("utf-8"))
        return names

    def publish(self, stages: Sequence[StageTask], ran: Sequence[str], settings: Mapping[str, str] | None = None) -> str:
        """Commit the run, push data and then branch and tag, and return the tag.

        Args:
            settings: texts of the files of settings with which the stages are up to date; None: as they are now.

        Raises:
            HearsightError: a push failed, or another run took over the lock; the results stay in this clone, and the next run
                publishes them.
        """
        git, root = self.repository, self.repository.root
        settings = settings or read_settings(root)
        files = [LOCK_FILE, *(path for stage in stages for path in stage.files)]
        tip, head = git.value(self._ref), git.value("HEAD")
        parents = [tip] if tip and git.is_ancestor(head, tip) else [parent for parent in (tip, head) if parent]
        commit = git.commit(head, parents, files, self._message(stages, ran, settings), settings)
        moment = datetime.now(UTC)
        while git.value(f"refs/tags/{time_tag(self.branch, moment)}"):
            moment += timedelta(seconds=1)
        tag = time_tag(self.branch, moment)
        moves = [Move(self._ref, tip, commit), Move(f"refs/tags/{tag}", "", commit)]
        if self.lock is not None:
            push(root, self.schedule.target.split(), self.flow_run)
            self._push(moves, self.lock)
        git.move(*moves, written=[*settings, *files])
        return tag

    def _push(self, moves: Sequence[Move], lock: RemoteLock) -> None:
        """Push the moves and delete the lock in one step, so that a run without the lock cannot publish."""
        lock.stop()
        git = self.repository
        old = git.remote_refs(self._ref).get(self._ref, "")  # empty before the first push
        try:
            seen = moves[0].old if old and not git.is_ancestor(old, moves[0].old) else old
            git.push(Move(moves[0].ref, seen, moves[0].new), *moves[1:], Move(lock.ref, lock.value, ""))
        except PushRefused as error:
            raise HearsightError(
                f"another run has taken over ({error})",
                where=f"{self.branch} of remote {git.remote}",
                hint="nothing is lost: the next run publishes these results",
            ) from None
        lock.value = ""

    def _message(self, stages: Sequence[StageTask], ran: Sequence[str], settings: Mapping[str, str]) -> str:
        root = self.repository.root
        lines = [
            f"{self.name}: {len(ran)} of {len(stages)} stages ran",
            "",
            f"Schedule: {self.name}",
            f"{FLOW_RUN}{self.flow_run}",
        ]
        lines += [f"Ran: {address}" for address in sorted(ran)]
        folders = sorted({stage.output for stage in stages if stage.output})
        for folder in folders:
            manifest = root / "data" / folder / "manifest.json"
            with suppress(FileNotFoundError):
                lines.append(f"Output: {folder} {sha256_file(manifest)}")
        committed = {LOCK_FILE, *(name for name, text in read_settings(root).items() if settings.get(name) == text)}
        lines += [f"Uncommitted: {path}" for path in self.repository.changed_files() if path not in committed]
        return "\n".join(lines) + "\n"


def setting_files(root: Path) -> list[str]:
    """Return the paths of the files of settings: params.yaml, and those of datasets."""
    return [PARAMS, *sorted(f"{FOLDER}/{path.name}" for path in (root / FOLDER).glob("*.yaml"))]


def read_settings(root: Path) -> dict[str, str]:
    """Return the texts of the files of settings by path."""
    return {name: (root / name).read_bytes().decode("utf-8") for name in setting_files(root)}


def take_files(git: Repository, commit: str, paths: Sequence[str]) -> None:
    """Write files of a commit into the project's folder; a file that the commit lacks stays."""
    for path in paths:
        if (text := git.read(commit, path)) is not None:
            (git.root / path).parent.mkdir(parents=True, exist_ok=True)
            publish_bytes(git.root / path, text.encode("utf-8"))


def last_run(repository: Repository, branch: str) -> datetime | None:
    """Return the time of the newest tag of a branch's runs, here or on the remote; None when there is none."""
    pattern = f"refs/tags/{branch}/*"
    refs = repository.run("for-each-ref", "--format=%(refname)", pattern).split()
    if repository.remote:
        refs += repository.remote_refs(pattern)
    times = {time for ref in refs if (time := tag_time(branch, ref.removeprefix("refs/tags/")))}
    if future := {time for time in times if _is_future(time)}:
        tag = time_tag(branch, max(future))
        print_error(f"warning: tag {tag} is in the future and does not count: a clock was ahead; delete the tag")
    return max(times - future, default=None)


def superseded(run: VersionedRun, flow_run: Any, due: str) -> str:
    """Return why a run that was due has nothing to do, else an empty text: one since that time exists, of any clone.

    Args:
        flow_run: Prefect's flow run; one that a person started is never superseded.
        due: ISO time of a run that makes up for missed ones.
    """
    if due or flow_run.auto_scheduled:
        moment = _due_time(due) if due else flow_run.expected_start_time
        last = run.last_run()
        if last and last >= moment:
            return f"a run since {moment:%Y-%m-%d %H:%M} exists: {time_tag(run.branch, last)}"
    return ""


def _due_time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise HearsightError(f"{text!r} is no time", where="due", hint="write e.g. 2026-11-26T03:00:00+00:00") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_future(moment: datetime) -> bool:
    return moment > datetime.now(UTC) + AHEAD


@contextmanager
def open_run(root: Path, name: str, schedule: Schedule, flow_run: str) -> Iterator[VersionedRun]:
    """Hold the locks of a scheduled run: this clone's, and with ``push`` the remote's.

    Raises:
        HearsightError: the project is not in git, the remote is missing, or another run does not end.
    """
    with run_lock(root, WAIT):
        repository = Repository(root, schedule.push)
        lock = RemoteLock(repository, name, seconds(schedule.stale)) if schedule.push else None
        if lock is not None:
            lock.acquire()
        try:
            yield VersionedRun(name, schedule, repository, flow_run, lock)
        finally:
            if lock is not None:
                lock.release()


def push(root: Path, targets: Sequence[str], flow_run: str, *, deps: bool = True) -> None:
    """Push the data of stages to DVC's remote, with ``deps`` also of all they need; without targets, of every stage.

    Raises:
        HearsightError: DVC has no remote, or the push failed.
    """
    _transfer(root, ["push", *(["--with-deps"] if deps and targets else []), *targets], flow_run)


def pull(root: Path, targets: Sequence[str], flow_run: str) -> None:
    """Pull the data of stages from DVC's remote into the project's folder.

    Raises:
        HearsightError: DVC has no remote, or data is missing there.
    """
    _transfer(root, ["pull", *targets], flow_run)


def _transfer(root: Path, words: list[str], flow_run: str) -> None:
    code, lines = run_dvc(words, root, environment(flow_run, ""), PUSH_LIMIT)
    if code:
        raise HearsightError(error_line(lines), where=f"dvc {words[0]}", hint="see `dvc remote list` and the log of the run")
