"""The version and the code digest of each annotator, recorded in annotators.json.

``python -m tests.core.annotators`` records the current state, after a version was raised or when results did not change.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from components.core.code_digest import code_digest
from tests.support import PROJECT

RECORD = Path(__file__).with_suffix(".json")


def annotators(root: Path) -> Iterator[tuple[str, int, str]]:
    """Yield ``(class name, version, digest of the code it reaches)`` for each annotator of the project."""
    for path in sorted((root / "components").rglob("*.py")):
        if path.parent.name == "core" or b"def compute(" not in (source := path.read_bytes()):
            continue
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(source).body:
            if not isinstance(node, ast.ClassDef) or any(ast.unparse(base) == "Protocol" for base in node.bases):
                continue
            if any(isinstance(item, ast.FunctionDef) and item.name == "compute" for item in node.body):
                yield f"{module}.{node.name}", _version(node), code_digest(root, module, parents=False)


def _version(node: ast.ClassDef) -> int:
    for item in node.body:
        if isinstance(item, (ast.Assign, ast.AnnAssign)):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            if any(isinstance(t, ast.Name) and t.id == "version" for t in targets) and item.value is not None:
                return int(ast.literal_eval(item.value))
    raise AssertionError(f"the annotator {node.name} states no version")


def current_annotators(root: Path = PROJECT) -> dict[str, dict[str, object]]:
    """Return class name → version and code digest of each annotator."""
    return {name: {"version": version, "code": digest} for name, version, digest in annotators(root)}


if __name__ == "__main__":
    RECORD.write_text(json.dumps(current_annotators(), indent=1, sort_keys=True) + "\n")
