"""A training of a tiny captioner as a job of a stage, on any engine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from components.execution.engine import Engine
from components.execution.stage import Job
from components.stages.train_captioner import jobs
from components.stages.train_captioner.recipe import CaptionerTraining
from components.training.settings import REFERENCE
from tests.execution.ray_work import where_am_i
from tests.support import make_stage
from tests.support.train_captioner.project import SmallNetwork, prepared, spec_of

PHASE = {"epochs": 1, "batch": 4, "samples": 2, "baseline": "mean", "learning_rate": 0.001}
VICTIM, HELD = "victim", "held"
"""Files of the scratch folder: the id of a node, and that a rank on it is inside an epoch and waits to be killed."""


def train_small(spec: dict[str, Any], task: Any, folder: Path) -> None:
    """Train with a small network; a rank on the victim waits inside the second epoch."""
    jobs.build = SmallNetwork  # type: ignore[assignment]
    begin = CaptionerTraining.on_train_batch_start
    victim = task.work / VICTIM

    def hold(self: CaptionerTraining, batch: Any, batch_idx: int) -> None:
        if self.current_epoch == 1 and batch_idx == 2 and victim.exists() and victim.read_text() == where_am_i():
            (task.work / HELD).touch()
            time.sleep(600.0)
        begin(self, batch, batch_idx)

    CaptionerTraining.on_train_batch_start = hold  # type: ignore[method-assign]
    try:
        jobs.train_captioner(spec, task, folder)
    finally:
        CaptionerTraining.on_train_batch_start = begin  # type: ignore[method-assign]


def train_on(engine: Engine, root: Path, name: str, *, dropout: float = 0.0, **hardware: Any) -> Path:
    """Return the folder of the trained model; its scratch folder is ``root/name``."""
    chosen = REFERENCE.model_copy(update={"checkpoint_steps": 1, **hardware})
    stage = make_stage(root / name, "train_captioner", inputs={"input": prepared(root / name)}, engine=engine)
    spec = spec_of(dropout=dropout, self_critical=PHASE)
    with engine.open(root, root / name / "lock", [root]):
        (folder,) = stage.jobs(
            train_small,
            [Job("t2t8x8-0", spec)],
            step="models",
            params=chosen,
            version=1,
            resources=chosen.resources(engine),
        )
    return folder
