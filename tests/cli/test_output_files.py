"""A file that a user names to be written replaces nothing: not the project's settings, and no other file."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from components.cli.main import app
from components.core.errors import HearsightError
from tests.support.settings_files import copy_settings

WRITERS = [
    ("consent", "redecide", "--out"),
    ("heal", "table.csv", "--out"),
    ("heal", "table.csv", "--out", "new.csv", "--ledger"),
    ("join", "theirs.csv", "--to", "table.csv", "--out"),
    ("models", "export", "english-t2t8x8"),
    ("say", "a dog", "--voice", "flite-slt", "--out"),
    ("score", "--references", "none.json", "--candidates", "none.json", "--out"),
    ("search", "query.png", "--page"),
    ("takedown", "answer", "--host", "a.sample", "-o", "new.json", "-o"),
    ("train-description", "--captions", "none.txt", "--out"),
]

OWN = ["datasets/english.yaml", "datasets/new.json", "dvc.lock", "link.json"]
CASES = [(words, name) for words in WRITERS for name in (*OWN, *(("./params.yaml", "mine.html") if words[0] != "heal" else ()))]
"""Heal continues files of its earlier calls; of other kinds it refuses them when it reads or writes them."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy_settings(tmp_path)
    (tmp_path / "mine.html").write_text("mine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEARSIGHT_TRACKING", "off")
    return tmp_path


def files(project: Path) -> dict[Path, bytes]:
    """The project's files, but for Hearsight's state."""
    return {path: path.read_bytes() for path in project.rglob("*") if path.is_file() and ".hearsight" not in path.parts}


@pytest.mark.parametrize(("words", "name"), CASES, ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_no_command_writes_over_a_file_or_among_the_settings(project: Path, words: tuple[str, ...], name: str) -> None:
    (project / "link.json").symlink_to("datasets/linked.yaml")
    before = files(project)
    refused = CliRunner().invoke(app, [*words, name])
    assert isinstance(refused.exception, HearsightError), refused.output
    assert "is there already" in str(refused.exception) or "is the project's own" in str(refused.exception)
    assert files(project) == before
