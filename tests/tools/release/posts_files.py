"""Files of a release of posts."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import HearsightError
from components.tools.release.kinds import release


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def archive(out: Path) -> dict[str, bytes]:
    with tarfile.open(out / "images.tar.gz") as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def refusal(root: Path, out: Path, **options: Any) -> str:
    with pytest.raises(HearsightError) as caught:
        release(root, options.pop("dataset", "posts"), out, **options)
    assert not out.exists() and "\n" not in str(caught.value)
    return str(caught.value)
