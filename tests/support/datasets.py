"""A folder with the project's settings, to add datasets to."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from components.cli.main import app
from components.core.errors import HearsightError
from tests.support import PROJECT
from tests.support.settings_files import copy_settings


def project(root: Path) -> Path:
    for name in ("components", "expectations"):
        (root / name).symlink_to(PROJECT / name)
    copy_settings(root)
    return root


def add(root: Path, *words: str) -> str:
    """Run `hearsight dataset add` in a project; return what it prints, or its error."""
    done = CliRunner().invoke(app, ["dataset", "add", *words], env={"HEARSIGHT_ROOT": str(root)})
    if isinstance(done.exception, HearsightError):
        return str(done.exception)
    assert done.exit_code == 0, done.output
    return done.output
