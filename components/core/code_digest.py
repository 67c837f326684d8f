"""Digest of the code and data that a module can reach.

DVC and the caches do not see imports, so imports are read from the source, without executing it, by these rules:

- an import reaches the module and executes the ``__init__`` of each package above it;
- a name imported from a package reaches all modules of the package;
- a string constant that is the full dotted name of a module of this project reaches that module. Imports by name are therefore
  followed when the names are in a table (``tests/core/test_imports_by_name.py`` refuses any other import by name);
- a package brings the files beside its modules that are not Python, e.g. the C source of an extension. The data in its folders
  counts when a reached module that can locate files is in the package or refers to it.

The shard cache keys cheap steps by this digest, the contract test compares the files with ``dvc.yaml``, and
``tests/core/annotators.json`` records it for each version of an annotator.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import chain
from pathlib import Path

from components.core.module_facts import ModuleFacts, read_facts, syntax_tree

__all__ = ["EXCLUDED", "Code", "code_digest", "reached_files", "syntax_tree"]

PACKAGES = ("components", "flows")
FACTS = Path(".hearsight") / "code"
EXCLUDED = {
    "components/core/result_files.py": "stores an annotator's results as they are",
    "components/core/result_cache.py": "returns an annotator's results, keyed by content and version, verified by checksum",
    "components/core/shard_cache.py": "returns the files of an entry, verified by digest",
    "components/core/key_locks.py": "locks",
    "components/core/module_facts.py": "computes the digests; a change that matters changes the keys themselves",
    "components/core/code_digest.py": "computes the digests; a change that matters changes the keys themselves",
    "components/execution/ranks.py": "tells a process its rank; the number of ranks is in the key",
    "components/execution/resources.py": "says what an item needs; the device and the number of ranks are in the key",
    "components/execution/engine.py": "starts worker processes; no engine changes what a step computes",
    "components/core/machine.py": "counts cores and looks for processes; no result depends on either",
    "components/core/errors.py": "formats errors; no cache keeps an error",
    "components/execution/writer_lock.py": "locks",
    "components/core/files.py": "writes given bytes atomically",
    "components/core/graph.py": "locates the root and the inputs; the inputs' digests and the settings are in the key",
    "components/core/manifest.py": "lists files with their digests, which are in the key",
    "components/core/storage.py": "reads where files are kept, which changes none",
    "components/core/bucket.py": "reads and writes documents of a bucket as they are",
    "components/core/object_store.py": "stores and fetches files, verified by digest",
    "components/core/stored_files.py": "stores and fetches files of outputs, verified by digest",
    "components/core/params.py": "reads settings; their values are in the key",
    "components/core/printing.py": "prints to the terminal",
    "components/execution/process.py": "locks and signals",
    "components/core/progress.py": "draws progress bars",
    "components/execution/output_manifest.py": "lists what was written with its digests",
    "components/execution/measure.py": "measures time and memory, and returns results as they are",
    "components/execution/run_log.py": "writes logs, which no step reads",
    "components/execution/stage.py": "makes keys and publishes cache entries",
    "components/training/progress.py": "writes the progress of a training beside its results",
    "components/training/reporting.py": "reads losses and gradients for progress, and changes neither",
    "components/google/credentials.py": "authenticates requests; answers do not depend on it",
}
"""Files that steps reach but no digest covers, each with the reason why it cannot change a result.

The files that they import are included.
"""
_NOT_DATA = (".py", ".pyc", ".so", ".o", ".pyd")
"""Source and compiled files; the source is covered."""


class Code:
    """The code of one project. Each file is read once; file names are relative to the root, with slashes.

    Args:
        root: the folder that holds ``components`` and ``flows``.
        read: reads a file; tests replace it to change a file in memory.
    """

    def __init__(self, root: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> None:
        self.root = root
        self.facts: Callable[[str], ModuleFacts] = cache(lambda file: read_facts(read(root / file), root / FACTS))
        self.content: Callable[[str], str] = cache(lambda file: hashlib.sha256(read(root / file)).hexdigest())
        self.listing = cache(self._listing)
        self.references = cache(self._references)
        self.module_file = cache(self._module_file)
        self.module_files = cache(self._module_files)
        self.parent_inits = cache(self._parent_inits)
        self.adjacent_data = cache(self._adjacent_data)
        self.nested_data: Callable[[str], tuple[str, ...]] = cache(self._nested_data)

    def reached(self, *modules: str, executed: Iterable[str] = (), parents: bool = True) -> tuple[list[str], list[str]]:
        """Return the source files and the data files that ``modules`` reach, each list sorted.

        Args:
            modules: dotted names; of a package all modules count.
            executed: dotted names of modules of which only the module-level code and the classes are followed, not the functions.
            parents: whether importing a module also executes the packages above it.
        """
        visited: dict[str, bool] = {}  # file → whether its functions count
        pending = [(file, True) for module in modules for file in self.module_files(module)]
        pending.extend((file, False) for file in map(self.module_file, executed) if file)
        while pending:
            file, called = pending.pop()
            if visited.get(file, not called and file in visited):
                continue
            visited[file] = called
            on_import, in_functions = self.references(file)
            pending.extend((target, True) for target in (on_import + in_functions if called else on_import))
            if parents:
                pending.extend((init, False) for init in self.parent_inits(file))
        data = {path for file in visited if file.endswith("/__init__.py") for path in self.adjacent_data(_folder(file))}
        return sorted(visited), sorted(data.union(*map(self._located_data, visited)))

    def digest(self, *modules: str, executed: Iterable[str] = (), parents: bool = True) -> str:
        """Return the digest of what ``modules`` reach, without comments, docstrings and :data:`EXCLUDED` files."""
        sources, data = self.reached(*modules, executed=executed, parents=parents)
        digest = hashlib.sha256()
        for file in sources:
            if file not in EXCLUDED:
                digest.update(f"{file}\n{self.facts(file).digest}\n".encode())
        for file in data:
            digest.update(f"{file}\n{self.content(file)}\n".encode())
        return digest.hexdigest()

    def _module_file(self, module: str) -> str | None:
        """Return the source file of a module; None when it is not of this project."""
        base = module.replace(".", "/")
        if base.partition("/")[0] in PACKAGES:
            for file in (f"{base}.py", f"{base}/__init__.py"):
                if file in self.listing(_folder(file))[0]:
                    return file
        return None

    def _module_files(self, module: str) -> tuple[str, ...]:
        """Return the file of a module; of a package, the files of all its modules."""
        file = self.module_file(module)
        if file is None or not file.endswith("/__init__.py"):
            return (file,) if file else ()
        return tuple(path for path in self.listing(_folder(file))[0] if path.endswith(".py"))

    def _parent_inits(self, file: str) -> tuple[str, ...]:
        """Return the ``__init__`` of each package that holds the file."""
        parts = file.split("/")[:-1]
        inits = ["/".join((*parts[:depth], "__init__.py")) for depth in range(1, len(parts) + 1)]
        return tuple(init for init in inits if init != file and init in self.listing(_folder(init))[0])

    def _references(self, file: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the files that a file refers to on import, and those that its functions refer to."""
        facts = self.facts(file)
        resolve = partial(self._resolve, package=_folder(file).split("/"))
        return tuple(chain(*map(resolve, facts.executed))), tuple(chain(*map(resolve, facts.called)))

    def _resolve(self, reference: str, package: list[str]) -> Iterable[str]:
        """Return the files of a reference (see :class:`components.core.module_facts.ModuleFacts`) in a module of ``package``."""
        module, _, name = reference.partition(":")
        if level := len(module) - len(module.lstrip(".")):
            module = ".".join([*package[: len(package) - level + 1], *filter(None, [module[level:]])])
        file = self.module_file(f"{module}.{name}" if name else module)
        if file or not name:
            return (file,) if file else ()
        return self.module_files(module)

    def _located_data(self, file: str) -> set[str]:
        """Return the data files in folders that the module can locate."""
        if not self.facts(file).locates:
            return set()
        packages = {_folder(file), *map(_folder, chain(*self.references(file)))}
        return {path for package in packages for path in self.nested_data(package)}

    def _listing(self, folder: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the files and the folders in a folder, sorted, without hidden ones, ``__pycache__`` and editors' backups."""
        try:
            entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return (), ()
        kept = [entry for entry in entries if entry.name[0] != "." and entry.name[-1] != "~" and entry.name != "__pycache__"]
        files, folders = ([entry.name for entry in kept if entry.is_dir() == is_folder] for is_folder in (False, True))
        return tuple(f"{folder}/{name}" for name in files), tuple(f"{folder}/{name}" for name in folders)

    def _adjacent_data(self, folder: str) -> tuple[str, ...]:
        """Return the files of a folder that are neither Python nor compiled."""
        return tuple(file for file in self.listing(folder)[0] if not file.endswith(_NOT_DATA))

    def _nested_data(self, package: str) -> tuple[str, ...]:
        """Return the data files of a package in folders that are not packages, at any depth."""
        folders = (folder for folder in self.listing(package)[1] if f"{folder}/__init__.py" not in self.listing(folder)[0])
        return tuple(file for folder in folders for file in (*self.adjacent_data(folder), *self.nested_data(folder)))


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def reached_files(root: Path, module: str) -> list[Path]:
    """Return every source and data file of the project that ``module`` reaches, excluded ones too, sorted."""
    sources, data = Code(root).reached(module)
    return [root / file for file in sorted([*sources, *data])]


def code_digest(root: Path, *modules: str, executed: Iterable[str] = (), parents: bool = True) -> str:
    """Return the digest of the code and data that ``modules`` reach; see :meth:`Code.reached`."""
    return Code(root).digest(*modules, executed=executed, parents=parents)
