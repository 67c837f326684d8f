"""METEOR is computed in the language of each test set, and left out with the reason where it has no data."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from tests.stages.evaluate_captioners.running import compared
from tests.stages.evaluate_captioners.world import ENCODER, PARAMS, cell, prepared, squares
from tests.support.metrics.programs import program

ANSWERS = """
import sys
value = {"en": 0.5, "pt": 0.25}[sys.argv[sys.argv.index("-l") + 1]]
for line in sys.stdin:
    print(f"{value}\\n" * (line.count("|||") + 1 if line.startswith("EVAL") else 1), end="", flush=True)
"""


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a folder like METEOR's, and a stand-in for Java whose scores depend on the option for the language."""
    (tmp_path / "meteor" / "data").mkdir(parents=True)
    (tmp_path / "meteor" / "data" / "paraphrase-en.gz").write_bytes(b"")
    (tmp_path / "meteor" / "meteor-1.5.jar").write_bytes(b"")
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin", "java", ANSWERS)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return str(tmp_path / "meteor")


def test_each_test_set_is_scored_in_its_own_language(jar: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    about = {"encoder": ENCODER}
    languages = {"english": "en", "portuguese": "pt", "japanese": "ja"}
    inputs = {name: prepared(tmp_path, name, squares(), language=code, about=about) for name, code in languages.items()}
    inputs["english-small1x1"] = cell(
        tmp_path, "english", "small1x1", {0: dict.fromkeys(range(8), "a red square")}, encoder=ENCODER
    )
    with caplog.at_level(logging.WARNING):
        output, _, _ = compared(tmp_path, inputs, PARAMS.model_copy(update={"meteor": jar}))
    table = {line.split(",")[0]: line for line in output.file("cross.csv").read_text().splitlines()}
    column = table["test"].split(",").index("meteor")
    assert [table[name].split(",")[column] for name in languages] == ["0.500000", "0.250000", ""]
    reason = "METEOR: it has no data for the language 'ja': it has some for cs, da,"
    assert [record.getMessage() for record in caplog.records if reason in record.getMessage()]
    text = output.file("compare.html").read_text()
    assert text.count("it has no data for the language") == 1 and "Left out: METEOR" in text


def test_captions_of_several_languages_are_not_scored(jar: str, tmp_path: Path) -> None:
    from components.stages.evaluate_captioners.inputs import read_set
    from components.stages.evaluate_captioners.scoring import find_language_gaps

    items = [*read_set("a", prepared(tmp_path, "a", squares())).items]
    items += read_set("b", prepared(tmp_path, "b", squares(), language="pt")).items
    gaps = find_language_gaps(items, jar, "spice")
    assert gaps["meteor"] == "METEOR: it scores captions of one language, and these are in en and pt"
    assert gaps["spice"] == "SPICE: it reads English, and these captions are in en and pt"
    assert find_language_gaps(items, "", "") == {}
