"""One index of a small set, built once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.search_index.world import models, run, spoken_set


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root: Path = tmp_path_factory.mktemp("indexed")
    return run(root, spoken_set(root) | {"input": models(root)})
