"""A folder with the project's settings, to add datasets to."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support import PROJECT


def project(root: Path) -> Path:
    for name in ("components", "expectations"):
        (root / name).symlink_to(PROJECT / name)
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(PROJECT / name, root / name)
    return root
