"""Which code and data a module can reach, and a digest of it.

DVC and the caches do not see imports. Here they are read from the source, without running it, by these rules:

- an import reaches the module and executes the ``__init__`` of each package above it;
- a name imported from a package reaches the whole package: all modules in its folder;
- a string constant that is the full dotted name of a module of this project reaches that module. So code imported by name is
  followed when the name is written out in a table (``tests/core/test_codeprint.py`` refuses any other import by name);
- a package brings the files beside its modules that are not Python (the C source of an extension, say); the data in its folders
  counts when a module is reached that can find files and is in the package, or refers to it.

The shard cache keys cheap steps by this digest, the contract test compares the files with ``dvc.yaml``, and
``tests/annotators.json`` holds the annotators to their version.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from components.core.codefacts import Facts, facts_of, syntax_tree

__all__ = ["PLUMBING", "Code", "code_digest", "reached_files", "syntax_tree"]

PACKAGES = ("components", "flows")
FACTS = Path(".hearsight") / "code"
PLUMBING = {
    "components/core/annotations.py": "returns what an annotator computed, keyed by content and version, checked by digest",
    "components/core/cache.py": "returns the files of an entry, checked by digest",
    "components/core/claims.py": "locks",
    "components/core/codefacts.py": "makes the digests; another way of making them gives other keys by itself",
    "components/core/codeprint.py": "makes the digests; another way of making them gives other keys by itself",
    "components/core/engine.py": "starts worker processes; no engine changes what a step computes",
    "components/core/fence.py": "locks",
    "components/core/files.py": "writes given bytes atomically",
    "components/core/graph.py": "finds the root and the inputs; the inputs' digests and the settings are in the key",
    "components/core/manifest.py": "lists files with their digests, which are in the key",
    "components/core/params.py": "reads settings; their values are in the key",
    "components/core/process.py": "locks and signals",
    "components/core/progress.py": "draws progress bars",
    "components/core/stage.py": "makes keys and publishes what the cache returns",
    "components/providers/google_credentials.py": "says who asks a service, which changes no answer",
}
"""Files that no digest covers although steps reach them, each with the reason why it cannot change a result.

What such a file imports counts all the same.
"""
_NOT_DATA = {".py", ".pyc", ".so", ".o", ".pyd"}
"""Code, and compiled files, whose source is covered."""


class Code:
    """The code of one project; each file is read once.

    Args:
        root: the folder that holds ``components`` and ``flows``.
        read: reads a file; tests give another one to change a file in memory.
    """

    def __init__(self, root: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> None:
        self.root = root
        self.facts: Callable[[Path], Facts] = cache(lambda path: facts_of(read(path), root / FACTS))
        self.content = cache(lambda path: hashlib.sha256(read(path)).hexdigest())
        self.beside = cache(self._beside)
        self.inside: Callable[[Path], tuple[Path, ...]] = cache(self._inside)
        self._module_file = cache(self._find)
        self._references = cache(self._resolved)
        self._above = cache(self._find_above)

    def reached(self, *modules: str, executed: Iterable[str] = (), parents: bool = True) -> tuple[list[Path], list[Path]]:
        """Return the source files and the data files that ``modules`` reach, each list sorted.

        Args:
            modules: dotted names; of a package all modules count.
            executed: dotted names of modules whose functions nobody calls, only their classes.
            parents: whether importing a module executes the packages above it. Without, only what is imported by name counts.
        """
        seen: dict[Path, bool] = {}
        waiting = [found for module in modules for found in self._whole(module)]
        waiting.extend((path, False) for path in map(self._module_file, executed) if path)
        while waiting:
            path, named = waiting.pop()
            if seen.get(path, False) or (path in seen and not named):
                continue
            seen[path] = named
            at_once, called = self._references(path)
            waiting.extend(at_once + called if named else at_once)
            if parents:
                waiting.extend((above, False) for above in self._above(path))
        beside = {file for path in seen if path.name == "__init__.py" for file in self.beside(path.parent)}
        return sorted(seen), sorted(beside.union(*map(self._located, seen)))

    def digest(self, *modules: str, executed: Iterable[str] = (), parents: bool = True) -> str:
        """Return the digest of what ``modules`` reach, comments, docstrings and plumbing aside."""
        sources, data = self.reached(*modules, executed=executed, parents=parents)
        total = hashlib.sha256()
        for path in sources:
            if (name := self._relative(path)) not in PLUMBING:
                total.update(f"{name}\n{self.facts(path).digest}\n".encode())
        for path in data:
            total.update(f"{self._relative(path)}\n{self.content(path)}\n".encode())
        return total.hexdigest()

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _find(self, module: str) -> Path | None:
        """The source file of a module of this project; None when it is not one of ours."""
        if module.partition(".")[0] not in PACKAGES:
            return None
        base = self.root.joinpath(*module.split("."))
        for candidate in (base.with_suffix(".py"), base / "__init__.py"):
            if candidate.is_file():
                return candidate
        return None

    def _whole(self, module: str) -> list[tuple[Path, bool]]:
        """A module by name; of a package all its modules."""
        path = self._module_file(module)
        if path is None:
            return []
        return [(each, True) for each in sorted(path.parent.glob("*.py"))] if path.name == "__init__.py" else [(path, True)]

    def _find_above(self, path: Path) -> list[Path]:
        """The ``__init__`` of each package that holds the file."""
        inits = [folder / "__init__.py" for folder in path.parents if self.root in folder.parents]
        return [init for init in inits if init != path and init.is_file()]

    def _resolved(self, path: Path) -> tuple[list[tuple[Path, bool]], list[tuple[Path, bool]]]:
        """Where the references of a file lead, those executed and those called: files, and whether they are imported by name."""
        facts = self.facts(path)
        package = path.parent.relative_to(self.root).parts
        executed, called = (
            [found for reference in references for found in self._lead(reference, package)]
            for references in (facts.executed, facts.called)
        )
        return executed, called

    def _lead(self, reference: str, package: tuple[str, ...]) -> list[tuple[Path, bool]]:
        module, _, name = reference.partition(":")
        if level := len(module) - len(module.lstrip(".")):
            module = ".".join((*package[: len(package) - level + 1], *filter(None, [module[level:]])))
        if not name:
            path = self._module_file(module)
            return [(path, True)] if path else []
        if path := self._module_file(f"{module}.{name}"):
            return [(path, True)]
        return self._whole(module)

    def _located(self, path: Path) -> set[Path]:
        """The data files in folders that the module at ``path`` can find."""
        if not self.facts(path).locates:
            return set()
        near = {path.parent, *(found.parent for group in self._references(path) for found, _ in group)}
        return {file for package in near for file in self.inside(package)}

    def _beside(self, folder: Path) -> tuple[Path, ...]:
        """The files of a folder that are not Python, without hidden and compiled ones."""
        return tuple(path for path in sorted(folder.iterdir()) if path.is_file() and _is_data(path))

    def _inside(self, package: Path) -> tuple[Path, ...]:
        """The data files of a package in folders that are no packages, at any depth."""
        folders = (path for path in sorted(package.iterdir()) if path.is_dir() and path.name[0] not in "._")
        plain = [folder for folder in folders if not (folder / "__init__.py").is_file()]
        return tuple(file for folder in plain for file in (*self.beside(folder), *self.inside(folder)))


def _is_data(path: Path) -> bool:
    return not (path.name.startswith(".") or path.name.endswith("~") or path.suffix in _NOT_DATA)


def reached_files(root: Path, module: str) -> list[Path]:
    """Return every source and data file of the project that ``module`` reaches, plumbing included, sorted."""
    sources, data = Code(root).reached(module)
    return sorted([*sources, *data])


def code_digest(root: Path, *modules: str, executed: Iterable[str] = (), parents: bool = True) -> str:
    """Return the digest of the code and data that ``modules`` reach; see :meth:`Code.reached`."""
    return Code(root).digest(*modules, executed=executed, parents=parents)
