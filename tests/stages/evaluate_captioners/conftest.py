"""Fixtures: the small networks, and one evaluation that the tests of a module share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.core.stage_output import StageOutput
from tests.stages.evaluate_captioners.running import compared
from tests.stages.evaluate_captioners.world import (
    small_networks,
    world,
)
from tests.support import leave_warning


@pytest.fixture(autouse=True, scope="module")
def networks() -> Iterator[None]:
    with small_networks():
        yield


@pytest.fixture(scope="module")
def evaluated(networks: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, StageOutput], Any]:
    root = tmp_path_factory.mktemp("whole")
    inputs = world(root)
    leave_warning(inputs["input"])
    return root, inputs, compared(root, inputs)
