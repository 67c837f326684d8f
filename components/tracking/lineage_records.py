"""A step of a lineage, and what its run says of itself, held against the copies of the output's records that it logged."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.digests import digest_value, sha256_bytes
from components.core.errors import HearsightError
from components.tracking.record import TAG, dataset_of

if TYPE_CHECKING:
    from mlflow.entities import Run


@dataclass(frozen=True)
class Step:
    """One step of the way: who made this output, from what, with which code and parameters."""

    stage: str
    """Empty for an input from outside (a snapshot of the web): there the walk ends."""
    dataset: str
    digest: str
    run: str = ""
    run_id: str = ""
    commit: str = ""
    """``+`` at the end: the working tree had changes that are in no commit."""
    params: str = ""
    code: str = ""
    flow_run: str = ""
    parents: tuple[str, ...] = ()
    on_disk: str = ""
    """``same``, ``newer`` (another recorded output lies there now) or ``absent``."""
    model: str = ""

    def plain(self) -> dict[str, Any]:
        """As a flat JSON-able line."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value not in ("", ())
        }


def nearest_first(steps: Iterable[Step]) -> list[Step]:
    """The steps so that each comes before all that it was made from."""
    told = list(steps)
    by_digest = {step.digest: step for step in told}
    depths: dict[str, int] = {}

    def depth(step: Step) -> int:
        if step.digest not in depths:
            made_from = (by_digest.get(parent.split(" ")[-1]) for parent in step.parents)
            depths[step.digest] = 1 + max((depth(other) for other in made_from if other), default=0)
        return depths[step.digest]

    return sorted(told, key=lambda step: -depth(step))


def verify_records(run: Run, digest: str, parents: set[tuple[str, str]], where: str) -> None:
    """The run's own copies of manifest.json and lineage.json against its tags."""
    import mlflow

    with tempfile.TemporaryDirectory() as scratch:
        try:
            folder = Path(mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="output", dst_path=scratch))
            manifest, told = (folder / "manifest.json").read_bytes(), json.loads((folder / "lineage.json").read_bytes())
        except Exception as error:  # every store raises its own
            line = " ".join(str(error).split())[:200]
            raise HearsightError(
                f"its copy of the output's records cannot be read ({line})", where=where, hint="run its stage again"
            ) from None
    checks = {
        "output_digest": (digest, sha256_bytes(manifest)),
        "manifest_md5": (tag(run, "manifest_md5"), hashlib.md5(manifest, usedforsecurity=False).hexdigest()),
        "params_sha256": (tag(run, "params_sha256"), digest_value(told["params"])),
        "code_sha256": (tag(run, "code_sha256"), told["code_sha256"]),
        "parents": (sorted(parents), sorted(dataset_of(parent) for parent in told["parents"])),
    }
    for name, (said, found) in checks.items():
        if said != found:
            raise HearsightError(
                f"its tag {name} does not match what it logged: {_short(said)} and {_short(found)}",
                where=where,
                hint="restore it",
            )


def tag(run: Run, name: str) -> str:
    return str(run.data.tags.get(f"{TAG}{name}", ""))


def _short(value: object) -> str:
    return f"{value[:12]}…" if isinstance(value, str) else str(value)[:80]
