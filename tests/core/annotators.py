"""The version and the code digest of each expensive result, recorded in annotators.json.

``python -m tests.core.annotators`` records the current state, after a version was raised or when results did not change.

An expensive result is one of an annotator, or of a step with ``version=``. Its code is the module of the annotator or of the
step's function, and what that imports, directly or through others, from all packages but ``core`` and ``execution``; of these two
only modules that import nothing of ours, such as the normalisation of captions. Those compute; the others store, start and hand
over. Beside a module that locates files its data counts.

The speech annotator reaches every speech engine through one registry, whose lines change no result of another engine. So the
registry imports nothing here, and each engine in it has an entry of its own, with the version of :data:`SPEECH`. An engine
without an entry is new: nothing recorded is older than it.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from components.core.code_digest import source_digest
from tests.support import PROJECT
from tests.support.import_graph import file_of, import_graph, modules

RECORD = Path(__file__).with_suffix(".json")
SPEECH = "components.stages.synthesize.speech.Speech"
"""The annotator that caches what the engines speak."""
REGISTRY = "components.speech.voices.engines"
ENTRY = "components.speech.voices.voice"
"""What an engine registers; every engine imports it."""
PLUMBING = ("components.core.", "components.execution.")
LOCATES = (b"__file__", b"resources", b"PackageLoader")
"""What a module names that locates data files."""
NOT_DATA = (".py", ".pyc", ".so", ".o", ".pyd")


def code_of(module: str, root: Path = PROJECT) -> str:
    """Return the digest of the code and data that an expensive result of ``module`` is computed with; see above."""
    graph, names, pending = import_graph(), set[str](), [module]
    while pending:
        name = pending.pop()
        if name in names or (name.startswith(PLUMBING) and graph.find_modules_directly_imported_by(name)):
            continue
        names.add(name)
        pending += graph.find_modules_directly_imported_by(name) if name != REGISTRY else ()
    digest = hashlib.sha256()
    for name in sorted(names - {REGISTRY}):
        source = (root / file_of(name)).read_bytes()
        digest.update(f"{name} {source_digest(source)}\n".encode())
        if any(word in source for word in LOCATES):
            for path in data_beside(root / file_of(name)):
                digest.update(f"{path.relative_to(root)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def data_beside(file: Path) -> list[Path]:
    """Return the files beside a module, and in folders there that are not packages, that are no code."""
    folders = [file.parent, *(path for path in file.parent.iterdir() if path.is_dir() and not (path / "__init__.py").exists())]
    found = [path for folder in folders for path in (folder.iterdir() if folder == file.parent else folder.rglob("*"))]
    return sorted(path for path in found if path.is_file() and not path.name.endswith(NOT_DATA))


def annotators() -> Iterator[tuple[str, int, str]]:
    """Yield ``(class name, version, module)`` for each annotator of the project."""
    for module, path in modules().items():
        if module.startswith(PLUMBING) or b"def compute(" not in (source := path.read_bytes()):
            continue
        for node in ast.parse(source).body:
            if not isinstance(node, ast.ClassDef) or any(ast.unparse(base) == "Protocol" for base in node.bases):
                continue
            if any(isinstance(item, ast.FunctionDef) and item.name == "compute" for item in node.body):
                yield f"{module}.{node.name}", _version(node), module


def _version(node: ast.ClassDef) -> int:
    for item in node.body:
        if isinstance(item, (ast.Assign, ast.AnnAssign)):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            if any(isinstance(t, ast.Name) and t.id == "version" for t in targets) and item.value is not None:
                return int(ast.literal_eval(item.value))
    raise AssertionError(f"the annotator {node.name} states no version")


def versioned_steps() -> Iterator[tuple[str, int, str]]:
    """Yield ``(module: step, version, module of the function)`` for each call of ``map`` or ``jobs`` with a version."""
    for module, path in modules().items():
        if b"version=" not in (source := path.read_bytes()) or module.startswith(PLUMBING):
            continue
        tree = ast.parse(source)
        imported = {
            alias.asname or alias.name: node.module or ""
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("map", "jobs") and "version" in given:
                function = ast.unparse(call.args[0])
                step, version = ast.literal_eval(given["step"]), int(ast.literal_eval(given["version"]))
                yield f"{module}: {step}", version, imported.get(function, module)


def engines() -> set[str]:
    """Return the modules of the speech engines of the registry."""
    return import_graph().find_modules_directly_imported_by(REGISTRY) - {ENTRY}


def current_annotators(root: Path = PROJECT) -> dict[str, dict[str, object]]:
    """Return annotator, step or engine → version and code digest; the versions are those of the project."""
    found = {name: (version, module) for name, version, module in (*annotators(), *versioned_steps())}
    found |= {module: (found[SPEECH][0], module) for module in engines()}
    return {name: {"version": version, "code": code_of(module, root)} for name, (version, module) in found.items()}


if __name__ == "__main__":
    RECORD.write_text(json.dumps(current_annotators(), indent=1, sort_keys=True) + "\n")
