"""DVC's graph as a list of tasks with their dependencies and the scheduling options in ``meta``.

Reads ``dvc.yaml`` through DVC, which resolves its templates. Does not import Prefect.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError
from flows.commands import BUSY_PATIENCE

if TYPE_CHECKING:
    import networkx as nx

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class StageTask:
    """One stage of dvc.yaml, as a task."""

    address: str
    """The name for ``dvc repro``: ``filter@english``."""
    command: str
    upstream: tuple[str, ...]
    """Addresses of the stages that must finish before, sorted."""
    pool: str = "cpu"
    retries: int = 0
    timeout: float = 3600.0
    """Limit of a run in seconds, including the wait for DVC's lock."""
    files: tuple[str, ...] = ()
    """Outputs that DVC leaves to git (``cache: false``): tables of plots."""

    @property
    def dataset(self) -> str:
        """The dataset in the command; empty for none."""
        match = re.search(r"--dataset[ =](\S+)", self.command)
        return match[1] if match else ""

    @property
    def output(self) -> str:
        """The output, ``english/filter``; empty for a command that runs none of our stages."""
        match = re.match(r"hearsight run (\S+)", self.command)
        return f"{self.dataset}/{match[1]}" if match else ""


def read_tasks(root: Path, targets: Iterable[str] = ()) -> list[StageTask]:
    """Return the tasks of ``targets`` and their dependencies, or of the whole graph without targets, in running order.

    Raises:
        HearsightError: dvc.yaml cannot be read, a target is not in it, or a ``meta`` value is invalid.
    """
    return read_plan(root, targets, ask=False)[0]


def read_plan(root: Path, targets: Iterable[str] = (), *, ask: bool = True) -> tuple[list[StageTask], set[str]]:
    """Return the tasks as :func:`read_tasks`, and with ``ask`` the addresses of those that ``dvc status`` reports as changed.

    The graph is read once for both: a start of ``dvc`` for each stage costs minutes, and a list of targets as well,
    because DVC reads dvc.yaml again for each of them.

    Raises:
        HearsightError: as :func:`read_tasks`, or other processes hold DVC's locks.
    """
    # Here: seconds of imports.
    import networkx as nx
    from dvc.exceptions import DvcException
    from dvc.lock import LockError
    from dvc.repo import Repo, lock_repo

    deadline = time.monotonic() + BUSY_PATIENCE
    while True:
        try:
            # The option of `dvc --wait-for-lock`.
            with Repo(str(root), _wait_for_lock=True) as repo, lock_repo(repo) if ask else nullcontext():
                stages = {_address(stage, root): stage for stage in repo.index.graph}
                needs = nx.relabel_nodes(repo.index.graph, {stage: name for name, stage in stages.items()})
                tasks = {name: _task(root, name, stage, needs[name]) for name, stage in stages.items() if stage.cmd}
                chosen = [tasks[name] for name in _select(root, tasks, needs, targets)]
                changed = {task.address for task in chosen if stages[task.address].status(check_updates=True)} if ask else set()
                return chosen, changed
        except LockError as error:  # a stage of another process is entered as running, or is just being entered
            if time.monotonic() > deadline:
                raise HearsightError(_one_line(error), where=root, hint="wait for that process, or end it") from None
            time.sleep(0.5)
        except DvcException as error:
            raise HearsightError(_one_line(error), where=root / "dvc.yaml", hint="see `dvc dag`") from None


def affected_by(changed: Collection[str], stages: Iterable[StageTask]) -> list[StageTask]:
    """Return the stages, of those in running order, that have changed or need, at any distance, one that has."""
    found: dict[str, StageTask] = {}
    for stage in stages:
        if stage.address in changed or any(up in found for up in stage.upstream):
            found[stage.address] = stage
    return list(found.values())


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _select(root: Path, tasks: Mapping[str, StageTask], needs: nx.DiGraph[str], targets: Iterable[str]) -> list[str]:
    """Return the addresses of the targets, or of all tasks, and of all they need: in running order, ties by name."""
    import networkx as nx  # here: as above

    chosen = set(filter(None, targets)) or set(tasks)
    if unknown := sorted(chosen - tasks.keys()):
        hint = f"known are: {', '.join(sorted(tasks))}"
        raise HearsightError(f"has no stage '{unknown[0]}'", where=root / "dvc.yaml", hint=hint)
    wanted = chosen.union(*(nx.descendants(needs, name) for name in chosen)) & tasks.keys()
    return list(nx.lexicographical_topological_sort(needs.subgraph(wanted).reverse()))


def _address(stage: Any, root: Path) -> str:
    """Return the stage's name for ``dvc repro`` in ``root`` (DVC's addresses are relative to this process)."""
    path = os.path.relpath(stage.path, root.resolve())
    name = getattr(stage, "name", "")
    return str(name) if path == "dvc.yaml" else f"{path}:{name}" if name else path


def _task(root: Path, address: str, stage: Any, needs: Iterable[str]) -> StageTask:
    meta = stage.meta or {}
    where = f"{root / 'dvc.yaml'}: {address}.meta"
    unknown = sorted(set(meta) - {"pool", "retries", "timeout"})
    if unknown:
        raise HearsightError(f"'{unknown[0]}' is not known", where=where, hint="use pool, retries, timeout")
    retries = meta.get("retries", 0)
    if not isinstance(retries, int) or retries < 0:
        raise HearsightError(f"retries is {retries!r}", where=where, hint="give a number of at least 0")
    command = stage.cmd if isinstance(stage.cmd, str) else " && ".join(stage.cmd)
    files = tuple(os.path.relpath(out.fs_path, root.resolve()) for out in stage.outs if not out.use_cache)
    timeout = seconds(meta.get("timeout", "1h"), where)
    return StageTask(address, command, tuple(sorted(needs)), str(meta.get("pool", "cpu")), retries, timeout, files)


def seconds(text: object, where: str = "") -> float:
    """Return the seconds of ``90s``, ``30m``, ``2h``, ``1d`` or a number of seconds.

    Raises:
        HearsightError: the text has another form, or is not positive.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([smhd]?)", str(text).strip())
    if not match or float(match[1]) <= 0:
        raise HearsightError(f"timeout is {text!r}", where=where, hint="write 90s, 30m, 2h or 1d")
    return float(match[1]) * UNITS[match[2] or "s"]
