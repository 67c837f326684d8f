"""A project that was moved or copied keeps its MLflow runs and their files, and writes into its own folder only."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from mlflow.tracking._tracking_service import utils

from components.tracking.record import COLUMNS, connect, experiment_id, follow_move
from components.tracking.recorder import record_study


def study(root: Path, name: str) -> str:
    """Log a study with one file and return its run."""
    path = root / f"{name}.txt"
    path.write_text(name)
    run = record_study(root, "pets", name, {}, [], [path])
    assert run
    return run


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


@pytest.mark.long
def test_runs_and_their_files_follow_a_moved_and_a_copied_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    earlier, moved, copied = tmp_path / "my ção", tmp_path / "moved 'here'", tmp_path / "copied"
    earlier.mkdir()
    for name in ("dvc.yaml", "params.yaml"):
        (earlier / name).write_text("{}")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    run = study(earlier, "first")
    earlier.rename(moved)
    second = check(moved, monkeypatch, first=run)
    shutil.copytree(moved, copied)
    before = files(moved)
    check(copied, monkeypatch, first=run, second=second)
    assert files(moved) == before and not earlier.exists()


def check(root: Path, monkeypatch: pytest.MonkeyPatch, **runs: str) -> str:
    """Log one more study, require the files of all runs below the project, and return its run."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)  # MLflow sets it to what it was connected to
    utils._artifact_repos_cache.clear()  # MLflow keeps the folder of a run as long as the process
    new = study(root, f"new-{root.name}")
    client = connect(root)
    for name, run in {**runs, f"new-{root.name}": new}.items():
        folder = Path(unquote(urlsplit(client.get_run(run).info.artifact_uri).path))
        assert folder.is_relative_to(root) and [path.suffix for path in (folder / "files").iterdir()] == [".txt"]
        assert client.list_artifacts(run, "files"), name
    return new


def test_addresses_of_other_folders_and_storage_stay(tmp_path: Path) -> None:
    root = tmp_path / "new"
    old = (tmp_path / "old" / "mlartifacts").as_uri()
    stay = ["s3://bucket/mlflow/pets", "mlflow-artifacts:/1", (tmp_path / "elsewhere" / "pets").as_uri(), f"{old}x/pets"]
    root.mkdir()
    with closing(sqlite3.connect(root / "mlflow.db")) as database, database:
        database.execute("CREATE TABLE experiments (name TEXT, artifact_location TEXT)")
        database.execute("CREATE TABLE runs (artifact_uri TEXT)")
        database.executemany("INSERT INTO experiments VALUES ('pets', ?)", [(f"{old}/pets",), *((where,) for where in stay)])
        database.executemany("INSERT INTO runs VALUES (?)", [(f"{old}/pets/1/artifacts",), *((where,) for where in stay)])
    follow_move(root)
    new = (root / "mlartifacts").as_uri()
    with closing(sqlite3.connect(root / "mlflow.db")) as database:
        assert [row[0] for row in database.execute("SELECT artifact_location FROM experiments")] == [f"{new}/pets", *stay]
        assert [row[0] for row in database.execute("SELECT artifact_uri FROM runs")] == [f"{new}/pets/1/artifacts", *stay]


def test_a_database_that_is_none_is_left_to_mlflow(tmp_path: Path) -> None:
    follow_move(tmp_path)
    (tmp_path / "mlflow.db").write_bytes(b"no database" * 100)
    follow_move(tmp_path)
    assert (tmp_path / "mlflow.db").read_bytes() == b"no database" * 100


@pytest.mark.long
def test_no_other_column_of_the_database_holds_the_projects_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    for name in ("dvc.yaml", "params.yaml"):
        (tmp_path / name).write_text("{}")
    study(tmp_path, "first")
    experiment_id(connect(tmp_path), tmp_path, "pets")
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        holding = {
            (table, column)
            for table in tables
            for (_, column, *_rest) in database.execute(f"PRAGMA table_info({table})")
            if database.execute(f'SELECT 1 FROM "{table}" WHERE instr("{column}", ?)', (str(tmp_path),)).fetchone()
        }
    assert holding <= set(COLUMNS)
