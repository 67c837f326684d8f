"""One finished project: the whole chain over the fixture web, which several tests look at."""

from __future__ import annotations

import pytest

from tests.support.pipeline.harness import Project, finish_in_process, make_project
from tests.support.pipeline.whole import add_web, small_params


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project in which every stage and every check has run once, committed to DVC."""
    project = make_project(tmp_path_factory.mktemp("whole") / "project", small_params(), add_web)
    finish_in_process(project)
    return project
