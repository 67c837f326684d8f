"""Ensembles of seeds and consensus reranking are rows beside plain decoding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages.evaluate_captioners import Consensus
from tests.stages.evaluate_captioners.running import compared
from tests.stages.evaluate_captioners.world import COLOURS, PARAMS, cell, prepared

SAYS = {place: "a red square" if place == 0 else "a white square" for place in range(8)} | {7: "a yellow square"}
"""What each seed writes; of the colours it knows, yellow is right for image 5 and its copies."""
CAPTIONS = [[f"a {colour} square"] for colour in COLOURS] * 3
SPLITS = {"test_from": 16, "validation_from": 8}
"""Image n has the features of images n + 8 and n + 16, so the nearest training image has its colour."""
BOTH = PARAMS.model_copy(update={"ensemble": True, "consensus": Consensus(neighbours=1, captions=1, beam=30)})
ROWS = ["small1x1", "small1x1, consensus", "small1x1 x 2 seeds", "small1x1 x 2 seeds, consensus"]


def inputs(root: Path, second: dict[int, str] = SAYS, **splits: Any) -> dict[str, StageOutput]:
    return {
        "input": prepared(root, "english", CAPTIONS, **(splits or SPLITS)),
        "english-small1x1": cell(root, "english", "small1x1", {0: SAYS, 1: second}),
    }


@pytest.fixture(scope="module")
def ranked(networks: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StageOutput, Any]:
    root = tmp_path_factory.mktemp("rows")
    output, _, stage = compared(root, inputs(root), BOTH)
    return root, output, stage


def test_each_way_to_decode_is_a_row_with_the_captions_of_its_own(ranked: Any) -> None:
    rows = ranked[1].table().to_pylist()
    assert list(dict.fromkeys(row["network"] for row in rows)) == ROWS
    written = {(row["model"], row["key"]): row["output"] for row in rows}
    plain = [f"english-{name}" for name in ("small1x1-0", "small1x1-1", "small1x1 x 2 seeds")]
    assert {written[name, "k21.0"] for name in plain} == {"a white square"}
    reranked = [f"english-{name}" for name in ("small1x1, consensus-0", "small1x1, consensus-1", "small1x1 x 2 seeds, consensus")]
    assert {written[name, "k21.0"] for name in reranked} == {"a yellow square"}
    assert len(written) == 6 * 8


def test_the_page_and_the_scores_say_what_was_weighed_and_which_metric_it_is(ranked: Any) -> None:
    scores, page = json.loads(ranked[1].file("scores.json").read_text()), ranked[1].file("compare.html").read_text()
    assert set(scores["english"]["cells"]) == {f"english-{name}" for name in ROWS}
    better, worse = (scores["english"]["cells"][f"english-{name}"]["cider_d"]["mean"] for name in (ROWS[1], ROWS[0]))
    assert better > worse
    about = scores["about"]
    assert len(about["consensus"]) == 3 and min(about["consensus"].values()) > 0
    assert about["vocabularies"]["english-small1x1-1"]["words"] == 5 and len(about["vocabularies"]) == 2
    assert "sigma 6" in about["signature"] and about["signature"].replace("'", "&#39;") in page
    assert "<b>1</b><span>network</span>" in page and "<b>2</b><span>trained models, each seed counted</span>" in page


def test_a_second_run_computes_nothing_and_a_given_weight_needs_no_validation(ranked: Any) -> None:
    root = ranked[0]
    again, _, stage = compared(root, inputs(root), BOTH)
    assert again.digest == ranked[1].digest
    summary = stage.cache_summary()
    # Three models, and the vectors of the three splits once for all of them.
    steps = {"captions": "9 of 9", "vectors": "3 of 3", "consensus": "6 of 6", "constant": "1 of 1", "scores": "7 of 7"}
    assert summary == steps
    given = BOTH.model_copy(update={"consensus": BOTH.consensus.model_copy(update={"weight": 3.0})})
    output, _, stage = compared(root, inputs(root, test_from=16), given)
    assert stage.cache_summary()["consensus"] == "0 of 3"
    assert set(json.loads(output.file("scores.json").read_text())["about"]["consensus"].values()) == {3.0}


def test_what_cannot_be_done_is_one_line_with_the_setting(tmp_path: Path) -> None:
    def refused(match: str, given: dict[str, StageOutput], folder: str) -> None:
        with pytest.raises(HearsightError, match=match) as caught:
            compared(tmp_path / folder, given, BOTH)
        assert "\n" not in str(caught.value)

    other = dict.fromkeys(range(8), "a green square")
    refused("-0 and english-small1x1-1 have different vocabularies.*ensemble: false", inputs(tmp_path / "a", other), "a")
    refused("has no record in its validation split", inputs(tmp_path / "b", test_from=16), "b")
    apart = {
        "input": prepared(tmp_path / "c", "other", CAPTIONS, **SPLITS),
        "english-small1x1": inputs(tmp_path / "c")["english-small1x1"],
    }
    refused("lacks the training set english, whose captions.*neighbours: 0", apart, "c")
