"""Why a stage would run: what ``dvc.lock`` says about its last run, compared with the files and settings of now.

DVC compares the same digests, and takes seconds to start. Outputs of stages are compared by their gates, which name the digest of
the manifest, so their shards are not read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from components.core.addresses import check_stage_address, stage_address
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.params import FOLDER, YAML_LOADER

IGNORED_FOLDERS, IGNORED_SUFFIXES = ("__pycache__", ".hearsight", ".venv"), (".pyc", ".so")
"""As in ``.dvcignore``."""
MOST_NAMES = 8
"""Number of changed settings that a reason names."""
_ABSENT = object()
_EXPONENT = re.compile(r"[-+]?\d+e[-+]?\d+", re.IGNORECASE)


class Locked:
    """What DVC has noted about the last run of each stage."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        try:
            content = yaml.load((graph.root / "dvc.lock").read_text(encoding="utf-8"), YAML_LOADER)
            self.stages: dict[str, Any] = dict(content["stages"])
        except FileNotFoundError:
            self.stages = {}
        except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
            where = graph.root / "dvc.lock"
            raise HearsightError(
                f"cannot be read ({error})", where=where, hint="restore it with git, or run `dvc repro`"
            ) from None
        self.digest = cache(self._digest)

    def why_run(self, stage: str, dataset: str) -> list[str]:
        """Return the reasons why ``dvc repro`` would run a stage; nothing for one that is up to date."""
        return self._reasons(stage_address(dataset, stage), f"{dataset}/{stage}")

    def why_check(self, stage: str, dataset: str) -> list[str]:
        """Return the reasons why ``dvc repro`` would check an output; nothing for one that is up to date."""
        return self._reasons(check_stage_address(dataset, stage), f"{dataset}/{stage}")

    def _reasons(self, address: str, output: str) -> list[str]:
        entry, root = self.stages.get(address), self.graph.root
        if not isinstance(entry, Mapping):
            return ["it has not run"]
        reasons = []
        for file, block in (entry.get("params") or {}).items():
            # A dataset's file is a block of the graph's settings.
            prefix = f"{Path(file).stem}." if Path(file).parent.name == FOLDER else ""
            settings = {prefix + key: value for key, value in block.items()}
            reasons += [f"setting {name}" for name in _limited(_changed(settings, lambda key: _lookup(self.graph.params, key)))]
        for dependency in entry.get("deps") or ():
            path, digest = str(dependency["path"]), dependency.get("md5")
            if path.startswith("data/"):
                continue  # its gate is a dependency, too; the check of an output reads the manifest below
            if self.digest(path) != digest:
                reasons.append(_kind(path))
        if address.startswith("check-") and (reason := self._unchecked(output)):
            reasons.append(reason)
        for made in entry.get("outs") or ():
            path = str(made["path"])
            if not (root / path).exists():
                reasons.append(f"missing output {path}")
            elif not path.startswith(f"data/{output}") and self.digest(path) != made.get("md5"):
                reasons.append(f"changed output {path}")
        return list(dict.fromkeys(reasons))

    def _unchecked(self, output: str) -> str:
        """Return whether the output differs from the one that its gate names."""
        manifest = self.graph.root / "data" / output / "manifest.json"
        gate = self.graph.root / "reports" / "gates" / f"{output}.json"
        try:
            passed = json.loads(gate.read_bytes())["manifest_sha256"]
            if passed == hashlib.sha256(manifest.read_bytes()).hexdigest():
                return ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""  # a missing file has a reason of its own
        return f"changed output data/{output}"

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


def _kind(path: str) -> str:
    """Return a dependency in words."""
    if path.startswith("components/"):
        return f"code {path}"
    if path.startswith("reports/"):
        parts = path.split("/", 2)
        is_of_output = parts[1] in ("gates", "warnings") and len(parts) == 3
        return f"input {parts[2].removesuffix('.json') if is_of_output else path}"
    return f"file {path}"


def _lookup(params: Any, key: str) -> Any:
    """Return the value at a dotted key; a marker when there is none."""
    for part in key.split("."):
        if not isinstance(params, Mapping) or part not in params:
            return _ABSENT
        params = params[part]
    return params


def _changed(block: Mapping[str, Any], now: Any, prefix: str = "") -> list[str]:
    """Return the dotted names whose value differs, as deep as both are mappings."""
    names: list[str] = []
    for key, before in block.items():
        value = now(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            every = {**dict.fromkeys(before, _ABSENT), **dict.fromkeys(value, _ABSENT), **before}
            names += _changed(every, lambda name, value=value: value.get(name, _ABSENT), f"{prefix}{key}.")
        elif not _same(before, value):
            names.append(f"{prefix}{key}")
    return names


def _same(before: Any, now: Any) -> bool:
    """Return whether two values are equal; DVC writes small numbers as ``4e-05``, which PyYAML reads as text."""
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(_same, before, now))
    if any(isinstance(value, str) and _EXPONENT.fullmatch(value) for value in (before, now)) and _ABSENT not in (before, now):
        try:
            return float(before) == float(now)
        except (TypeError, ValueError):
            return False
    return bool(before == now)


def _limited(names: list[str]) -> list[str]:
    more = len(names) - MOST_NAMES
    return names if more <= 0 else [*names[:MOST_NAMES], f"and {more} more"]
