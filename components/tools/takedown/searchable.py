"""Find and delete search indexes in MLflow that were made from something removed.

Unlike weights, a search index (``tracking.models``) holds images and captions. It is deleted when it is **older** (its output's
digest is not one of the current chain) and its output descends from a tainted one, or its files hold something removed. MLflow
only hides a deleted LoggedModel, so one whose files still exist counts too.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from components.tools.takedown.file_search import FileSearch
from components.tools.takedown.tracked import MAYBE, TAINTED, YES, Tracker, iterate_pages
from components.tracking.models import KIND
from components.tracking.record import TAG

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion

DELETED = """
SELECT m.model_id, m.artifact_location, t.tag_key, t.tag_value FROM logged_models m
LEFT JOIN logged_model_tags t ON t.model_id = m.model_id WHERE m.lifecycle_stage = 'deleted' AND m.model_type = ?
"""


@dataclass(frozen=True)
class SearchModel:
    """One search index in MLflow."""

    model_id: str
    """The LoggedModel's id; empty where only a version in the registry is left."""
    address: str
    """Location of its files; empty where there are none."""
    digest: str
    """Digest of the index's output."""
    versions: tuple[tuple[str, str], ...] = ()
    """(name, version) in the registry."""
    tainted: str = ""
    """The grade that an earlier purge tagged it with."""
    deleted: bool = False
    """Whether the LoggedModel was deleted in MLflow."""

    @property
    def name(self) -> str:
        versions = ", ".join("/".join(version) for version in self.versions) or "not registered"
        return f"mlflow search model {versions} ({self.model_id or 'no logged model'})"


def find_tainted(
    tracker: Tracker, search: FileSearch, tainted: Collection[str], maybe_tainted: Collection[str], current: Collection[str]
) -> dict[SearchModel, str]:
    """Return the search models to delete → ``yes``, or ``maybe`` where only the snapshot is known to have held a removed item.

    Args:
        tainted: digests of outputs that hold something removed.
        maybe_tainted: digests of outputs made from a snapshot that held it.
        current: digests of the outputs of the current chain, which stay.
    """
    grades, descendants = {}, tracker.add_descendants(tainted)
    for model in _all(tracker):
        if model.digest in current:
            continue
        if grade := model.tainted or (YES if model.digest in descendants else MAYBE if model.digest in maybe_tainted else ""):
            grades[model] = grade
        elif _has_hits(model, search):
            grades[model] = YES
    return grades


def tag_search_model(tracker: Tracker, model: SearchModel, grade: str) -> None:
    """Tag a model before its deletion, so that the next purge finishes one that was interrupted."""
    if model.model_id and not model.deleted:
        tracker.client.set_logged_model_tags(model.model_id, {TAINTED: grade})
    for name, version in model.versions:
        tracker.tag_model(name, version, grade)


def delete_search_model(tracker: Tracker, model: SearchModel) -> None:
    """Delete files, versions and, last, the LoggedModel, by which a next purge finds what is left."""
    if model.address:
        # MLflow takes seconds to import.
        from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

        get_artifact_repository(model.address).delete_artifacts()
    for name, version in model.versions:
        tracker.client.delete_model_version(name, version)
    if model.model_id and not model.deleted:
        tracker.client.delete_logged_model(model.model_id)


def _all(tracker: Tracker) -> list[SearchModel]:
    """Return every search model: logged, deleted with files left, or in the registry only."""
    versions: dict[str, list[ModelVersion]] = defaultdict(list)
    for version in tracker.list_versions(KIND):
        model_id = version.model_id or str(version.source).removeprefix("models:/").partition("/")[0]
        versions[model_id].append(version)
    models = [
        _model(model_id, address, tags, versions.pop(model_id, []), deleted)
        for model_id, address, tags, deleted in [*_logged(tracker), *_deleted(tracker)]
    ]
    models += [_model("", "", {}, registered, False) for registered in versions.values()]
    return [model for model in models if not model.address or tracker.owns(model.address)]


def _model(model_id: str, address: str, tags: dict[str, str], versions: list[ModelVersion], deleted: bool) -> SearchModel:
    all_tags = [tags, *(version.tags for version in versions)]
    digest, grade = (next((tags[name] for tags in all_tags if tags.get(name)), "") for name in (f"{TAG}output_digest", TAINTED))
    names = tuple(sorted((version.name, str(version.version)) for version in versions))
    return SearchModel(model_id, address, digest, names, grade, deleted)


def _logged(tracker: Tracker) -> Iterator[tuple[str, str, dict[str, str], bool]]:
    experiments = [experiment.experiment_id for experiment in tracker.client.search_experiments()]
    search = partial(tracker.client.search_logged_models, experiments, max_results=100)
    for model in iterate_pages(search) if experiments else ():
        if model.model_type == KIND:
            yield model.model_id, model.artifact_location, dict(model.tags or {}), False


def _deleted(tracker: Tracker) -> Iterator[tuple[str, str, dict[str, str], bool]]:
    """Yield deleted models whose files still exist; MLflow's client does not list them, only the SQLite database does."""
    if tracker.database is None:
        return
    tags_by_model: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    with closing(sqlite3.connect(tracker.database, timeout=120)) as base:
        rows: list[tuple[str, str, Any, Any]] = base.execute(DELETED, (KIND,)).fetchall()
    for model_id, address, name, value in rows:
        tags_by_model[model_id, address][name] = value
    for (model_id, address), tags in tags_by_model.items():
        url = urlsplit(address)
        if url.scheme in ("", "file") and any(Path(unquote(url.path)).glob("*")):
            yield model_id, address, tags, True


def _has_hits(model: SearchModel, search: FileSearch) -> bool:
    """Return whether one of the model's files holds something removed; false when they do not exist."""
    # MLflow takes seconds to import.
    from mlflow.exceptions import MlflowException
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    if not model.address:
        return False
    with tempfile.TemporaryDirectory() as scratch:
        try:
            folder = Path(get_artifact_repository(model.address).download_artifacts("", scratch))
        except (MlflowException, OSError):
            return False
        return search.has_hits(folder)
