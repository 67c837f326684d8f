"""Addresses of files in the project's own MLflow database, which MLflow stores as absolute paths."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

COLUMNS = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "source"),
    ("model_versions", "storage_location"),
)
"""Columns of the database that may hold the address of a local file."""
FOLDER = "mlartifacts"


def follow_move(root: Path) -> None:
    """Let the database of a project that was moved or copied name the files of this folder instead of the earlier one.

    Where the earlier folder still has files that this one lacks, only the experiments follow: new files belong here. A database
    that cannot be read is left to MLflow, which says why.
    """
    database, folder = root.resolve() / "mlflow.db", root.resolve() / FOLDER
    if not database.is_file():
        return
    try:
        with closing(sqlite3.connect(database, timeout=60)) as connection, connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            known = [(table, column) for table, column in COLUMNS if table in tables]
            rows = connection.execute("SELECT name, artifact_location FROM experiments") if known else ()
            for earlier in sorted({_base(*row) for row in rows} - {"", folder.as_uri()}):
                for table, column in known if _is_here(earlier, folder) else known[:1]:
                    connection.execute(
                        f"UPDATE {table} SET {column} = ? || substr({column}, ?) WHERE substr({column}, 1, ?) = ?",
                        (f"{folder.as_uri()}/", len(earlier) + 2, len(earlier) + 1, f"{earlier}/"),
                    )
    except sqlite3.Error:
        return


def _base(experiment: str, location: str | None) -> str:
    """Return the address of the folder that holds an experiment's folder; '' for other storage and MLflow's own experiment."""
    end = f"/{quote(experiment)}"
    base = (location or "").removesuffix(end)
    local = base.startswith("file:") and base.endswith(f"/{FOLDER}")
    return base if local and base != location else ""


def _is_here(earlier: str, folder: Path) -> bool:
    """Return whether the files at an earlier address are here now, or are nowhere."""
    old = Path(unquote(urlsplit(earlier).path))
    return not old.is_dir() or (
        folder.is_dir() and {path.name for path in old.iterdir()} <= {path.name for path in folder.iterdir()}
    )
