"""An older search index that was made of what was taken down goes from DVC, and what its run logged from MLflow."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from components.core.digests import sha256_bytes
from components.tools.takedown.listing import add
from components.tools.takedown.plan import purge
from components.tools.takedown.scan import scan
from components.tracking.record import connect
from tests.support.search_index import world
from tests.support.settings_files import copy_settings
from tests.support.takedown.indexed import GONE, IMAGES, init, make_index

pytestmark = pytest.mark.long


@dataclass
class Made:
    root: Path
    old: dict[str, bytes]
    new: dict[str, bytes]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """Two versions of an index: with the last image, and without it; the host listed."""
    patch = pytest.MonkeyPatch()
    for name in ("MLFLOW_TRACKING_URI", "HEARSIGHT_PIPELINE_RUN"):
        patch.delenv(name, raising=False)
    patch.setenv("HEARSIGHT_TRACKING", "now")
    root = init(tmp_path_factory.mktemp("served") / "project")
    old, new = make_index(root, IMAGES), make_index(root, IMAGES - 1)
    copy_settings(root)
    add(root, "host", GONE)
    yield Made(root, old, new)
    patch.undo()


@pytest.fixture
def made(built: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Made]:
    """The project as built, whatever the test does to it: addresses in MLflow are absolute, so it is put back in place.

    MLflow keeps its database open, so that file is written over and not replaced.
    """
    kept = tmp_path / "kept"
    shutil.copytree(built.root, kept, symlinks=True)
    yield built
    for path in built.root.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
    shutil.copytree(kept, built.root, symlinks=True, dirs_exist_ok=True, ignore=lambda folder, _: ["mlflow.db", "components"])
    with closing(sqlite3.connect(kept / "mlflow.db")) as before, closing(sqlite3.connect(built.root / "mlflow.db")) as now:
        before.backup(now)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def places(root: Path) -> list[str]:
    return [item["where"] for item in scan(root).left]


def test_an_older_index_is_removed_and_the_newer_one_and_the_models_stay(made: Made) -> None:
    root, client = made.root, connect(made.root)
    gone = sha256_bytes(world.drawn_image(IMAGES - 1))
    only = {data for path, data in made.old.items() if gone in path or path.startswith(("neighbours", "search/index/items"))}
    only -= set(made.new.values())
    assert f"search/images/{gone}.jpg" in made.old and f"search/images/{gone}.jpg" not in made.new and len(only) >= 2
    logged = everything(root / "mlartifacts")
    assert only & set(logged.values()) and only & set(everything(root / ".dvc/cache").values())
    assert not [name for name in logged if name.endswith((".jpg", ".parquet", ".npy"))]  # MLflow has its page alone

    dry = purge(root, apply=False)
    assert everything(root / "mlartifacts") == logged
    done = purge(root, apply=True)
    assert [item.where for item in done.items] == [item.where for item in dry.items]
    assert scan(root).left == [] and purge(root, apply=False).items == []
    for folder in ("mlartifacts", ".dvc/cache"):
        left = everything(root / folder)
        assert not only & set(left.values()) and not [name for name in left if gone in name], folder
    assert everything(root / "data/stamps/build_search_index") == made.new
    assert len(client.search_model_versions("name = 'stamps-dual_encoder'")) == 2


@pytest.mark.parametrize("left", ["image", "items.parquet"])
def test_the_scan_reports_a_file_that_still_contains_a_listed_item(made: Made, left: str) -> None:
    root = made.root
    purge(root, apply=True)
    gone = sha256_bytes(world.drawn_image(IMAGES - 1))
    name = next(path for path in made.old if (gone in path if left == "image" else path.endswith(".parquet")))
    place = root / "mlartifacts/stamps/models/m-0/artifacts" / Path(name).name
    place.parent.mkdir(parents=True)
    place.write_bytes(made.old[name])
    assert set(places(root)) == {place.relative_to(root).as_posix()}


def test_an_original_image_or_recording_is_recognised_by_its_bytes(made: Made) -> None:
    root = made.root
    purge(root, apply=True)
    stray = root / "data/stamps/build_search_index/audio/unnamed.png"
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(world.drawn_image(IMAGES - 1))
    assert places(root) == ["data/stamps/build_search_index/audio/unnamed.png"]
