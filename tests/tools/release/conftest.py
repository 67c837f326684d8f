"""The releases that the tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.tools.release.anonymous import KEY_VARIABLE
from components.tools.release.kinds import release
from tests.support.release.posts_project import KEY, project


@pytest.fixture(autouse=True)
def release_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture(scope="session")
def posts_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a release of posts that several tests read."""
    root = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_VARIABLE, KEY)
        release(project(root / "p"), "posts", root / "out", "CC BY 4.0", subsets={"#small": 8, "large": 30})
    return root / "out"
