"""The version and the code digest of each annotator, recorded in annotators.json.

``python -m tests.core.annotators`` records the current state, after a version was raised or when results did not change.

The speech annotator reaches every speech engine through one registry, whose lines change no result of another engine. So the
registry counts as empty, and each engine that it imports has an entry of its own, with the version of :data:`SPEECH`. An engine
without an entry is new: nothing recorded is older than it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from components.core.code_digest import Code
from tests.support import PROJECT

RECORD = Path(__file__).with_suffix(".json")
SPEECH = "components.stages.synthesize.speech.Speech"
"""The annotator that caches what the engines speak."""
REGISTRY = "components/speech/voices/engines.py"
ENTRY = "components/speech/voices/voice.py"
"""What an engine registers; every engine imports it."""


def annotators(root: Path) -> Iterator[tuple[str, int, str]]:
    """Yield ``(class name, version, digest of the code it reaches)`` for each annotator of the project."""
    code = Code(root, lambda path: b"" if path == root / REGISTRY else path.read_bytes())
    for path in sorted((root / "components").rglob("*.py")):
        if path.parent.name == "core" or b"def compute(" not in (source := path.read_bytes()):
            continue
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(source).body:
            if not isinstance(node, ast.ClassDef) or any(ast.unparse(base) == "Protocol" for base in node.bases):
                continue
            if any(isinstance(item, ast.FunctionDef) and item.name == "compute" for item in node.body):
                yield f"{module}.{node.name}", _version(node), code.digest(module, parents=False)


def _version(node: ast.ClassDef) -> int:
    for item in node.body:
        if isinstance(item, (ast.Assign, ast.AnnAssign)):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            if any(isinstance(t, ast.Name) and t.id == "version" for t in targets) and item.value is not None:
                return int(ast.literal_eval(item.value))
    raise AssertionError(f"the annotator {node.name} states no version")


def engines(root: Path) -> Iterator[tuple[str, str]]:
    """Yield ``(module, digest of the code it reaches)`` for each speech engine of the registry."""
    code = Code(root)
    for file in sorted(set(code.references(REGISTRY)[0]) - {ENTRY}):
        module = file.removesuffix(".py").replace("/", ".")
        yield module, code.digest(module, parents=False)


def current_annotators(root: Path = PROJECT) -> dict[str, dict[str, object]]:
    """Return class name or engine → version and code digest."""
    current: dict[str, dict[str, object]] = {
        name: {"version": version, "code": digest} for name, version, digest in annotators(root)
    }
    speech = current[SPEECH]["version"]
    return current | {module: {"version": speech, "code": digest} for module, digest in engines(root)}


if __name__ == "__main__":
    RECORD.write_text(json.dumps(current_annotators(), indent=1, sort_keys=True) + "\n")
