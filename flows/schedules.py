"""Settings of the schedules and pools in ``params.yaml``, and the times at which a schedule was due. Does not import Prefect."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from components.core.errors import HearsightError
from components.core.params import Settings, parse_settings, read_params_file
from flows.graph import seconds


class Schedule(Settings):
    """One entry of ``params.yaml:schedules``."""

    cron: str = "0 3 * * *"
    """Cron schedule in UTC."""
    target: str = ""
    """Stages to run with all they need, e.g. ``report@english``; empty for all stages."""
    snapshots: list[str] = []
    """Datasets whose crawl first starts the day's snapshot (`hearsight snapshot next`)."""
    branch: str = ""
    """Branch of the runs' commits; empty for ``runs/<name of the schedule>``. The tags of its runs are ``<branch>/<time>``."""
    push: str = ""
    """Git remote that gets branch and tags, after DVC's default remote got the data; empty: both stay in this clone."""
    catch_up: bool = True
    """Whether one run makes up for those that were due while nothing was served."""
    notify: str = ""
    """Prefect block that notifies of failed, crashed and late runs and of warnings: ``slack-webhook/team``; empty for none."""
    stale: str = "15m"
    """Time without a sign of life after which another clone's lock on the remote is taken over."""

    def branch_of(self, name: str) -> str:
        """Return the branch of the schedule ``name``."""
        return self.branch or f"runs/{name}"

    def check(self, where: str) -> None:
        """As :meth:`Settings.check`."""
        previous_due(self.cron, datetime.now(UTC), f"{where}.cron")
        if self.branch and not re.fullmatch(r"[A-Za-z0-9][\w.-]*(/[\w-][\w.-]*)*", self.branch):
            raise HearsightError(f"{self.branch!r} is not a branch", where=f"{where}.branch", hint="write e.g. runs/daily")
        if self.notify and not re.fullmatch(r"[a-z0-9-]+/[\w-]+", self.notify):
            raise HearsightError(
                f"{self.notify!r} is not a block", where=f"{where}.notify", hint="write <type of block>/<its name>"
            )
        seconds(self.stale, f"{where}.stale")


class Pool(Settings):
    """One entry of ``params.yaml:pools``: where and how the stages run whose ``meta.pool`` it is."""

    work_pool: str = ""
    """Prefect work pool, whose workers run the stages in clones of their own (`python -m flows.worker`); empty: they run here."""
    remote: str = "origin"
    """Git remote through which the workers get a stage's commit, and return theirs."""
    at_once: int = 1
    """Stages of a flow that run at once."""


Entry = TypeVar("Entry", bound=Settings)


def read_schedules(root: Path) -> dict[str, Schedule]:
    """Return name → entry of ``params.yaml:schedules``.

    Raises:
        HearsightError: an entry or its cron schedule is invalid.
    """
    schedules = _read_entries(root, "schedules", Schedule)
    for name in schedules:
        if not re.fullmatch(r"[A-Za-z0-9][\w-]*", name):
            where = f"{root / 'params.yaml'}: schedules"
            raise HearsightError(f"{name!r} is not a name", where=where, hint="use letters, digits, - and _")
    return schedules


def read_pools(root: Path) -> dict[str, Pool]:
    """Return name → entry of ``params.yaml:pools``.

    Raises:
        HearsightError: an entry is invalid.
    """
    return _read_entries(root, "pools", Pool)


def _read_entries(root: Path, section: str, kind: type[Entry]) -> dict[str, Entry]:
    path = root / "params.yaml"
    entries = {}
    for name, block in (read_params_file(path).get(section) or {}).items():
        entry = parse_settings(kind, block, f"{path}: {section}.{name}")
        assert isinstance(entry, kind)
        entries[str(name)] = entry
    return entries


def previous_due(cron: str, now: datetime, where: str = "") -> datetime:
    """Return the last time at which the schedule was due, ``now`` included.

    Raises:
        HearsightError: ``cron`` is not a cron schedule.
    """
    # Prefect's own copy, so that both read a schedule in the same way; importing it reads no settings.
    from prefect._vendor.croniter import croniter

    try:
        iterator = croniter(cron, now.astimezone(UTC))
        due: datetime = iterator.get_prev(datetime)
        following: datetime = croniter(cron, due).get_next(datetime)
    except (ValueError, KeyError, AttributeError):
        raise HearsightError(f"{cron!r} is not a cron schedule", where=where, hint='write e.g. "0 3 * * *"') from None
    return following if following <= now else due


def time_tag(branch: str, moment: datetime) -> str:
    """Return the tag of a run: ``runs/daily/2026-11-26T03-00-00Z``."""
    return f"{branch}/{moment.astimezone(UTC):%Y-%m-%dT%H-%M-%SZ}"


def tag_time(branch: str, tag: str) -> datetime | None:
    """Return the time in a tag of :func:`time_tag`; None for other tags."""
    try:
        return datetime.strptime(tag, f"{branch}/%Y-%m-%dT%H-%M-%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
