"""Run the stage on given inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.core.stage_output import StageOutput
from components.stages import evaluate_captioners
from components.stages.evaluate_captioners.run import run as run_evaluate_captioners
from tests.stages.evaluate_captioners.world import (
    PARAMS,
)
from tests.support import make_stage


def compared(
    root: Path, inputs: dict[str, StageOutput], params: evaluate_captioners.Params = PARAMS
) -> tuple[StageOutput, dict[str, str], Any]:
    stage = make_stage(root, "evaluate_captioners", "captioners", params, inputs)
    exported: dict[str, str] = {}
    stage.export = lambda name, data: exported.__setitem__(name, data.decode())  # type: ignore[method-assign]
    run_evaluate_captioners(stage)
    stage.finish()
    return StageOutput(stage.out), exported, stage
