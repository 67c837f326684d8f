"""What MLflow keeps: artefacts of older runs, addresses in parameters, and models that saw what was removed.

Runs are told apart by digests: a run is **older** when its output's digest is not that of the current chain. An older run whose
output came from a tainted one loses the files it logged; its parameters and its copy of ``lineage.json`` keep everything but the
listed addresses, so that lineage still walks. Weights stay: what to do with a model is its owner's decision, so it is listed
and tagged ``hearsight.tainted``. Search indexes, which hold pictures, are ``searchable``'s.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from components.core.digests import canonical_json, digest_value
from components.core.errors import HearsightError
from components.core.records import MODEL_STAGES
from components.tools.takedown.caches import clean
from components.tools.takedown.file_search import Seeker, cells
from components.tracking.lineage import LineageWalk
from components.tracking.lineage_records import tag
from components.tracking.record import TAG, connect, dataset_of, tracking_uri
from components.tracking.search_models import KIND

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

TAINTED = f"{TAG}tainted"
SAW, MAY = "yes", "maybe"
TOLD = "output/lineage.json"


@dataclass(frozen=True)
class Artefact:
    """One logged file that goes (``redact`` false) or loses its addresses."""

    run: Run
    path: str
    redact: bool

    @property
    def name(self) -> str:
        return f"mlflow run {self.run.info.run_name} ({self.run.info.run_id[:8]}): {self.path}"


class Tracker:
    """The project's MLflow."""

    def __init__(self, root: Path) -> None:
        self.root, self.uri = root, tracking_uri(root)
        self.client: MlflowClient = connect(root)
        experiments = [experiment.experiment_id for experiment in self.client.search_experiments()]
        self.runs = [run for experiment in experiments for run in self._all(experiment)]

    @staticmethod
    def there(root: Path) -> bool:
        """Whether there is anything to ask: a server named by the environment, or the project's own database."""
        return not tracking_uri(root).startswith("sqlite:") or (root / "mlflow.db").exists()

    @property
    def database(self) -> Path | None:
        """The SQLite file, where the tracker is one."""
        return Path(self.uri.removeprefix("sqlite:///")) if self.uri.startswith("sqlite:") else None

    def _all(self, experiment: str) -> Iterator[Run]:
        token = None
        while True:
            page = self.client.search_runs([experiment], max_results=1000, page_token=token)
            yield from page
            if not (token := page.token):
                return

    def descendants(self, digests: Collection[str]) -> set[str]:
        """``digests`` and those of every output that came from one of them, by the runs' parents."""
        found = set(digests)
        while True:
            more = (
                {
                    tag(run, "output_digest")
                    for run in self.runs
                    if any(dataset_of(parent)[1] in found for parent in json.loads(tag(run, "parents") or "[]"))
                }
                - found
                - {""}
            )
            if not more:
                return found
            found |= more

    def foreign(self, uri: str) -> Path | None:
        """The folder that artefacts' address names when it lies neither in this project nor beside the SQLite database.

        Artefact addresses are absolute: in a copied project they still lead into the one it was copied from.
        """
        address = urlsplit(uri)
        if self.database is None or address.scheme not in ("", "file"):
            return None
        folder = Path(unquote(address.path)).resolve()
        ours = (self.root.resolve(), self.database.resolve().parent)
        return None if any(folder.is_relative_to(home) for home in ours) else folder

    # -- artefacts -------------------------------------------------------------------------------------------------

    def artefacts(self, seeker: Seeker, tainted: Collection[str], current: Collection[str]) -> Iterator[Artefact]:
        """The logged files that hold something removed, or were made from what did."""
        with tempfile.TemporaryDirectory() as scratch:
            for run in self.runs:
                digest = tag(run, "output_digest")
                older = digest in tainted and digest not in current and tag(run, "stage") not in MODEL_STAGES
                for path in self._files(run.info.run_id, ""):
                    if older and not path.startswith("output/"):
                        yield Artefact(run, path, redact=False)
                    elif seeker.file(Path(self.client.download_artifacts(run.info.run_id, path, scratch))).hits:
                        yield Artefact(run, path, redact=path == TOLD)

    def _files(self, run_id: str, folder: str) -> Iterator[str]:
        for item in self.client.list_artifacts(run_id, folder or None):
            if item.is_dir:
                yield from self._files(run_id, item.path)
            else:
                yield item.path

    def clear(self, artefact: Artefact, seeker: Seeker) -> None:
        """Remove an artefact, or log it again without the listed addresses and fix the tag that speaks of it."""
        from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

        run_id = artefact.run.info.run_id
        with tempfile.TemporaryDirectory() as scratch:
            local = Path(self.client.download_artifacts(run_id, artefact.path, scratch)) if artefact.redact else None
            told = json.loads(seeker.wanted.redact(local.read_text(encoding="utf-8"))) if local else None
            if folder := self.foreign(artefact.run.info.artifact_uri):
                raise HearsightError("lies outside of this project", where=folder, hint="purge in the project it belongs to")
            get_artifact_repository(artefact.run.info.artifact_uri).delete_artifacts(artefact.path)
            if told is not None and local is not None:
                told["params_sha256"] = digest_value(told["params"])
                copy = Path(scratch) / "made" / local.name
                copy.parent.mkdir()
                copy.write_text(canonical_json(told), encoding="utf-8")
                self.client.log_artifact(run_id, str(copy), artefact.path.rpartition("/")[0])
                self.client.set_tag(run_id, f"{TAG}params_sha256", told["params_sha256"])

    # -- the database ----------------------------------------------------------------------------------------------

    def places(self, seeker: Seeker) -> dict[str, int]:
        """Where the database names something listed: ``table.column`` → values."""
        found: dict[str, int] = {}
        if self.database is None:
            for run in self.runs:
                for name, value in [*run.data.params.items(), *run.data.tags.items()]:
                    if seeker.wanted.in_text(value, digests=False):
                        found[f"run {run.info.run_id[:8]}, {name}"] = 1
            return found
        with closing(sqlite3.connect(self.database, timeout=120)) as base:
            for table, column, value in cells(base):
                if isinstance(value, str) and seeker.wanted.in_text(value, digests=False):
                    found[f"{table}.{column}"] = found.get(f"{table}.{column}", 0) + 1
        return found

    def redact(self, seeker: Seeker) -> None:
        """Replace the listed addresses in an SQLite tracker; MLflow itself lets no parameter be changed."""
        assert self.database is not None
        with closing(sqlite3.connect(self.database, timeout=120)) as base:
            base.execute("PRAGMA secure_delete = ON")
            changes = [
                (table, column, seeker.wanted.redact(value), value)
                for table, column, value in cells(base)
                if isinstance(value, str) and seeker.wanted.in_text(value, digests=False)
            ]
            for table, column, new, old in changes:
                base.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE "{column}" = ?', (new, old))
            clean(base)

    # -- models ----------------------------------------------------------------------------------------------------

    def models(self, held: Collection[str], maybe: Collection[str]) -> dict[tuple[str, str], str]:
        """Registered versions that saw a removed record, but for search indexes: (name, version) → ``yes`` or ``maybe``.

        Args:
            held: digests of outputs in which a removed record was found.
            maybe: digests of outputs that came from a snapshot it was in: whether the record passed every filter is not known.
        """
        found: dict[tuple[str, str], str] = {}
        for version in self.versions():
            name = (version.name, str(version.version))
            if marked := version.tags.get(TAINTED):
                found[name] = marked
                continue
            steps = self._walk(version)
            splits = {digest for stage, digest in steps if stage == "split"} or {digest for _, digest in steps}
            if splits & set(held):
                found[name] = SAW
            elif {digest for _, digest in steps} & set(maybe):
                found[name] = MAY
        return found

    def mark(self, name: str, version: str, grade: str) -> None:
        """Tag a version, and the LoggedModel behind it where there is one."""
        if self.client.get_model_version(name, version).tags.get(TAINTED) != grade:
            self.client.set_model_version_tag(name, version, TAINTED, grade)

    def versions(self, kind: str = "") -> Iterator[Any]:
        """The registry's versions of models of a kind; without one, of all but search indexes."""
        token = None
        while True:
            page = self.client.search_registered_models(page_token=token)
            for model in page:
                told = model.tags.get(f"{TAG}kind", "")
                if told == kind if kind else told != KIND:
                    yield from self.client.search_model_versions(f"name = '{model.name}'")
            if not (token := page.token):
                return

    def _walk(self, version: Any) -> set[tuple[str, str]]:
        """The steps behind a version by digests; where lineage refuses, what the runs' own parents say."""
        try:
            return {
                (s.stage, s.digest)
                for s in LineageWalk(self.root, self.client).from_model(f"{version.name}/{version.version}", Path("-"))
            }
        except HearsightError:
            ahead, seen = [version.tags.get(f"{TAG}output_digest", "")], set[tuple[str, str]]()
            while ahead:
                digest = ahead.pop()
                for run in self.runs:
                    if digest and tag(run, "output_digest") == digest and (tag(run, "stage"), digest) not in seen:
                        seen.add((tag(run, "stage"), digest))
                        ahead += [dataset_of(parent)[1] for parent in json.loads(tag(run, "parents") or "[]")]
            return seen
