"""Training of the score of segments: equal files give equal weights, and the labels are those of the descriptions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from components.core.errors import HearsightError
from components.stages.extract_descriptions import LISTS
from tests.gold.posts.describing_runs import Text, fit_runs
from tests.gold.posts.train_segments import label, main, train
from tests.support import PROJECT

CASES = PROJECT / "tests/gold/posts/taught.jsonl"


def test_equal_files_give_equal_weights_byte_for_byte(tmp_path: Path) -> None:
    about = [train([CASES], tmp_path / name) for name in ("a", "b")]
    assert about[0] == about[1] and about[0]["captions"] == len(CASES.read_text(encoding="utf-8").splitlines())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_command_prints_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(CASES), "--about", "cases", "--out", str(tmp_path / "weights.json")]) == 0
    assert json.loads((tmp_path / "weights.json").read_text())["trained_on"]["about"] == "cases"
    assert json.loads(capsys.readouterr().out)["weights"] == str(tmp_path / "weights.json")


def test_the_project_s_weights_say_what_they_were_trained_on() -> None:
    content = json.loads((LISTS / "segments.pt.json").read_text(encoding="utf-8"))
    assert content["trained_on"]["about"] and content["trained_on"]["segments"] > 0 and "bias" in content["weights"]


def test_a_piece_is_positive_if_most_of_its_words_are_next_in_the_description() -> None:
    pieces = ["Um barco azul. ", "Peça já! ", "Ao fundo, o @mar calmo. ", "Um barco azul."]
    assert label(pieces, "Um barco azul. Ao fundo, o calmo.") == [True, False, True, False]


@pytest.mark.parametrize("line", ['{"caption": 1}', '["a"]', '{"caption": "#PraCegoVer a", "description": 2}', "{broken"])
def test_a_line_without_caption_and_description_is_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(HearsightError, match="line 1"):
        train([file], tmp_path / "out")
    with pytest.raises(HearsightError, match="cannot be read"):
        train([tmp_path / "missing.jsonl"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_fitted_weights_make_the_labelled_runs_the_best() -> None:
    features = np.array([[1.0, 0, 1], [0, 1, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1]])
    texts = [Text(2, (0, 0), 1.0), Text(2, (0, 0), 1.0), Text(1, None, 1.0)]
    weights = fit_runs(features, texts, penalty=0.01, start=0.0)
    odds = features @ weights
    assert odds[0] > 0 > odds[1]


def test_the_weights_hold_no_word_of_the_captions(tmp_path: Path) -> None:
    train([CASES], tmp_path / "weights.json")
    content = json.loads((tmp_path / "weights.json").read_text(encoding="utf-8"))
    assert content["words"] and all(re.fullmatch(r"#[0-9a-f]+:-?[0-9.]+", item) for item in content["words"].split())
    assert "cortinas" in CASES.read_text(encoding="utf-8") and "cortinas" not in (tmp_path / "weights.json").read_text()
