"""A drawn fault, and the world it is drawn for."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.commands import Done
from tests.faults.moments import Strike
from tests.faults.project import STAGES, Small
from tests.faults.servers import Served

Edit = Callable[[Path], None]


def _nothing(_: Small) -> None:
    pass


def _no_context(_: Small) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass
class Fault:
    """What happens to a run of ``dvc repro`` up to ``goal``, whose stages from ``stage`` on have not run yet."""

    about: str
    stage: str
    goal: str
    strike: Strike | None = None
    prepare: Callable[[Small], None] = _nothing
    """Before the first run, after the stages were forgotten."""
    during: Callable[[Small], AbstractContextManager[None]] = _no_context
    """Around the first run."""
    after: Callable[[Small], None] = _nothing
    """Before the second run, where the first failed: what a user does about a cause outside the project."""
    always_after: Callable[[Small], None] = _nothing
    """The same where it succeeded too."""
    forget: dict[str, bool] = field(default_factory=dict)
    """Arguments of :meth:`tests.faults.project.Small.forget`."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables of both runs."""
    first_environment: dict[str, str] = field(default_factory=dict)
    """Further variables of the first run."""
    verify: Callable[[Small], list[str]] = lambda _: []
    """Returns further promises that are broken at the end."""
    chatty: bool = False
    """Whether another program's own log, which may hold tracebacks, is among the output."""
    kills: bool = False
    """Whether it kills the process that could say what failed."""
    unrecorded: bool = False
    """Whether a failure may leave no record for MLflow: the disk takes none, or no settings can be read."""
    variant: str = ""
    """Which uninterrupted run the end is compared with; empty for that of the project as it is."""
    run: Callable[[Small, str, bool], Done] | None = None
    """Runs the project up to a goal in another way than ``dvc repro``; gets whether it is the first run."""
    disk: int = 0
    """Bytes of a file system for the project alone; 0 for none."""
    struck: Callable[[], bool] = lambda: True
    """Whether a fault without a strike took place."""
    end: Callable[[], None] = lambda: None
    """After everything: ends what the fault started."""


@dataclass
class World:
    """A finished project, the manifests of its uninterrupted run, and the steps that each command took."""

    template: Small
    steps: dict[str, dict[str, int]]
    """Command → role → steps."""
    manifests: dict[str, dict[str, bytes]]
    """Variant → stage → manifest."""
    files: dict[str, set[str]]
    """Variant → the files of its uninterrupted run."""
    folder: Path
    quick: bool = False
    """Whether runs end at the stage that is struck."""
    edits: dict[str, tuple[Edit, str]] = field(default_factory=dict)
    """Variant → what it changes in a project, and the first stage that reads it."""
    environments: dict[str, dict[str, str]] = field(default_factory=dict)
    """Variant → variables of its uninterrupted run."""
    servers: dict[str, Served] = field(default_factory=dict)
    """Servers that several faults share."""
    addresses: dict[str, str] = field(default_factory=dict)
    """Addresses of the servers of ``resources``."""
    resources: ExitStack = field(default_factory=ExitStack)
    """Other servers that end with the world."""

    def server(self, name: str, make: Callable[[], Served]) -> Served:
        """Return a running server; starts it when it does not run."""
        if name not in self.servers:
            self.servers[name] = make()
        if not self.servers[name].alive:
            self.servers[name].run()
        return self.servers[name]

    def close(self) -> None:
        """End all servers."""
        for server in self.servers.values():
            server.kill()
        self.resources.close()

    def stage_and_goal(self, draw: random.Random, stage: str = "") -> tuple[str, str]:
        """Draw the first stage without output and the last stage of the run."""
        stage = stage or draw.choice(STAGES)
        goal = stage if self.quick else draw.choice(STAGES[STAGES.index(stage) :])
        return stage, goal

    def strike(
        self,
        draw: random.Random,
        stage: str,
        action: Callable[[], None],
        role: str = "runner",
        *,
        lasting: bool = False,
        until: str = "",
    ) -> Strike:
        """Draw a moment of the run of ``stage``; ``until``: a count of steps other than the role's own."""
        command = f"run {stage}"
        return Strike(command, role, draw.randint(1, max(self.steps[command][until or role], 1)), action, lasting)
