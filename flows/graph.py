"""DVC's own graph as a plain list of tasks: what runs after what, and what ``meta`` asks of a scheduler.

``dvc.yaml`` is the only list of stages; this reads it through DVC, templates resolved. No Prefect here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class StageTask:
    """One stage of dvc.yaml, as a task."""

    address: str
    """What ``dvc repro`` takes: ``filter@english``."""
    command: str
    upstream: tuple[str, ...]
    """Addresses that must have finished, sorted."""
    pool: str = "cpu"
    retries: int = 0
    timeout: float = 3600.0
    """Seconds a run may take, waiting for DVC's lock included."""

    @property
    def dataset(self) -> str:
        """The dataset its command names, or empty."""
        found = re.search(r"--dataset[ =](\S+)", self.command)
        return found[1] if found else ""

    @property
    def verb(self) -> tuple[str, str]:
        """``("run", "filter")`` or ``("check", "filter")`` of a Hearsight command, else two empty strings."""
        found = re.match(r"hearsight (run|check) (\S+)", self.command)
        return (found[1], found[2]) if found else ("", "")


def read_tasks(root: Path, targets: Iterable[str] = ()) -> list[StageTask]:
    """The tasks of ``targets`` and of everything they need (of the whole graph when there are none), in running order.

    Raises:
        HearsightError: dvc.yaml cannot be read, a target is not in it, or a ``meta`` value makes no sense.
    """
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        with Repo(str(root)) as repo:
            graph = repo.index.graph
            stages = {_address(stage, root): stage for stage in graph}
            needs = {name: {_address(other, root) for other in graph.successors(stage)} for name, stage in stages.items()}
            tasks = {name: _task(root, name, stage, needs[name]) for name, stage in stages.items() if stage.cmd}
    except DvcException as error:
        raise HearsightError(" ".join(str(error).split()), where=root / "dvc.yaml", hint="see `dvc dag`") from None
    wanted = set(tasks)
    if chosen := [target for target in targets if target]:
        for target in chosen:
            if target not in tasks:
                raise HearsightError(
                    f"has no stage '{target}'", where=root / "dvc.yaml", hint=f"known are: {', '.join(sorted(tasks))}"
                )
        wanted = _closure(chosen, needs)
    return _in_order({name: task for name, task in tasks.items() if name in wanted})


def _address(stage: Any, root: Path) -> str:
    """What ``dvc repro`` takes when it is called in ``root`` (DVC's own addresses are relative to this process)."""
    path = os.path.relpath(stage.path, root.resolve())
    name = getattr(stage, "name", "")
    return str(name) if path == "dvc.yaml" else f"{path}:{name}" if name else path


def _task(root: Path, address: str, stage: Any, needs: set[str]) -> StageTask:
    meta = stage.meta or {}
    where = f"{root / 'dvc.yaml'}: {address}.meta"
    unknown = sorted(set(meta) - {"pool", "retries", "timeout"})
    if unknown:
        raise HearsightError(f"'{unknown[0]}' is not known", where=where, hint="use pool, retries, timeout")
    retries = meta.get("retries", 0)
    if not isinstance(retries, int) or retries < 0:
        raise HearsightError(f"retries is {retries!r}", where=where, hint="give a number of at least 0")
    command = stage.cmd if isinstance(stage.cmd, str) else " && ".join(stage.cmd)
    return StageTask(
        address, command, tuple(sorted(needs)), str(meta.get("pool", "cpu")), retries, seconds(meta.get("timeout", "1h"), where)
    )


def seconds(text: object, where: str = "") -> float:
    """``90s``, ``30m``, ``2h``, ``1d`` or a plain number of seconds."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([smhd]?)", str(text).strip())
    if not found or float(found[1]) <= 0:
        raise HearsightError(f"timeout is {text!r}", where=where, hint="write 90s, 30m, 2h or 1d")
    return float(found[1]) * UNITS[found[2] or "s"]


def _closure(chosen: Iterable[str], needs: dict[str, set[str]]) -> set[str]:
    wanted: set[str] = set()
    ahead = list(chosen)
    while ahead:
        name = ahead.pop()
        if name not in wanted:
            wanted.add(name)
            ahead.extend(needs[name])
    return wanted


def _in_order(tasks: dict[str, StageTask]) -> list[StageTask]:
    """Upstream first; among those free to go, by address: the order is the same every time."""
    done: dict[str, StageTask] = {}
    while len(done) < len(tasks):
        free = [
            name
            for name in sorted(tasks)
            if name not in done and all(up in done or up not in tasks for up in tasks[name].upstream)
        ]
        done.update((name, tasks[name]) for name in free)
    return list(done.values())
