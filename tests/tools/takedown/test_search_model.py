"""A search index in MLflow goes with its files, its version and its LoggedModel when it was made of what was taken down."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def models(root: Path) -> list[str]:
    return [place for place in places(root) if "search model" in place]


def test_an_older_index_is_removed_from_mlflow_and_dvc_and_the_newer_one_answers(made: Made) -> None:
    import mlflow

    root, client = made.root, connect(made.root)
    gone = sha256_bytes(world.drawn_image(IMAGES - 1))
    only = {data for path, data in made.old.items() if gone in path or path.startswith(("neighbours", "search/index/items"))}
    only -= set(made.new.values())
    assert f"search/images/{gone}.jpg" in made.old and f"search/images/{gone}.jpg" not in made.new and len(only) >= 2
    first = client.get_model_version("stamps-search", "1")
    assert only & set(everything(root / "mlartifacts").values()) and only & set(everything(root / ".dvc/cache").values())

    (place,) = models(root)
    assert place.startswith("mlflow search model stamps-search/1 (m-")
    before = everything(root / "mlartifacts")
    dry = purge(root, apply=False)
    assert [item.where for item in dry.items if "search model" in item.where] == [place]
    assert everything(root / "mlartifacts") == before and client.get_model_version("stamps-search", "1")

    done = purge(root, apply=True)
    assert [item.where for item in done.items] == [item.where for item in dry.items]
    assert scan(root).left == [] and purge(root, apply=False).items == []
    assert [int(version.version) for version in client.search_model_versions("name = 'stamps-search'")] == [2]
    with pytest.raises(mlflow.exceptions.MlflowException):
        client.get_logged_model(first.source.removeprefix("models:/"))
    with pytest.raises(mlflow.exceptions.MlflowException):
        mlflow.artifacts.download_artifacts(artifact_uri="models:/stamps-search/1")
    for folder in ("mlartifacts", ".dvc/cache"):
        left = everything(root / folder)
        assert not only & set(left.values()) and not [name for name in left if gone in name], folder

    # The newer one is whole, and models without images stay.
    served = Path(mlflow.artifacts.download_artifacts(artifact_uri="models:/stamps-search@best"))
    (about,) = served.rglob("search.json")
    kept = {f"search/{path}": data for path, data in everything(about.parent).items()}
    assert kept == {path: data for path, data in made.new.items() if path.startswith("search/")}
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


@pytest.mark.parametrize("step", ["files", *(pytest.param(step, marks=pytest.mark.slow) for step in ("version", "model"))])
def test_an_interrupted_purge_is_completed_by_the_next(made: Made, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    from mlflow import MlflowClient
    from mlflow.store.artifact.local_artifact_repo import LocalArtifactRepository

    class Killed(BaseException):
        pass

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    owner, name = {
        "files": (LocalArtifactRepository, "delete_artifacts"),
        "version": (MlflowClient, "delete_model_version"),
        "model": (MlflowClient, "delete_logged_model"),
    }[step]
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(owner, name, killed)
        purge(made.root, apply=True)
    assert len(models(made.root)) == 1
    purge(made.root, apply=True)
    assert places(made.root) == []


def test_runs_deleted_in_mlflow_are_removed_too(made: Made) -> None:
    client = connect(made.root)
    first = client.get_model_version("stamps-search", "1")
    model_id = first.source.removeprefix("models:/")
    folder = made.root / "mlartifacts/stamps/models" / model_id
    client.delete_logged_model(model_id)
    client.delete_model_version("stamps-search", "1")
    assert any(folder.rglob("*.jpg"))
    assert models(made.root) == [f"mlflow search model not registered ({model_id})"]
    purge(made.root, apply=True)
    assert places(made.root) == [] and not any(folder.rglob("*.jpg"))


def test_a_purge_of_a_copied_project_keeps_the_index_of_the_original(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "copy"
    shutil.copytree(made.root, copied, symlinks=True)
    before = everything(made.root / "mlartifacts")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)  # MLflow sets it to what it was last given
    plan = purge(copied, apply=True)
    assert plan.searches
    assert everything(made.root / "mlartifacts") == before
    left = everything(copied / "mlartifacts")
    gone = sha256_bytes(world.drawn_image(IMAGES - 1))
    assert not [name for name in left if gone in name], left.keys()
    assert [name for name in left if name.endswith(".jpg")]
    assert scan(copied).left == []
