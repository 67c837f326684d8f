"""Code of this project is imported by name only where its digest can follow: from a table of full names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.support import PROJECT
from tests.support.import_graph import modules

IMPORTERS = {
    "import_module", "__import__", "resolve_name", "run_module", "run_path", "find_spec", "spec_from_file_location",
    "walk_packages", "iter_modules", "load_module", "SourceFileLoader", "entry_points",
}  # fmt: skip
FREE = {
    "components/execution/background.py": "starts the background processes of checks and tracking, which compute no record",
    "components/execution/runner.py": "imports the stage that it is told to run: the stages of dvc.yaml are the registry",
    "components/execution/warm_server.py": "runs the function of the command that asks, as that command's own process would",
    "components/speech/voices/host.py": "imports an engine of a test; its own engines are imported at the top",
    "components/speech/voices/engine_espeak.py": "looks for a library in a package, which is in the key by its version",
    "components/speech/recognition/recognizer.py": "looks for the packages of weights, which are in the key by their version",
    "components/stages/dedup/captions.py": "reads a list of words of spaCy",
}
"""Files whose imports by name lead to no code of this project that a step's digest lacks, each with the reason."""


def undeclared(source: str, known: set[str]) -> Iterator[str]:
    """Yield each import by name that no table of full names declares."""
    if not any(word in source for word in (*IMPORTERS, '"-m"', "'-m'")):
        return
    tree = ast.parse(source)
    tables = {
        _name(target)
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_table(node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    }
    imported = {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(alias.name in IMPORTERS and alias.asname for alias in node.names):
            yield f"{node.lineno}: {ast.unparse(node)} (under another name)"
        elif _name(node) in IMPORTERS and id(node) not in called:
            yield f"{node.lineno}: {ast.unparse(node)} (not called here)"
        elif isinstance(node, ast.Call) and _name(node.func) in IMPORTERS:
            if not node.args or not _declared(node.args[0], tables, known):
                yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, (ast.List, ast.Tuple)):
            for option, module in zip(node.elts, node.elts[1:], strict=False):
                if isinstance(option, ast.Constant) and option.value == "-m" and not _declared(module, tables, known):
                    ours = isinstance(module, ast.Attribute) and module.attr == "__name__" and _name(module.value) in imported
                    if not ours:
                        yield f"{node.lineno}: {ast.unparse(node)}"


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") if isinstance(node, ast.Attribute) else ""


def _is_table(value: ast.expr | None) -> bool:
    """Whether a value is a literal mapping or sequence of strings."""
    values = value.values if isinstance(value, ast.Dict) else getattr(value, "elts", [None])
    return all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in values)


def _declared(argument: ast.expr, tables: set[str], known: set[str]) -> bool:
    """Whether the name of a module is written out: as a constant, as an entry of a table, or as part of another package."""
    if isinstance(argument, ast.Subscript):
        return _name(argument.value) in tables
    if isinstance(argument, ast.JoinedStr):
        first = argument.values[0]
        return isinstance(first, ast.Constant) and "." in first.value and first.value.split(".")[0] not in ("components", "flows")
    if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
        return False
    module = argument.value.partition(":")[0]
    return module in known or module.split(".")[0] not in ("components", "flows")


def test_no_import_by_name_is_undeclared():
    files, used = modules(), set()
    for path in files.values():
        name = path.relative_to(PROJECT).as_posix()
        result = list(undeclared(path.read_text(), set(files)))
        if name in FREE:
            used.update([name] if result else [])
        else:
            assert not result, f"{name}:{result[0]}: write the full names into a table of the module (CONTRIBUTING.md)"
    assert used == set(FREE), "an entry of FREE is not needed"


@pytest.mark.parametrize(
    "line, declared",
    [
        ("import_module('components.core.caption_normalization')", True),
        ("import_module('components.core.text')", False),
        ("import_module(TABLE[code])", True),
        ("import_module(table()[code])", False),
        ("import_module(f'components.stages.{stage}')", False),
        ("import_module(f'spacy.lang.{language}')", True),
        ("import_module('components.' + stage)", False),
        ("import_module(name)", False),
        ("[import_module(name) for name in TABLE]", False),
        ("list(map(import_module, names))", False),
        ("__import__(name)", False),
        ("pkgutil.resolve_name(TABLE[code])(1)", True),
        ("runpy.run_module(name)", False),
        ("from importlib import import_module as load", False),
        ("run([sys.executable, '-m', 'dvc', 'repro'])", True),
        ("run([sys.executable, '-m', 'components.cli.main'])", True),
        ("run([sys.executable, '-m', f'components.{name}'])", False),
        ("run([sys.executable, '-m', host.__name__])", True),
        ("run([sys.executable, '-m', other.__name__])", False),
    ],
)
def test_only_module_level_tables_declare_imports_by_name(line, declared):
    table = "TABLE = {'a': 'components.core.caption_normalization'}"
    source = f"import sys\nfrom components.speech.voices import host\n{table}\n{line}\n"
    assert (not list(undeclared(source, set(modules())))) is declared
