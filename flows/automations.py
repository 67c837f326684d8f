"""What the Prefect server does for schedules: notifications of their runs, the end of dead ones, one run for all missed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
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
from prefect.events.actions import CallWebhook, ChangeFlowRunState, SendNotification
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelled, Crashed, State

from components.core.errors import HearsightError
from flows.repository import Repository
from flows.schedules import Schedule, previous_due
from flows.versioned import last_run

HEARTBEAT = 30
"""Seconds between two signs of life of a flow run; Prefect's least."""
ZOMBIE_AFTER = 4 * HEARTBEAT
"""Seconds without a sign of life after which a run is marked as crashed."""
TOLD = ("Failed", "Crashed", "TimedOut", "Late", "Warnings")
"""States of a run that are notified; ``Warnings`` is a completed run whose checks have warnings."""
SUBJECT = "Hearsight: {{ deployment.name }} {{ flow_run.state.name }}"
BODY = """{{ flow.name }}/{{ deployment.name }}, run {{ flow_run.name }}: {{ flow_run.state.name }}
{{ flow_run.state.message }}
{{ flow_run|ui_url }}"""


def end_zombies(client: SyncPrefectClient) -> None:
    """Have the server mark every run as crashed that gives no sign of life for :data:`ZOMBIE_AFTER` seconds."""
    trigger = EventTrigger(
        after={"prefect.flow-run.heartbeat"},
        expect={"prefect.flow-run.*"},  # a further heartbeat, or any change of state
        match={"prefect.resource.id": "prefect.flow-run.*"},
        for_each={"prefect.resource.id"},
        posture=Posture.Proactive,
        threshold=1,
        within=timedelta(seconds=ZOMBIE_AFTER),
    )
    message = f"its process gave no sign of life for {ZOMBIE_AFTER} s"
    action = ChangeFlowRunState(state=StateType.CRASHED, name="Crashed", message=message, force=False)
    _put(client, AutomationCore(name="hearsight: end zombie runs", trigger=trigger, actions=[action]))


def notify(client: SyncPrefectClient, schedules: Mapping[str, Schedule], deployments: Mapping[str, UUID], root: Path) -> None:
    """Have the server notify each schedule's block of its runs that fail, crash, are late, or end with warnings.

    Args:
        deployments: name of the schedule → id of its deployment.

    Raises:
        HearsightError: a block is missing, or is neither a notification block nor a webhook.
    """
    for name, schedule in schedules.items():
        automation = f"hearsight: notify of {name}"
        if not schedule.notify:
            for old in client.read_automations_by_name(automation):
                client.delete_automation(old.id)
            continue
        trigger = EventTrigger(
            expect={f"prefect.flow-run.{state}" for state in TOLD},
            match={"prefect.resource.id": "prefect.flow-run.*"},
            match_related={
                "prefect.resource.role": "deployment",
                "prefect.resource.id": f"prefect.deployment.{deployments[name]}",
            },
            posture=Posture.Reactive,
            threshold=1,
        )
        action = _action(client, schedule.notify, f"{root / 'params.yaml'}: schedules.{name}.notify")
        _put(client, AutomationCore(name=automation, trigger=trigger, actions=[action]))


def _action(client: SyncPrefectClient, block: str, where: str) -> Any:
    """Return the action that calls the block ``<type>/<name>``."""
    kind, _, name = block.partition("/")
    try:
        document = client.read_block_document_by_name(name, kind)
    except ObjectNotFound:
        raise HearsightError(
            f"the Prefect server has no block '{block}'", where=where, hint="make it in Prefect's pages under Blocks, or set ''"
        ) from None
    if kind == "webhook":
        return CallWebhook(block_document_id=document.id, payload=f"{SUBJECT}\n{BODY}")
    if document.block_schema is None or "notify" not in document.block_schema.capabilities:
        raise HearsightError(f"'{block}' sends no notifications", where=where, hint="name a notification block or a webhook")
    return SendNotification(block_document_id=document.id, subject=SUBJECT, body=BODY)


def _put(client: SyncPrefectClient, automation: AutomationCore) -> None:
    """Create or replace the automation of that name."""
    known = [each.id for each in client.read_automations_by_name(automation.name)]
    for old in known[1:]:
        client.delete_automation(old)
    if known:
        client.update_automation(known[0], automation)
    else:
        client.create_automation(automation)


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
        missed = _end_runs(client, [deployments[name]], [StateType.SCHEDULED], Cancelled(message=MESSAGE), before=now)
        due = previous_due(schedule.cron, now)
        last = _last_run(root, schedule, schedule.branch_of(name))
        if schedule.catch_up and (last < due if last else missed):
            client.create_flow_run_from_deployment(
                deployments[name], parameters={"due": due.isoformat()}, name=f"{name}, due {due:%Y-%m-%d %H:%M}"
            )
            started.append(name)
    return started


def end_dead(client: SyncPrefectClient, deployments: list[UUID]) -> None:
    """Mark the deployments' runs as crashed that are marked as running: the server ended with them and saw nothing.

    The caller knows that none of them is in progress.
    """
    ended: State[Any] = Crashed(message="its process ended without a word")
    _end_runs(client, deployments, [StateType.PENDING, StateType.RUNNING, StateType.CANCELLING], ended, before=datetime.now(UTC))


def _end_runs(
    client: SyncPrefectClient, deployments: list[UUID], states: list[StateType], end: State[Any], *, before: datetime
) -> int:
    """Give the state ``end`` to the deployments' runs in one of ``states`` that were due before a time; return their number."""
    runs = client.read_flow_runs(
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=deployments)),
        flow_run_filter=FlowRunFilter(
            state=FlowRunFilterState(type=FlowRunFilterStateType(any_=states)),
            expected_start_time=FlowRunFilterExpectedStartTime.model_validate({"before_": before}),
        ),
        sort=FlowRunSort.EXPECTED_START_TIME_ASC,
        limit=200,  # a server schedules at most 100 runs of a deployment ahead
    )
    for run in runs:
        client.set_flow_run_state(run.id, end, force=True)
    return len(runs)


def _last_run(root: Path, schedule: Schedule, branch: str) -> datetime | None:
    try:
        return last_run(Repository(root, schedule.push), branch)
    except HearsightError as error:
        print(f"hearsight: warning: {error}; only this clone's runs are known", file=sys.stderr, flush=True)
        return last_run(Repository(root), branch)
