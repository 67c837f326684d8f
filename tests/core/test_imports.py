"""What the code imports is what ``pyproject.toml`` asks for: nothing works only because another package brought it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.support import PROJECT

OURS = {"benchmarks", "components", "flows", "tests"}
UNMAPPED = {"parselmouth": ["praat-parselmouth"]}
"""Modules whose wheel is one compiled file, which ``packages_distributions`` does not see."""


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def undeclared(folders: list[str], declared: set[str], distributions: Mapping[str, list[str]]) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for folder in folders:
        for path in sorted((PROJECT / folder).rglob("*.py")):
            for module in set(imported(path)) - OURS - sys.stdlib_module_names:
                if not declared & {normalised(name) for name in distributions.get(module, [])}:
                    result.setdefault(module, []).append(str(path.relative_to(PROJECT)))
    return result


def requirements(lines: list[str]) -> set[str]:
    return {normalised(re.split(r"[<>=\[;!~ ]", line)[0]) for line in lines}


def read_lock(name: str) -> dict[tuple[str, str], frozenset[str]]:
    """(package, version and platforms) → hashes of a lock; every line is a pinned package or one of its hashes."""
    text = (PROJECT / name).read_text().replace("\\\n", "")
    assert "://" not in text
    found = {}
    for line in text.splitlines():
        package, *hashes = line.split("--hash=")
        pinned = re.fullmatch(r"([a-z0-9-]+)(==[0-9][0-9a-z.]*(?: ; .+)?)", package.strip())
        assert pinned and hashes, f"{name}: {line[:80]}"
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each.strip()) for each in hashes)
        found[pinned[1], pinned[2]] = frozenset(hashes)
    return found


def test_every_imported_package_is_declared():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    optional = [line for name in ("ray", "google", "asr", "voices-gpl", "hub", "llm", "ocr", "postgres") for line in extras[name]]
    wanted = requirements([*project["dependencies"], *optional])
    distributions = {**packages_distributions(), **UNMAPPED}
    assert undeclared(["components", "flows"], wanted, distributions) == {}
    assert undeclared(["tests"], wanted | requirements(project["optional-dependencies"]["dev"]), distributions) == {}


def test_the_lock_files_are_complete_hashed_consistent_and_without_hosts_and_gpu_builds():
    demo, dev = (read_lock(name) for name in ("requirements.lock", "requirements-dev.lock"))
    assert demo.items() <= dev.items(), "the demo has another version than the tests"
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    extras, locked = project["optional-dependencies"], {name for name, _ in dev} | {"torch"}
    assert requirements([*project["dependencies"], *extras["asr"]]) <= {name for name, _ in demo} | {"torch"}
    assert requirements([line for extra in extras.values() for line in extra]) - {project["name"]} <= locked
    (torch,) = (PROJECT / "requirements-torch.lock").read_text().splitlines()
    assert torch in project["dependencies"], "torch has a line of its own, see SECURITY.md"
    assert not [name for name in locked if name.startswith(("nvidia-", "cuda-", "triton"))]
