"""A spoken set with its search index, in MLflow and in DVC, with an image of a host that is to go."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from components.core.addresses import lineage_path
from components.core.digests import sha256_bytes, sha256_file
from components.core.stage_output import StageOutput
from components.execution.runner import StageResult
from components.tracking.recorder import record_run
from components.web.takedown_list import takedown_row
from tests.support import row
from tests.support.search_index import world
from tests.support.takedown.versions import GONE, STAYS, dvc

IMAGES = 8
"""The last of them is of the host that goes."""
PARENTS = {
    "crawl": {},
    "import_recordings": {"input": "crawl"},
    "extract_features": {"input": "crawl"},
    "finetune_retrieval": {"speech": "import_recordings"},
}


def lineage_of(root: Path, stage: str) -> dict[str, Any]:
    """The stage's lineage, with the parents that the small set's own files leave out."""
    path = lineage_path(root / "data" / "stamps" / stage)
    result: dict[str, Any] = json.loads(path.read_text())
    result["parents"] = result["parents"] or [
        {
            "name": name,
            "output": f"stamps/{parent}",
            "manifest_sha256": sha256_file(root / "data" / "stamps" / parent / "manifest.json"),
        }
        for name, parent in PARENTS[stage].items()
    ]
    path.write_text(json.dumps(result))
    return result


def init(root: Path) -> Path:
    """A git and DVC repository."""
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    dvc(root, "init", "-q")
    return root


def make_index(root: Path, images: int, mark: str = "") -> dict[str, bytes]:
    """The set from the crawl to the index, told to MLflow and kept by DVC; returns the index's files.

    Args:
        mark: the hash of the entry that lists the host; the crawl's ledger has it for the records that it drops.
    """
    for folder in ("data/stamps", "made"):
        shutil.rmtree(root / folder, ignore_errors=True)
    rows = []
    for place in range(images):
        host = GONE if place == IMAGES - 1 else STAYS
        where = {"host": host, "page_url": f"http://{host}/{place}", "image_url": f"http://{host}/{place}.png"}
        sha256 = sha256_bytes(world.drawn_image(place))
        rows += [row("crawl", key=f"{place:02d}{language}", image_sha256=sha256, **where) for language in ("es", "fr")]
    gone = [takedown_row(f"{IMAGES - 1:02d}{language}", mark) for language in ("es", "fr")] if mark else []
    world.output(root, "crawl", rows, {}, {}, gone)
    # Other data would give other weights: a mark, of what is new, gives other scores.
    scores = {"both-100-0": 0.5, "both-100-1": 0.375} if mark else None
    made = world.spoken_set(root, images) | {"input": world.models(root, scores)}
    for stage in PARENTS:
        tell(root, stage, StageOutput(root / "data/stamps" / stage).manifest)
    index = world.run(root, made)
    tell(root, "build_search_index", index.manifest)
    dvc(root, "add", "-q", *(f"data/stamps/{stage}" for stage in (*PARENTS, "build_search_index")))
    for path in (root / "data" / "stamps").glob("*.dvc"):
        path.unlink()  # the project's dvc.yaml names the same outputs
    return {path.relative_to(index.out).as_posix(): path.read_bytes() for path in index.out.rglob("*") if path.is_file()}


def tell(root: Path, stage: str, manifest: Any) -> None:
    out = root / "data" / "stamps" / stage
    assert record_run(StageResult(root, "stamps", stage, out, manifest, lineage_of(root, stage), [], {}))
