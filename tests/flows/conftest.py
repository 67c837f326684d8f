"""Tiny DVC projects of three stages, and one Prefect test server for all tests of this folder."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.flows.clones import KEYS, Make, git, s3_server
from tests.support.pipeline.harness import init_repository


@pytest.fixture(scope="package")
def prefect_server() -> Iterator[None]:
    """A Prefect server for this package only, since it takes processor time even when no test asks it."""
    os.environ.update(
        PREFECT_SERVER_ANALYTICS_ENABLED="false", PREFECT_LOGGING_LEVEL="ERROR", DO_NOT_TRACK="1", DVC_NO_ANALYTICS="1"
    )
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=600):
        yield


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of a server of S3, and its keys in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS.items():
            patch.setenv(name, value)
        with s3_server() as url:
            yield url


@pytest.fixture
def make_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A project of stages a → b, a → c; a stage's code can be given as ``a="…"``, its meta as ``meta={"a": {…}}``."""

    def make(meta: dict[str, dict[str, object]] | None = None, **codes: str) -> Path:
        init_repository(tmp_path)
        monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path))
        with (tmp_path / ".dvc" / "config").open("a") as config:
            config.write("[core]\n    check_update = false\n")
        stages = {}
        for name, source in (("a", ""), ("b", "a"), ("c", "a")):
            code = codes.get(name, f"import os; open('{name}.txt', 'w').write(os.environ.get('HEARSIGHT_FLOW_RUN', ''))")
            (tmp_path / f"{name}.py").write_text(code)
            stages[name] = {
                "cmd": f"{shlex.quote(sys.executable)} {name}.py",
                "deps": [f"{name}.py", *([f"{source}.txt"] if source else [])],
                "outs": [f"{name}.txt"],
                "meta": (meta or {}).get(name, {}),
            }
        (tmp_path / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}))
        (tmp_path / "params.yaml").write_text("schedules:\n  often: {cron: '* * * * *', target: b, snapshots: []}\n")
        (tmp_path / ".gitignore").write_text("/*.txt\n/.hearsight/\n/prefect/\n/serve.log\n")
        git(tmp_path, "add", "--all")
        git(tmp_path, "commit", "-q", "-m", "the project")
        return tmp_path

    return make
