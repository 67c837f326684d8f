"""A drawn fault, and the world it is drawn for."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.moments import Strike
from tests.faults.project import STAGES, Small

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
    forget: dict[str, bool] = field(default_factory=dict)
    """Arguments of :meth:`tests.faults.project.Small.forget`."""
    kills: bool = False
    """Whether it kills the process that could say what failed."""
    unrecorded: bool = False
    """Whether a failure may leave no record for MLflow: the disk takes none, or no settings can be read."""
    variant: str = ""
    """Which uninterrupted run the end is compared with; empty for that of the project as it is."""
    disk: int = 0
    """Bytes of a file system for the project alone; 0 for none."""


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
