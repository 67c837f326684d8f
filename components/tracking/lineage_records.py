"""The step of a lineage, and the comparison of a run's tags with the records that it logged."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.addresses import parse_output_name
from components.core.digests import digest_value, sha256_bytes
from components.core.errors import HearsightError
from components.tracking.record import TAG, dataset_of

if TYPE_CHECKING:
    from mlflow.entities import Run


@dataclass(frozen=True)
class Step:
    """One output of a lineage: its run, its parents, its code and its parameters."""

    stage: str
    """Empty for an input from outside (a snapshot of the web), which ends the lineage."""
    dataset: str
    digest: str
    run: str = ""
    run_id: str = ""
    commit: str = ""
    """With ``+`` at the end when the working tree had uncommitted changes."""
    params: str = ""
    code: str = ""
    flow_run: str = ""
    parents: tuple[str, ...] = ()
    on_disk: str = ""
    """``same``, ``newer`` (another recorded output is there) or ``absent``."""
    model: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the step as a JSON object without empty fields."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value not in ("", ())
        }


def sort_nearest_first(steps: Iterable[Step]) -> list[Step]:
    """Return the steps so that each precedes its ancestors."""
    steps = list(steps)
    by_digest = {step.digest: step for step in steps}
    depths: dict[str, int] = {}

    def depth(step: Step) -> int:
        if step.digest not in depths:
            parents = (by_digest.get(parent.split(" ")[-1]) for parent in step.parents)
            depths[step.digest] = 1 + max((depth(parent) for parent in parents if parent), default=0)
        return depths[step.digest]

    return sorted(steps, key=lambda step: -depth(step))


def verify_records(run: Run, digest: str, parents: set[tuple[str, str]], where: str) -> None:
    """Raise HearsightError unless the run's logged manifest.json and lineage.json match its tags."""
    import mlflow  # here: takes seconds
    from mlflow.utils.uri import append_to_uri_path

    # By its address, not by the run's id: MLflow would read the run, which this function has, once more.
    records = append_to_uri_path(run.info.artifact_uri, "output")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=records, dst_path=scratch))
            manifest, lineage = (folder / "manifest.json").read_bytes(), json.loads((folder / "lineage.json").read_bytes())
            logged_parents = sorted(dataset_of(parent) for parent in lineage["parents"])
            params_digest, code_digest = digest_value(lineage["params"]), lineage["code_sha256"]
        except Exception as error:  # every store raises its own
            line = " ".join(str(error).split())[:200]
            raise HearsightError(
                f"its copy of the output's records cannot be read ({line})", where=where, hint="run its stage again"
            ) from None
    checks = {
        "output_digest": (digest, sha256_bytes(manifest)),
        "manifest_md5": (tag(run, "manifest_md5"), hashlib.md5(manifest, usedforsecurity=False).hexdigest()),
        "params_sha256": (tag(run, "params_sha256"), params_digest),
        "code_sha256": (tag(run, "code_sha256"), code_digest),
        "parents": (sorted(parents), logged_parents),
    }
    for name, (tagged, logged) in checks.items():
        if tagged != logged:
            what = f"its tag {name} does not match what it logged: {_short(tagged)} and {_short(logged)}"
            raise HearsightError(what, where=where, hint="restore it")


def tag(run: Run, name: str) -> str:
    """Return a tag of Hearsight's; empty when the run has none."""
    return str(run.data.tags.get(f"{TAG}{name}", ""))


def _short(value: object) -> str:
    return f"{value[:12]}…" if isinstance(value, str) else str(value)[:80]


def locked_lineages(entries: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], set[str]]:
    """Return (dataset, stage) → md5 sums of the output's lineage in entries of a ``dvc.lock``."""
    locked: dict[tuple[str, str], set[str]] = {}
    for entry in entries:
        for file in (*entry.get("deps", []), *entry.get("outs", [])):
            if match := re.fullmatch(r"reports/lineage/((?:[^/]+/)+[^/]+)\.json", file["path"]):
                locked.setdefault(parse_output_name(match[1]), set()).add(file["md5"])
    return locked
