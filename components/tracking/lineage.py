"""Lineage: the steps from a model back to the crawl's snapshot, each verified by digest; nothing is written.

Runs are found by the digest of their output, never by id or name. The run's name must contain the digest, and its records
(manifest, lineage, datasets, parents) must agree. The history of single records is :mod:`components.tracking.explain`.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.addresses import parse_output_name, stage_address
from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.graph import load_graph, read_lock
from components.tracking.lineage_records import Step, locked_lineages, sort_nearest_first, tag, verify_records
from components.tracking.model_runs import MODEL
from components.tracking.record import TAG, connect, dataset_of, run_name

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

REBUILD_HINT = "run `dvc repro -f -s {address}` to make and record it again"


def trace_lineage(root: Path, target: str) -> list[Step]:
    """Return the steps from ``target`` back to the crawl's snapshot, nearest first.

    Args:
        target: ``name@alias`` or ``name/version`` of the registry, the path of a weights file, or a ``dvc.lock`` (all its steps).

    Raises:
        HearsightError: the target is unknown, or a digest does not match; names which, and where.
    """
    walk = LineageWalk(root, connect(root))
    path = Path(target)
    if path.suffix == ".lock":
        return walk.from_lock(path)
    return walk.from_model(target, path)


class LineageWalk:
    """Reads lineages from one MLflow client."""

    def __init__(self, root: Path, client: MlflowClient) -> None:
        self.root, self.client = root, client
        self.experiments = [experiment.experiment_id for experiment in client.search_experiments()]

    def from_model(self, target: str, path: Path) -> list[Step]:
        """Return the steps of a registered version or a weights file."""
        version = self._find_by_weights(path) if path.is_file() else self._find_by_name(target)
        name = f"{version.name}/{version.version}"
        digest, weights = version.tags.get(f"{TAG}output_digest", ""), version.tags.get(f"{TAG}weights_sha256", "")
        if not re.fullmatch("[0-9a-f]{64}", digest):
            raise HearsightError(
                f"the model's tag output_digest is {digest!r}, not a digest", where=name, hint="restore the tag, or train again"
            )
        self._verify_weights(version, name, weights)
        steps = self._trace(digest, f"model {name}")
        # The run of the model, found by its weights; in older stores the run of the stage.
        makers = [*self._finished("weights_sha256", weights), *self._runs("output_digest", digest)]
        if version.run_id not in {run.info.run_id for run in makers}:
            what = f"the model was registered by run {version.run_id[:8]}, which did not make output {digest[:8]}"
            raise HearsightError(what, where=name, hint="train again")
        return [replace(steps[0], model=name), *steps[1:]]

    def _find_by_name(self, target: str) -> Any:
        """Return the registered version; raises HearsightError when it is unknown."""
        from mlflow.exceptions import MlflowException  # here: imports seconds of MLflow

        name, _, alias = target.partition("@")
        try:
            if alias:
                return self.client.get_model_version_by_alias(name, alias)
            name, _, number = target.rpartition("/")
            if name and number.isdigit():
                return self.client.get_model_version(name, number)
        except MlflowException:
            pass
        known = sorted(f"{model.name}@{alias}" for model in self.client.search_registered_models() for alias in model.aliases)
        hint = f"known are: {', '.join(known)}" if known else "run `dvc repro` to train one"
        raise HearsightError("is no registered model, weights file or dvc.lock", where=target, hint=hint)

    def _find_by_weights(self, path: Path) -> Any:
        """Return the newest registered version with these weights; raises HearsightError when there is none."""
        weights = sha256_file(path)
        versions = self.client.search_model_versions(f"tags.`{TAG}weights_sha256` = '{weights}'")
        if not versions:
            raise HearsightError(
                f"no registered model has these weights (sha256 {weights[:12]}…)", where=path, hint="were they changed by hand?"
            )
        return max(versions, key=lambda version: int(version.version))

    def _verify_weights(self, version: Any, name: str, weights: str) -> None:
        """Raise HearsightError unless the model's weights artifact matches its tag."""
        import mlflow  # here: takes seconds

        file_name = version.tags.get(f"{TAG}weights", "")
        with tempfile.TemporaryDirectory() as scratch:
            try:
                folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=f"models:/{name}", dst_path=scratch))
            except Exception as error:  # every store raises its own
                line = " ".join(str(error).split())[:200]
                raise HearsightError(
                    f"the model's files cannot be read ({line})", where=name, hint="restore mlartifacts, or train again"
                ) from None
            digests = [sha256_file(file) for file in sorted(folder.rglob(file_name)) if file.is_file()] if file_name else []
        if weights not in digests:
            actual = digests[0][:12] if digests else "missing"
            what = f"the weights artifact does not match: sha256 {actual}…, tag weights_sha256 {weights[:12]}…"
            raise HearsightError(what, where=name, hint="train again")

    def from_lock(self, path: Path) -> list[Step]:
        """Return the verified step of each output that ``dvc.lock`` locks, nearest first."""
        stages = read_lock(path.read_bytes() if path.is_file() else b"", path)
        outputs = load_graph(self.root).outputs()
        own = {stage_address(dataset, stage) for stage, dataset, _ in outputs}
        # DVC keeps the entries of stages that have been renamed or removed; they count where no other entry locks the output.
        gone = locked_lineages(entry for name, entry in stages.items() if name not in own)
        locked = gone | locked_lineages(entry for name, entry in stages.items() if name in own)
        steps: dict[tuple[str, str], Step] = {}
        for (dataset, stage), sums in locked.items():
            where = f"{path}: reports/lineage/{dataset}/{stage}.json"
            if len(sums) > 1:
                raise HearsightError(
                    "is locked with two different md5 sums", where=where, hint="run `dvc repro` until it is clean"
                )
            md5 = next(iter(sums))
            run = next((run for run in self._candidates(dataset, stage) if tag(run, "lineage_md5") == md5), None)
            if run is None:
                again = REBUILD_HINT.format(address=stage_address(dataset, stage))
                raise HearsightError(f"no finished run made the output of this lineage (md5 {md5[:8]})", where=where, hint=again)
            steps[dataset, stage] = self._step(run, tag(run, "output_digest"))
        self._verify_parents(steps, path)
        return sort_nearest_first(steps.values())

    def _candidates(self, dataset: str, stage: str) -> Iterator[Run]:
        """Yield the finished runs of a stage, first those of the output on disk: usually the one that is locked."""
        manifest = self.root / "data" / dataset / stage / "manifest.json"
        if manifest.is_file():
            runs = self._runs("output_digest", sha256_file(manifest))
            yield from (run for run in runs if (tag(run, "dataset"), tag(run, "stage")) == (dataset, stage))
        yield from (run for run in self._runs("dataset", dataset) if tag(run, "stage") == stage)

    def _verify_parents(self, steps: Mapping[tuple[str, str], Step], path: Path) -> None:
        """Raise HearsightError unless each step was made from the locked outputs."""
        for step in steps.values():
            for parent in step.parents:
                name, _, digest = parent.partition(" ")
                locked = steps.get(parse_output_name(name))
                if locked and locked.digest != digest:
                    what = f"{step.run} was made from {name} {digest[:8]}, not from the locked {locked.digest[:8]}"
                    raise HearsightError(what, where=path, hint="run `dvc repro`")

    def _trace(self, digest: str, child: str) -> list[Step]:
        """Return the steps of an output and of all its ancestors, nearest first."""
        visited: dict[str, Step] = {}
        pending = deque([("", digest, child)])
        while pending:
            name, digest, child = pending.popleft()
            if digest in visited:
                continue
            if name and "/" not in name:
                visited[digest] = Step("", name, digest)
                continue
            runs = self._runs("output_digest", digest)
            if not runs:
                what = name or "the training output"
                hint = REBUILD_HINT.format(address=stage_address(*parse_output_name(name))) if name else "train again"
                raise HearsightError(
                    f"no finished run made {what} {digest[:8]}, which {child} came from", where="mlflow", hint=hint
                )
            step = visited[digest] = self._step(runs[0], digest)
            if name and name != f"{step.dataset}/{step.stage}":
                raise HearsightError(
                    f"{child} names {name} {digest[:8]}, but that was made as {step.dataset}/{step.stage}", where=step.run
                )
            pending.extend((*parent.split(" "), step.run) for parent in step.parents)  # type: ignore[misc]
        return sort_nearest_first(visited.values())

    def _runs(self, tag: str, value: str) -> list[Run]:
        """Return the finished runs of stages with a tag, newest first."""
        return [run for run in self._finished(tag, value) if MODEL not in run.data.tags]

    def _finished(self, tag: str, value: str) -> list[Run]:
        """Return the finished runs with a tag, of stages and models, newest first."""
        query = f"tags.`{TAG}{tag}` = '{value}' and attributes.status = 'FINISHED'"
        return list(self.client.search_runs(self.experiments, query, order_by=["attributes.start_time DESC"]))

    def _step(self, run: Run, digest: str) -> Step:
        """Return the step of a run; raises HearsightError unless its records agree."""
        stage, dataset, name = tag(run, "stage"), tag(run, "dataset"), run.info.run_name
        where = f"run {name} ({run.info.run_id[:8]})"
        if name != (expected := run_name(dataset, stage, digest)):
            raise HearsightError(
                f"its name does not match its output: it should be {expected}", where=where, hint="rename it back"
            )
        parents = [dataset_of(parent) for parent in json.loads(tag(run, "parents") or "[]")]
        logged = {
            (i.dataset.name, json.loads(i.dataset.source)["digest"]) for i in (run.inputs.dataset_inputs if run.inputs else [])
        }
        if logged != set(parents):
            differing = sorted(f"{output} {value[:8]}" for output, value in logged ^ set(parents))
            raise HearsightError(
                f"its tag parents and its datasets do not match: {', '.join(differing)}", where=where, hint="restore the tag"
            )
        verify_records(run, digest, set(parents), where)
        commit = run.data.tags.get("mlflow.source.git.commit", "")
        return Step(
            stage,
            dataset,
            digest,
            run=name,
            run_id=run.info.run_id,
            commit=commit[:12] + ("+" if tag(run, "dirty") == "yes" and commit else ""),
            params=tag(run, "params_sha256"),
            code=tag(run, "code_sha256"),
            flow_run=tag(run, "flow_run"),
            parents=tuple(f"{output} {value}" for output, value in parents),
            on_disk=self._on_disk(dataset, stage, digest),
        )

    def _on_disk(self, dataset: str, stage: str, digest: str) -> str:
        path = self.root / "data" / dataset / stage / "manifest.json"
        if not path.is_file():
            return "absent"
        actual = sha256_file(path)
        if actual == digest:
            return "same"
        # A later run may have written another output; an output of no run was changed by hand.
        if not self._runs("output_digest", actual):
            raise HearsightError(
                f"does not match: sha256 {actual[:12]}…, made by no recorded run (expected {digest[:12]}…)",
                where=path,
                hint=REBUILD_HINT.format(address=stage_address(dataset, stage)),
            )
        return "newer"
