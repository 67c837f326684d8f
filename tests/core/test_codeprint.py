"""The digest of code moves with what the code does, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.codeprint import code_digest, imports_of, reached_files
from tests.support import PROJECT


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    package = tmp_path / "components" / "alpha"
    package.mkdir(parents=True)
    (tmp_path / "components" / "__init__.py").write_text("")
    (package / "__init__.py").write_text(
        '"""Alpha."""\nfrom components.beta import two\n\ndef one():\n    """One."""\n    return two() - 1\n'
    )
    (tmp_path / "components" / "beta.py").write_text("def two():\n    return 2\n")
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    imports_of.cache_clear()


@pytest.mark.parametrize(
    "old, new",
    [("return two", "# why\n    return two"), ('"""One."""', '"""Another."""'), ('"""Alpha."""', ""), ("two() - 1", "(two()-1)")],
)
def test_comments_docstrings_and_layout_move_nothing(tree, old, new):
    before = code_digest(tree, "components.alpha")
    change(tree / "components" / "alpha" / "__init__.py", old, new)
    assert code_digest(tree, "components.alpha") == before


def test_a_changed_line_moves_the_digest(tree):
    before = code_digest(tree, "components.alpha")
    change(tree / "components" / "alpha" / "__init__.py", "- 1", "- 2")
    assert code_digest(tree, "components.alpha") != before


def test_a_changed_line_of_an_imported_module_moves_the_digest(tree):
    before = code_digest(tree, "components.alpha")
    change(tree / "components" / "beta.py", "return 2", "return 3")
    assert code_digest(tree, "components.alpha") != before


def test_changed_data_of_a_package_moves_the_digest(tree):
    data = tree / "components" / "alpha" / "data"
    data.mkdir()
    (data / "list.txt").write_text("a")
    before = code_digest(tree, "components.alpha")
    (data / "list.txt").write_text("b")
    assert code_digest(tree, "components.alpha") != before


def test_imports_inside_functions_are_reached():
    names = {path.relative_to(PROJECT).as_posix() for path in reached_files(PROJECT, "components.dedup")}
    assert "components/dedup/groups.py" in names
    assert not any(name.startswith("components/crawl/") for name in names)
