"""Search indexes that MLflow serves: unlike weights they hold pictures and captions, so those made of something removed go.

Such a model is a LoggedModel of type ``search`` with versions in the registry (``core.tracking_search``). No run has its files:
they lie under the LoggedModel's own address. It goes when it is **older** (its output's digest is not that of the current
chain) and its output came from a tainted one, or its files hold something removed. One that somebody deleted in MLflow counts for
as long as its files lie there: MLflow only hides it.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from components.core.errors import HearsightError
from components.tools.takedown.file_search import Seeker
from components.tools.takedown.tracked import MAY, SAW, TAINTED, Tracker
from components.tracking.record import TAG
from components.tracking.search_models import KIND

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
    """The LoggedModel's; empty where only a version of the registry is left."""
    address: str
    """Where its files lie; empty where they are gone."""
    digest: str
    """The index output's."""
    versions: tuple[tuple[str, str], ...] = ()
    """(name, version) in the registry."""
    mark: str = ""
    """What an earlier purge tagged it with."""
    hidden: bool = False
    """Whether somebody deleted the LoggedModel."""

    @property
    def name(self) -> str:
        told = ", ".join("/".join(version) for version in self.versions) or "not registered"
        return f"mlflow search model {told} ({self.model_id or 'no logged model'})"


def tainted(
    tracker: Tracker, seeker: Seeker, held: Collection[str], maybe: Collection[str], current: Collection[str]
) -> dict[SearchModel, str]:
    """The search models that go → ``yes``, or ``maybe`` where only the snapshot is known to have held what was removed.

    Args:
        held: digests of outputs in which something removed was found.
        maybe: digests of outputs that came from a snapshot it was in.
        current: digests of the outputs of the current chain, which stay.
    """
    found, saw = {}, tracker.descendants(held)
    for model in _all(tracker):
        if model.digest in current:
            continue
        if grade := model.mark or (SAW if model.digest in saw else MAY if model.digest in maybe else ""):
            found[model] = grade
        elif _holds(model, seeker):
            found[model] = SAW
    return found


def mark(tracker: Tracker, model: SearchModel, grade: str) -> None:
    """Tag what goes, so that a purge that is cut off after the evidence went still knows it."""
    if model.model_id and not model.hidden:
        tracker.client.set_logged_model_tags(model.model_id, {TAINTED: grade})
    for name, version in model.versions:
        tracker.mark(name, version, grade)


def remove(tracker: Tracker, model: SearchModel) -> None:
    """Remove files, versions and LoggedModel; the last one last, for by it a next purge finds what is left.

    Raises:
        HearsightError: its files lie in another project.
    """
    if folder := foreign(tracker, model):
        raise HearsightError("lies outside of this project", where=folder, hint="purge in the project it belongs to")
    if model.address:
        from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

        get_artifact_repository(model.address).delete_artifacts()
    for name, version in model.versions:
        tracker.client.delete_model_version(name, version)
    if model.model_id and not model.hidden:
        tracker.client.delete_logged_model(model.model_id)


def foreign(tracker: Tracker, model: SearchModel) -> Path | None:
    """The folder of its files where they lie in another project (see :meth:`Tracker.foreign`)."""
    folder = tracker.foreign(model.address) if model.address else None
    return folder if folder and folder.exists() else None


def _all(tracker: Tracker) -> list[SearchModel]:
    """Every search model: logged, deleted but still with files, or left in the registry alone."""
    versions: dict[str, list[ModelVersion]] = defaultdict(list)
    for version in tracker.versions(KIND):
        model_id = version.model_id or str(version.source).removeprefix("models:/").partition("/")[0]
        versions[model_id].append(version)
    found = []
    for model_id, address, tags, hidden in [*_logged(tracker), *_hidden(tracker)]:
        found.append(_model(model_id, address, tags, versions.pop(model_id, []), hidden))
    return [*found, *(_model("", "", {}, several, False) for several in versions.values())]


def _model(model_id: str, address: str, tags: dict[str, str], versions: list[ModelVersion], hidden: bool) -> SearchModel:
    several = [tags, *(version.tags for version in versions)]
    digest, marked = (next((told[name] for told in several if told.get(name)), "") for name in (f"{TAG}output_digest", TAINTED))
    named = tuple(sorted((version.name, str(version.version)) for version in versions))
    return SearchModel(model_id, address, digest, named, marked, hidden)


def _logged(tracker: Tracker) -> Iterator[tuple[str, str, dict[str, str], bool]]:
    experiments = [experiment.experiment_id for experiment in tracker.client.search_experiments()]
    token = None
    while experiments:
        page = tracker.client.search_logged_models(experiments, max_results=100, page_token=token)
        for model in page:
            if model.model_type == KIND:
                yield model.model_id, model.artifact_location, dict(model.tags or {}), False
        if not (token := page.token):
            return


def _hidden(tracker: Tracker) -> Iterator[tuple[str, str, dict[str, str], bool]]:
    """Deleted ones whose files still lie in a folder; no client lists them, so only an SQLite tracker tells."""
    if tracker.database is None:
        return
    told: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    with closing(sqlite3.connect(tracker.database, timeout=120)) as base:
        rows: list[tuple[str, str, Any, Any]] = base.execute(DELETED, (KIND,)).fetchall()
    for model_id, address, name, value in rows:
        told[model_id, address][name] = value
    for (model_id, address), tags in told.items():
        where = urlsplit(address)
        if where.scheme in ("", "file") and any(Path(unquote(where.path)).glob("*")):
            yield model_id, address, tags, True


def _holds(model: SearchModel, seeker: Seeker) -> bool:
    """Whether a file of it holds something removed; files that are not there hold nothing."""
    from mlflow.exceptions import MlflowException
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    if not model.address:
        return False
    with tempfile.TemporaryDirectory() as scratch:
        try:
            folder = Path(get_artifact_repository(model.address).download_artifacts("", scratch))
        except (MlflowException, OSError):
            return False
        return any(seeker.file(path).hits for path in sorted(folder.rglob("*")) if path.is_file())
