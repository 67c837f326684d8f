"""Why a stage would run: what ``dvc.lock`` says about its last run, compared with the files and settings of now.

DVC compares the same digests, and takes seconds to start. Outputs are compared by the digests of their manifests, which lineages
name, so their shards are not read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from components.core.addresses import lineage_path, stage_address
from components.core.graph import Graph, read_lock_of
from components.core.params import FOLDER, dotted

IGNORED_FOLDERS, IGNORED_SUFFIXES = ("__pycache__", ".hearsight", ".venv"), (".pyc", ".so")
"""As in ``.dvcignore``."""


class Locked:
    """What DVC has noted about the last run of each stage."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.stages = read_lock_of(graph.root)
        self.digest = cache(self._digest)

    def why_run(self, stage: str, dataset: str) -> list[str]:
        """Return the reasons why ``dvc repro`` would run a stage; nothing for one that is up to date."""
        entry, root, output = self.stages.get(stage_address(dataset, stage)), self.graph.root, f"{dataset}/{stage}"
        if not isinstance(entry, Mapping):
            return ["it has not run"]
        reasons = []
        for file, block in (entry.get("params") or {}).items():
            for key, before in block.items():
                # A dataset's file is a block of the graph's settings.
                name = f"{Path(file).stem}.{key}" if Path(file).parent.name == FOLDER else key
                now: Any = self.graph.params
                for part in name.split("."):
                    now = now.get(part) if isinstance(now, Mapping) else None
                reasons += [f"setting {each}" for each in _changed(before, now, name)]
        for dependency in entry.get("deps") or ():
            path, digest = str(dependency["path"]), dependency.get("md5")
            # Outputs are compared by the lineage, below.
            if not path.startswith("data/") and self.digest(path) != digest:
                reasons.append(_kind(path))
        reasons += self._moved(output)
        for made in entry.get("outs") or ():
            path = str(made["path"])
            if not (root / path).exists():
                reasons.append(f"missing output {path}")
            elif not path.startswith(f"data/{output}") and self.digest(path) != made.get("md5"):
                reasons.append(f"changed output {path}")
        return list(dict.fromkeys(reasons))

    def _moved(self, output: str) -> list[str]:
        """Return which outputs are not those that the lineage of ``output`` names: its inputs, and itself."""
        data = self.graph.root / "data"
        try:
            lineage = json.loads(lineage_path(data / output).read_bytes())
            named = {each["output"]: each["manifest_sha256"] for each in lineage["parents"] if "output" in each}
            own = lineage["manifest_sha256"]
        except (OSError, ValueError, KeyError, TypeError):
            return []  # a missing or changed lineage has a reason of its own
        moved = [f"input {name}" for name, digest in named.items() if digest != _sha256(data / name / "manifest.json")]
        if (data / output).exists() and own != _sha256(data / output / "manifest.json"):
            moved.append(f"changed output data/{output}")
        return moved

    def _digest(self, path: str) -> str | None:
        """Return the digest of a file or folder as DVC computes it; None when it is missing."""
        full = self.graph.root / path
        if full.is_file():
            return _md5(full)
        if not full.is_dir():
            return None
        members = []
        for folder, folders, files in os.walk(full):
            folders[:] = [name for name in folders if name not in IGNORED_FOLDERS]
            members += [Path(folder) / name for name in files if not name.endswith(IGNORED_SUFFIXES)]
        tree = [{"md5": _md5(member), "relpath": member.relative_to(full).as_posix()} for member in members]
        tree.sort(key=lambda entry: entry["relpath"])
        return hashlib.md5(json.dumps(tree, sort_keys=True).encode(), usedforsecurity=False).hexdigest() + ".dir"


def _md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _kind(path: str) -> str:
    """Return a dependency in words."""
    if path.startswith("components/"):
        return f"code {path}"
    return f"{'input' if path.startswith('reports/') else 'file'} {path}"


def _changed(before: Any, now: Any, name: str) -> list[str]:
    """Return the dotted names of the settings that differ."""
    old, new = dict(dotted({name: before})), dict(dotted({name: now}))
    return [each for each in {**old, **new} if each not in old or each not in new or old[each] != new[each]]
