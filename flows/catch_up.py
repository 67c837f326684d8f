"""One run for all that were due while nothing was served."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.states import Cancelled

from components.core.errors import HearsightError
from flows.repository import Repository
from flows.schedules import Schedule, previous_due
from flows.versioned import last_run

MESSAGE = "missed while nothing was served; one run makes up for all"


def catch_up(
    client: SyncPrefectClient, root: Path, schedules: Mapping[str, Schedule], deployments: Mapping[str, UUID]
) -> list[str]:
    """Cancel the runs that were due before now, and start one for each schedule without a run since it was last due.

    A schedule that never ran and was never served waits for its next time.

    Returns:
        The names of the schedules that run now.
    """
    now, started = datetime.now(UTC), []
    for name, schedule in schedules.items():
        missed = _cancel_missed(client, deployments[name], now)
        due = previous_due(schedule.cron, now)
        last = _last_run(root, schedule, schedule.branch_of(name))
        if schedule.catch_up and (last < due if last else missed):
            client.create_flow_run_from_deployment(
                deployments[name], parameters={"due": due.isoformat()}, name=f"{name}, due {due:%Y-%m-%d %H:%M}"
            )
            started.append(name)
    return started


def _cancel_missed(client: SyncPrefectClient, deployment: UUID, now: datetime) -> int:
    """Cancel the deployment's scheduled runs whose time is over; return their number."""
    missed = client.read_flow_runs(
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment])),
        flow_run_filter=FlowRunFilter(
            state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.SCHEDULED])),
            expected_start_time=FlowRunFilterExpectedStartTime.model_validate({"before_": now}),
        ),
        sort=FlowRunSort.EXPECTED_START_TIME_ASC,
        limit=200,  # a server schedules at most 100 runs of a deployment ahead
    )
    for run in missed:
        client.set_flow_run_state(run.id, Cancelled(message=MESSAGE), force=True)
    return len(missed)


def _last_run(root: Path, schedule: Schedule, branch: str) -> datetime | None:
    try:
        return last_run(Repository(root, schedule.push), branch)
    except HearsightError as error:
        print(f"hearsight: warning: {error}; only this clone's runs are known", file=sys.stderr, flush=True)
        return last_run(Repository(root), branch)
