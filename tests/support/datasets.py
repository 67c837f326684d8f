"""A folder with the project's settings, to add datasets to."""

from __future__ import annotations

from pathlib import Path

from tests.support import PROJECT
from tests.support.settings_files import copy_settings


def project(root: Path) -> Path:
    for name in ("components", "expectations"):
        (root / name).symlink_to(PROJECT / name)
    copy_settings(root)
    return root
