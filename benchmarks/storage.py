"""``python -m benchmarks.storage``: `dvc repro` with nothing to do over all stages, with 100 GB of shards in S3.

Makes a project with the graph of this one whose outputs are manifests of that size; no server takes part, since DVC versions the
manifests alone. Prints CPU seconds and seconds, medians of five, for small manifests and for those of 100 GB.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import yaml

from benchmarks.harness import cpu_and_wall, project, show
from components.core.manifest import Manifest, ShardEntry
from components.core.params import YAML_LOADER
from components.core.storage import S3Storage

PROJECT = project()
TOTAL = 100_000_000_000
SHARD = 64_000_000
RUNS = 5
COPIED = ("components", "expectations", "data/none", "dvc.yaml", "takedown.jsonl", ".dvcignore", ".gitignore")


def manifest(shards: int) -> bytes:
    """A manifest of so many shards of 64 MB each, half of it media."""
    size = SHARD // 2
    ledger = {"rows": 5000, "bytes": 900, "sha256": "0" * 64}
    entries = [
        ShardEntry(f"{n:05d}", 5000, size, f"{n:064x}", ledger, {"members": 5000, "bytes": size, "sha256": f"{n:064x}"})
        for n in range(shards)
    ]
    return Manifest("crawl", "candidate", entries).to_bytes()


def make(root: Path, total: int) -> int:
    """Make a finished project whose outputs have ``total`` bytes together; return the number of its outputs."""
    from dvc.repo import Repo

    for name in COPIED:
        source, target = PROJECT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    params = yaml.load((PROJECT / "params.yaml").read_text(), YAML_LOADER)
    params["storage"] = S3Storage(url="s3://bucket/benchmark").plain()
    (root / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    Repo.init(str(root)).close()
    os.chdir(root)
    with Repo(str(root)) as repo:
        outs = sorted({Path(out.fs_path) for out in repo.index.outs})
        needed = sorted({Path(dep.fs_path) for dep in repo.index.deps if dep.protocol == "local"})
        manifests = [path for path in outs if path.name == "manifest.json"]
        content = manifest(max(1, total // SHARD // len(manifests)))
        for path in (*outs, *(path for path in needed if not path.exists() and path not in outs)):
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                folder = not path.suffix  # ratings/<dataset>, and folders of lineages
                path.mkdir(exist_ok=True) if folder else path.write_bytes(content if path.name == "manifest.json" else b"{}\n")
        repo.commit(force=True)
    return len(manifests)


def main() -> None:
    """Print one JSON line a size."""
    command = [str(Path(sys.executable).parent / "dvc"), "repro"]
    for total in (0, TOTAL):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve() / "project"
            outputs = make(root, total)
            cpu, took, codes = zip(*(cpu_and_wall(*command) for _ in range(RUNS)), strict=True)
            os.chdir(PROJECT)
            if any(codes):
                raise SystemExit("dvc repro failed")
        show({"bytes": total, "outputs": outputs, "CPU s": round(median(cpu), 2), "wall s": round(median(took), 2)})


if __name__ == "__main__":
    main()
