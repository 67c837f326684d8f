"""Faults of files: damage at a drawn position, a full disk, times in the past and the future, edits during a run."""

from __future__ import annotations

import errno
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.fault import Fault, World
from tests.faults.namespaces import mounts_allowed
from tests.faults.project import STAGES, Small, size_of, touch_all
from tests.faults.world import EDITS

TARGETS: dict[str, str] = {
    "shard": "data/english/{before}/shards/*.parquet",
    "ledger": "data/english/{before}/ledger/*.parquet",
    "media": "data/english/{before}/media/*.tar",
    "manifest": "data/english/{before}/manifest.json",
    "lineage": "reports/lineage/english/{before}.json",
    "shard cache": ".hearsight/cache/*/*/*",
    "results": ".hearsight/annotations/*.sqlite",
    "fetch store": "data/store/fixture/*",
    "dvc cache": ".dvc/cache/files/md5/*/*",
    "dvc.lock": "dvc.lock",
    "code facts": ".hearsight/code/*",
}
"""What is damaged → its files; ``{before}`` is a stage whose output the run reads."""
READ_BY = {
    "crawl": ("split", "build_rating_items"),
    "split": ("synthesize", "build_rating_items"),
    "synthesize": ("build_rating_items",),
}
"""Stage → those that read its output."""
MODES = ("flip", "truncate", "empty", "delete")


def damage(path: Path, mode: str, position: float, *, hidden: bool) -> None:
    """Damage a file in one way, at a share of its length; ``hidden``: without a change of its time."""
    before = path.stat()
    data = bytearray(path.read_bytes())
    at = min(int(position * len(data)), len(data) - 1)
    path.unlink()
    if mode == "delete":
        return
    if mode == "flip" and data:
        data[at] ^= 1 << int(position * 8191) % 8
    path.write_bytes({"flip": bytes(data), "truncate": bytes(data[: max(at, 0)]), "empty": b""}[mode])
    path.chmod(before.st_mode & 0o777)
    if hidden:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def corrupt(draw: random.Random, world: World) -> Fault:
    """Damage one file before the run, or at a moment of it."""
    target, mode, position = draw.choice(list(TARGETS)), draw.choice(MODES), draw.random()
    hidden = draw.random() < 0.5
    before = draw.choice([stage for stage in READ_BY if target != "media" or stage != "split"])
    fixed = {"results": "synthesize", "fetch store": "crawl"}.get(target, "")
    if "{before}" in TARGETS[target]:
        fixed = draw.choice(READ_BY[before])
    stage, goal = world.stage_and_goal(draw, fixed)
    number = draw.randrange(10**9)
    inside = draw.random() < 0.3
    root: list[Path] = []

    def strike_now() -> None:
        files = sorted(path for path in root[0].glob(TARGETS[target].format(before=before)) if path.is_file())
        if files:
            damage(files[number % len(files)], mode, position, hidden=hidden)

    def prepare(project: Small) -> None:
        root.append(project.root)
        if not inside:
            strike_now()

    def restore(project: Small) -> None:
        # Nothing but a copy brings this file back, and DVC says so.
        if target == "dvc.lock":
            fresh = (world.template.root / "dvc.lock").read_bytes()
            (project.root / "dvc.lock").write_bytes(fresh)
            project.forget(stage)

    about = f"{target} of {before}" if "{before}" in TARGETS[target] else target
    moment = world.strike(draw, stage, strike_now) if inside else None
    when = f", at step {moment.at} of {stage}" if moment else ""
    return Fault(
        f"{about}: {mode} at {position:.3f}{', time kept' if hidden else ''}{when}",
        stage,
        goal,
        strike=moment,
        prepare=prepare,
        after=restore,
        forget={"cache": target != "shard cache", "answers": target != "fetch store", "objects": target != "dvc cache"},
    )


def full(draw: random.Random, world: World) -> Fault:
    """Fill the disk: a file system of the project's own with a few bytes left, or else each further write refused."""
    stage, goal = world.stage_and_goal(draw)
    if mounts_allowed():
        size, left = size_of(world.template.root) + (24 << 20), int(2 ** draw.uniform(0, 21))

        @contextmanager
        def during(project: Small) -> Iterator[None]:
            room = os.statvfs(project.root)
            filler = project.root / ".dvc" / "tmp" / "filler"
            filler.write_bytes(bytes(max(room.f_bavail * room.f_bsize - left - (left // 200), 0)))
            try:
                yield
            finally:
                filler.unlink()

        return Fault(f"tmpfs with {left} bytes left", stage, goal, during=during, unrecorded=True, disk=size)

    def refuse() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    role = draw.choice(("runner", "worker")) if world.steps[f"run {stage}"]["worker"] else "runner"
    strike = world.strike(draw, stage, refuse, role, lasting=True)
    return Fault(f"writes refused from step {strike.at} of the {role} of {stage}", stage, goal, strike=strike, unrecorded=True)


def clock(draw: random.Random, world: World) -> Fault:
    """Set the clock of the commands, and the times of the project's files, to the past or the future."""
    stage, goal = world.stage_and_goal(draw)
    shift = draw.choice((-1, 1)) * 10 ** draw.uniform(2, 9)
    files = draw.choice(("outputs", "caches", "all", "none"))

    def prepare(project: Small) -> None:
        folders = {"outputs": ["data"], "caches": [".hearsight", ".dvc/cache"], "all": ["."], "none": []}[files]
        for folder in folders:
            touch_all(project.root / folder, max(time.time() + shift, 1.0))

    @contextmanager
    def during(_: Small) -> Iterator[None]:
        real, real_ns = time.time, time.time_ns
        time.time = lambda: max(real() + shift, 1.0)  # type: ignore[assignment]
        time.time_ns = lambda: max(real_ns() + int(shift * 10**9), 1)  # type: ignore[assignment]
        try:
            yield
        finally:
            time.time, time.time_ns = real, real_ns

    about = f"the clock {shift:+.0f} s, times of {files} as well"
    return Fault(about, stage, goal, prepare=prepare, during=during, forget={"cache": draw.random() < 0.5})


def edit(draw: random.Random, world: World) -> Fault:
    """Edit an input while a stage runs."""
    name = draw.choice(list(EDITS))
    change, first = EDITS[name]
    stage, goal = world.stage_and_goal(draw, draw.choice(STAGES[: STAGES.index(first) + 1]))
    goal = goal if STAGES.index(goal) >= STAGES.index(first) else first
    struck = draw.choice(STAGES[STAGES.index(stage) : STAGES.index(goal) + 1])
    root: list[Path] = []
    # Until the runner compares its inputs, its last act: docs/robustness.md names what follows as a limit.
    strike = world.strike(draw, struck, lambda: change(root[0]), until="compared")
    return Fault(
        f"{name} edited at step {strike.at} of {struck}",
        stage,
        goal,
        strike=strike,
        prepare=lambda project: root.append(project.root),
        after=lambda project: change(project.root) if not strike.struck else None,
        variant=name,
    )
