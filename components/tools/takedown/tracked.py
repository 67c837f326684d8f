"""Find and clear removed records in MLflow: artefacts of older runs, addresses in parameters, and tainted models.

A run is **older** when its output's digest is not one of the current chain. Logged files of older runs that descend from a
tainted output are deleted; parameters and ``lineage.json`` lose only the listed addresses, so that ``hearsight lineage``
still works. Weights stay: the model is reported and tagged ``hearsight.tainted``.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from components.core.digests import canonical_json, digest_value
from components.core.records import MODEL_STAGES
from components.stages.crawl.sources.inputs import INPUTS_FILE, digest_with_files
from components.tools.takedown.caches import compact_database
from components.tools.takedown.evidence import list_snapshots
from components.tools.takedown.file_search import FileSearch, iterate_cells
from components.tracking.lineage_records import tag
from components.tracking.record import TAG, connect, dataset_of, tracking_uri
from components.web.takedown_journal import read_removals

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

TAINTED = f"{TAG}tainted"
YES, MAYBE = "yes", "maybe"
"""Grades of a tainted model: trained on a removed record; trained on a snapshot that held one, or perhaps from such a model."""
LINEAGE = "output/lineage.json"
"""A run's artefact that is redacted instead of deleted."""


@dataclass(frozen=True)
class Artefact:
    """One logged file to delete, or to redact."""

    run: Run
    path: str
    redact: bool

    @property
    def name(self) -> str:
        return f"mlflow run {self.run.info.run_name} ({self.run.info.run_id[:8]}): {self.path}"


def iterate_pages(search: Callable[..., Any]) -> Iterator[Any]:
    """Yield the results of one of MLflow's paged searches."""
    token = None
    while True:
        page = search(page_token=token)
        yield from page
        if not (token := page.token):
            return


class Tracker:
    """The project's MLflow: a server, or the SQLite database ``mlflow.db``."""

    def __init__(self, root: Path) -> None:
        self.root, self.uri = root, tracking_uri(root)
        self.client: MlflowClient = connect(root)
        experiments = [experiment.experiment_id for experiment in self.client.search_experiments()]
        self.runs: list[Run] = [
            run
            for experiment in experiments
            for run in iterate_pages(partial(self.client.search_runs, [experiment], max_results=1000))
        ]

    @staticmethod
    def exists(root: Path) -> bool:
        """Return whether the environment names a server, or the project has a database."""
        return not tracking_uri(root).startswith("sqlite:") or (root / "mlflow.db").exists()

    @property
    def database(self) -> Path | None:
        """The SQLite file; None for a server."""
        return Path(self.uri.removeprefix("sqlite:///")) if self.uri.startswith("sqlite:") else None

    def add_descendants(self, digests: Collection[str]) -> set[str]:
        """Return ``digests`` and the digests of all outputs made from them, by the runs' parents."""
        descendants, more = set(digests), set(digests)
        while more:
            more = {tag(run, "output_digest") for run in self.runs if _parents(run) & more} - descendants - {""}
            descendants |= more
        return descendants

    def find_maybe_tainted(self) -> set[str]:
        """Return the digests of outputs made from a snapshot before something was removed from it."""
        before: set[str] = set()
        for folder in list_snapshots(self.root):
            digests = {removal["before"] for removal in read_removals(folder)}
            before |= digests
            if digests and (folder / INPUTS_FILE).exists():
                files = json.loads((folder / INPUTS_FILE).read_bytes())["files"]
                before |= {digest_with_files(digest, files) for digest in digests}
        return self.add_descendants(before) - before

    def owns(self, uri: str) -> bool:
        """Return whether an artefact address is in this project: addresses are absolute, and a copy names the original's."""
        address = urlsplit(uri)
        if self.database is None or address.scheme not in ("", "file"):
            return True
        folder = Path(unquote(address.path)).resolve()
        return any(folder.is_relative_to(parent) for parent in (self.root.resolve(), self.database.resolve().parent))

    # -- artefacts -------------------------------------------------------------------------------------------------

    def find_artefacts(self, search: FileSearch, tainted: Collection[str], current: Collection[str]) -> Iterator[Artefact]:
        """Yield the logged files that hold something removed, or that older runs with a ``tainted`` output logged."""
        with tempfile.TemporaryDirectory() as scratch:
            for run in (run for run in self.runs if self.owns(run.info.artifact_uri)):
                digest = tag(run, "output_digest")
                older = digest in tainted and digest not in current and tag(run, "stage") not in MODEL_STAGES
                for path in self._files(run.info.run_id, ""):
                    if older and not path.startswith("output/"):
                        yield Artefact(run, path, redact=False)
                    elif search.in_file(Path(self.client.download_artifacts(run.info.run_id, path, scratch))):
                        yield Artefact(run, path, redact=path == LINEAGE)

    def _files(self, run_id: str, folder: str) -> Iterator[str]:
        for item in self.client.list_artifacts(run_id, folder or None):
            if item.is_dir:
                yield from self._files(run_id, item.path)
            else:
                yield item.path

    def clear_artefact(self, artefact: Artefact, search: FileSearch) -> None:
        """Delete an artefact, or replace it by a redacted copy and update the tag with its parameters' digest."""
        # MLflow takes seconds to import.
        from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

        run_id = artefact.run.info.run_id
        with tempfile.TemporaryDirectory() as scratch:
            local = Path(self.client.download_artifacts(run_id, artefact.path, scratch)) if artefact.redact else None
            lineage = _redacted(local, search) if local else None
            get_artifact_repository(artefact.run.info.artifact_uri).delete_artifacts(artefact.path)
            if lineage is not None and local is not None:
                lineage["params_sha256"] = digest_value(lineage["params"])
                copy = Path(scratch) / "redacted" / local.name
                copy.parent.mkdir()
                copy.write_text(canonical_json(lineage), encoding="utf-8")
                self.client.log_artifact(run_id, str(copy), artefact.path.rpartition("/")[0])
                self.client.set_tag(run_id, f"{TAG}params_sha256", lineage["params_sha256"])

    # -- the database ----------------------------------------------------------------------------------------------

    def count_addresses(self, search: FileSearch) -> dict[str, int]:
        """Return how many values name something listed, by ``table.column``, or by run and name for a server."""
        counts: dict[str, int] = {}
        if self.database is None:
            for run in self.runs:
                for name, value in [*run.data.params.items(), *run.data.tags.items()]:
                    if search.matcher.find_in_text(value, digests=False):
                        counts[f"run {run.info.run_id[:8]}, {name}"] = 1
            return counts
        with closing(sqlite3.connect(self.database, timeout=120)) as base:
            for table, column, _ in _listed_cells(base, search):
                counts[f"{table}.{column}"] = counts.get(f"{table}.{column}", 0) + 1
        return counts

    def redact_database(self, search: FileSearch) -> None:
        """Replace the listed addresses in the SQLite database, since MLflow's client cannot change a parameter."""
        assert self.database is not None
        with closing(sqlite3.connect(self.database, timeout=120)) as base:
            base.execute("PRAGMA secure_delete = ON")
            for table, column, value in list(_listed_cells(base, search)):
                redacted = search.matcher.redact(value)
                base.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE "{column}" = ?', (redacted, value))
            compact_database(base)

    # -- models ----------------------------------------------------------------------------------------------------

    def find_tainted_models(self, tainted: Collection[str], maybe_tainted: Collection[str]) -> dict[tuple[str, str], str]:
        """Return the registered versions trained on a removed record: (name, version) → ``yes`` or ``maybe``.

        Args:
            tainted: digests of outputs that hold a removed record.
            maybe_tainted: digests of outputs made from a snapshot that held it; the record may have been filtered out.
        """
        return {
            (version.name, str(version.version)): grade
            for version in self.list_versions()
            if (grade := version.tags.get(TAINTED) or self.grade(version, tainted, maybe_tainted))
        }

    def grade(self, version: Any, tainted: Collection[str], maybe_tainted: Collection[str]) -> str:
        """Return the grade of a registered version by its lineage; '' if it is not tainted. For the arguments see above."""
        # An output can have models that start from another one, and models that do not.
        for models, grade in ((False, YES), (True, MAYBE)):
            steps = self._lineage(version, models=models)
            digests = {digest for _, digest in steps}
            splits = {digest for stage, digest in steps if stage == "split"} or digests
            if splits & set(tainted):
                return grade
        return MAYBE if digests & set(maybe_tainted) else ""

    def tag_model(self, name: str, version: str, grade: str) -> None:
        """Tag a registered version with its grade."""
        if self.client.get_model_version(name, version).tags.get(TAINTED) != grade:
            self.client.set_model_version_tag(name, version, TAINTED, grade)

    def list_versions(self) -> Iterator[Any]:
        """Yield the versions of all registered models."""
        for model in iterate_pages(self.client.search_registered_models):
            yield from self.client.search_model_versions(f"name = '{model.name}'")

    def _lineage(self, version: Any, *, models: bool) -> set[tuple[str, str]]:
        """Return (stage, digest) of the steps behind a version, by the runs' parents; without ``models``, not those of others."""
        own = version.tags.get(f"{TAG}output_digest", "")
        pending, steps = {own} - {""}, set[tuple[str, str]]()
        while pending:
            runs = [run for run in self.runs if tag(run, "output_digest") in pending]
            runs = [run for run in runs if models or tag(run, "output_digest") == own or tag(run, "stage") not in MODEL_STAGES]
            new = {(tag(run, "stage"), tag(run, "output_digest")) for run in runs} - steps
            steps |= new
            pending = {parent for run in runs for parent in _parents(run)} - {digest for _, digest in steps} - {""}
        return steps


def _redacted(path: Path, search: FileSearch) -> dict[str, Any] | None:
    """Return a lineage file's content without listed addresses; None when it is damaged, so that it is deleted."""
    try:
        content = json.loads(search.matcher.redact(path.read_text(encoding="utf-8")))
    except ValueError:
        return None
    return content if isinstance(content, dict) and "params" in content else None


def _listed_cells(base: sqlite3.Connection, search: FileSearch) -> Iterator[tuple[str, str, str]]:
    for table, column, value in iterate_cells(base):
        if isinstance(value, str) and search.matcher.find_in_text(value, digests=False):
            yield table, column, value


def _parents(run: Run) -> set[str]:
    """Return the digests of the outputs that a run read."""
    return {dataset_of(parent)[1] for parent in json.loads(tag(run, "parents") or "[]")}
