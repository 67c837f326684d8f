"""Which code and data a module can reach, and a digest of it.

DVC and the caches do not see imports. Here they are read from the source, without running it, by these rules:

- an import reaches the module and executes the ``__init__`` of each package above it;
- a name imported from a package reaches the whole package: all modules in its folder;
- a string constant that is the full dotted name of a module of this project reaches that module. So code imported by name is
  followed when the name is written out in a table (``tests/core/test_code_digest.py`` refuses any other import by name);
- a package brings the files beside its modules that are not Python (the C source of an extension, say); the data in its folders
  counts when a module is reached that can find files and is in the package, or refers to it.

The shard cache keys cheap steps by this digest, the contract test compares the files with ``dvc.yaml``, and
``tests/annotators.json`` holds the annotators to their version.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import chain
from pathlib import Path

from components.core.module_facts import ModuleFacts, facts_of, syntax_tree

__all__ = ["PLUMBING", "Code", "code_digest", "reached_files", "syntax_tree"]

PACKAGES = ("components", "flows")
FACTS = Path(".hearsight") / "code"
PLUMBING = {
    "components/core/result_cache.py": "returns what an annotator computed, keyed by content and version, checked by digest",
    "components/core/shard_cache.py": "returns the files of an entry, checked by digest",
    "components/core/key_locks.py": "locks",
    "components/core/module_facts.py": "makes the digests; another way of making them gives other keys by itself",
    "components/core/code_digest.py": "makes the digests; another way of making them gives other keys by itself",
    "components/execution/engine.py": "starts worker processes; no engine changes what a step computes",
    "components/core/errors.py": "carries the words of a failure as they were given; no cache keeps a failure",
    "components/execution/writer_lock.py": "locks",
    "components/core/files.py": "writes given bytes atomically",
    "components/core/graph.py": "finds the root and the inputs; the inputs' digests and the settings are in the key",
    "components/core/manifest.py": "lists files with their digests, which are in the key",
    "components/core/params.py": "reads settings; their values are in the key",
    "components/core/printing.py": "prints; no cache keeps what it prints",
    "components/execution/process.py": "locks and signals",
    "components/core/progress.py": "draws progress bars",
    "components/execution/stage.py": "makes keys and publishes what the cache returns",
    "components/google/credentials.py": "says who asks a service, which changes no answer",
}
"""Files that no digest covers although steps reach them, each with the reason why it cannot change a result.

What such a file imports counts all the same.
"""
_NOT_DATA = (".py", ".pyc", ".so", ".o", ".pyd")
"""Code, and compiled files, whose source is covered."""


class Code:
    """The code of one project; each file is read once. Files are named relative to the root, with slashes.

    Args:
        root: the folder that holds ``components`` and ``flows``.
        read: reads a file; tests give another one to change a file in memory.
    """

    def __init__(self, root: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> None:
        self.root = root
        self.facts: Callable[[str], ModuleFacts] = cache(lambda file: facts_of(read(root / file), root / FACTS))
        self.content: Callable[[str], str] = cache(lambda file: hashlib.sha256(read(root / file)).hexdigest())
        self.listed = cache(self._listed)
        self.references = cache(self._references)
        self.module_file = cache(self._module_file)
        self.whole = cache(self._whole)
        self.above = cache(self._above)
        self.beside = cache(self._beside)
        self.inside: Callable[[str], tuple[str, ...]] = cache(self._inside)

    def reached(self, *modules: str, executed: Iterable[str] = (), parents: bool = True) -> tuple[list[str], list[str]]:
        """Return the source files and the data files that ``modules`` reach, each list sorted.

        Args:
            modules: dotted names; of a package all modules count.
            executed: dotted names of modules whose functions nobody calls, only their classes.
            parents: whether importing a module executes the packages above it. Without, only what is imported by name counts.
        """
        seen: dict[str, bool] = {}
        waiting = [(file, True) for module in modules for file in self.whole(module)]
        waiting.extend((file, False) for file in map(self.module_file, executed) if file)
        while waiting:
            file, called = waiting.pop()
            if seen.get(file, not called and file in seen):
                continue
            seen[file] = called
            at_once, in_calls = self.references(file)
            waiting.extend((found, True) for found in (at_once + in_calls if called else at_once))
            if parents:
                waiting.extend((init, False) for init in self.above(file))
        data = {path for file in seen if file.endswith("/__init__.py") for path in self.beside(_folder(file))}
        return sorted(seen), sorted(data.union(*map(self._located, seen)))

    def digest(self, *modules: str, executed: Iterable[str] = (), parents: bool = True) -> str:
        """Return the digest of what ``modules`` reach, comments, docstrings and plumbing aside."""
        sources, data = self.reached(*modules, executed=executed, parents=parents)
        total = hashlib.sha256()
        for file in sources:
            if file not in PLUMBING:
                total.update(f"{file}\n{self.facts(file).digest}\n".encode())
        for file in data:
            total.update(f"{file}\n{self.content(file)}\n".encode())
        return total.hexdigest()

    def _module_file(self, module: str) -> str | None:
        """The source file of a module of this project; None when it is not one of ours."""
        base = module.replace(".", "/")
        if base.partition("/")[0] in PACKAGES:
            for file in (f"{base}.py", f"{base}/__init__.py"):
                if file in self.listed(_folder(file))[0]:
                    return file
        return None

    def _whole(self, module: str) -> tuple[str, ...]:
        """The file of a module; of a package the files of all its modules."""
        file = self.module_file(module)
        if file is None or not file.endswith("/__init__.py"):
            return (file,) if file else ()
        return tuple(each for each in self.listed(_folder(file))[0] if each.endswith(".py"))

    def _above(self, file: str) -> tuple[str, ...]:
        """The ``__init__`` of each package that holds the file."""
        parts = file.split("/")[:-1]
        inits = ["/".join((*parts[:depth], "__init__.py")) for depth in range(1, len(parts) + 1)]
        return tuple(init for init in inits if init != file and init in self.listed(_folder(init))[0])

    def _references(self, file: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The files that a file refers to: when it is executed, and when its functions are called."""
        facts = self.facts(file)
        lead = partial(self._lead, package=_folder(file).split("/"))
        return tuple(chain(*map(lead, facts.executed))), tuple(chain(*map(lead, facts.called)))

    def _lead(self, reference: str, package: list[str]) -> Iterable[str]:
        module, _, name = reference.partition(":")
        if level := len(module) - len(module.lstrip(".")):
            module = ".".join([*package[: len(package) - level + 1], *filter(None, [module[level:]])])
        found = self.module_file(f"{module}.{name}" if name else module)
        if found or not name:
            return (found,) if found else ()
        return self.whole(module)

    def _located(self, file: str) -> set[str]:
        """The data files in folders that the module can find."""
        if not self.facts(file).locates:
            return set()
        near = {_folder(file), *map(_folder, chain(*self.references(file)))}
        return {path for package in near for path in self.inside(package)}

    def _listed(self, folder: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The files and the folders in a folder, sorted, without hidden ones and what Python and editors leave."""
        try:
            entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return (), ()
        kept = [entry for entry in entries if entry.name[0] != "." and entry.name[-1] != "~" and entry.name != "__pycache__"]
        files, folders = ([entry.name for entry in kept if entry.is_dir() == wanted] for wanted in (False, True))
        return tuple(f"{folder}/{name}" for name in files), tuple(f"{folder}/{name}" for name in folders)

    def _beside(self, folder: str) -> tuple[str, ...]:
        """The files of a folder that are neither Python nor compiled."""
        return tuple(file for file in self.listed(folder)[0] if not file.endswith(_NOT_DATA))

    def _inside(self, package: str) -> tuple[str, ...]:
        """The data files of a package in folders that are no packages, at any depth."""
        folders = (folder for folder in self.listed(package)[1] if f"{folder}/__init__.py" not in self.listed(folder)[0])
        return tuple(file for folder in folders for file in (*self.beside(folder), *self.inside(folder)))


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def reached_files(root: Path, module: str) -> list[Path]:
    """Return every source and data file of the project that ``module`` reaches, plumbing included, sorted."""
    sources, data = Code(root).reached(module)
    return [root / file for file in sorted([*sources, *data])]


def code_digest(root: Path, *modules: str, executed: Iterable[str] = (), parents: bool = True) -> str:
    """Return the digest of the code and data that ``modules`` reach; see :meth:`Code.reached`."""
    return Code(root).digest(*modules, executed=executed, parents=parents)
