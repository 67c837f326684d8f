"""One project for the tests of describing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.tools.describe.describer import Describer
from tests.support.describe.world import make_project


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        yield make_project(tmp_path_factory.mktemp("described"))


@pytest.fixture(scope="session")
def english(project: Path) -> Describer:
    return Describer.open(project, "en")
