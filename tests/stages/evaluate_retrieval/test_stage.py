"""The stages from captions and images to the evaluation, on eight images, and refused settings."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from components.core.errors import HearsightError
from components.core.records import RETRIEVED
from components.core.stage_output import StageOutput
from components.stages.check import check
from tests.stages.evaluate_retrieval.world import evaluation, pretrained, spoken_set, tuned
from tests.support import PROJECT, leave_warning, make_output


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StageOutput]:
    return spoken_set(tmp_path_factory.mktemp("spoken"))


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory, spoken: dict[str, StageOutput]) -> StageOutput:
    return pretrained(tmp_path_factory.mktemp("start"), spoken, ["triplet-4", "mms-4"], [0])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, spoken: dict[str, StageOutput], start: StageOutput) -> StageOutput:
    return tuned(tmp_path_factory.mktemp("models"), spoken, start, ["both-100", "both-50"], [0])


@pytest.mark.long
def test_ranks_do_not_depend_on_the_batch_or_the_reading_processes(
    tmp_path: Path, spoken: dict[str, StageOutput], start: StageOutput
) -> None:
    whole = StageOutput(evaluation(tmp_path / "whole", spoken, start).out).table()
    for number, hardware in enumerate(({"batch": 1}, {"batch": 3, "workers": 2})):
        assert StageOutput(evaluation(tmp_path / str(number), spoken, start, hardware=hardware).out).table().equals(whole)


@pytest.mark.long
def test_models_of_both_stages_give_scores_a_page_and_table_rows_equal_on_a_second_run(
    tmp_path: Path, spoken: dict[str, StageOutput], start: StageOutput, models: StageOutput
) -> None:
    leave_warning(spoken["speech"])
    first = evaluation(tmp_path / "first", spoken, start)
    assert StageOutput(first.out).file("retrieval.html").read_text().count("found &lt;0.7&gt;") == 1
    rows = StageOutput(first.out).table().to_pylist()
    asked = {row["key"] for row in rows if row["direction"] == "speech_to_image"}
    assert asked == {f"k{place}.{number}" for place in (5, 6, 7, 8) for number in (0, 1)}
    # Four utterances in each of two rounds, two of them right for the image that two captions tell of.
    back = [row for row in rows if row["direction"] == "image_to_speech"]
    assert len(back) == 2 * 2 * 3 * 2 and {row["items"] for row in back} == {4}
    assert sorted({(row["query"], row["relevant"]) for row in back}, key=lambda pair: pair[1])[-1][1] == 2
    assert {(row["crop"], row["row"]) for row in rows} == {(c, r) for c in ("centre", "whole") for r in ("triplet-4", "mms-4")}
    scores = json.loads(StageOutput(first.out).file("scores.json").read_text())["retrieval"]
    assert scores["items"] == {"speech_to_image": 3, "image_to_speech": 4} and scores["rounds"] == 2
    assert scores["chance"]["speech_to_image"]["r_at_1"] == pytest.approx(1 / 3, abs=1e-6)
    assert scores["chance"]["image_to_speech"]["r_at_1"] == pytest.approx((1 / 4 + 1 / 4 + 1 / 2) / 3, abs=1e-6)
    assert scores["rows"]["mms-4"]["centre"]["speech_to_image"]["r_at_5"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert set(scores["models"]) == {"triplet-4-0", "mms-4-0"}
    told = dict(first.scores)
    assert set(told) == set(scores["models"])
    assert (
        told["mms-4-0"]["test/stamps/speech_to_image_r_at_5"] == 1.0
        and "test/stamps/whole_image_to_speech_r_at_1" in told["mms-4-0"]
    )
    compared = json.loads((tmp_path / "first" / "reports" / "stamps" / "evaluate_retrieval.json").read_text())["stamps"]
    assert set(compared) == {"triplet-4", "mms-4"} and set(compared["mms-4"]) == {"speech_to_image", "image_to_speech"}
    for name, value in compared["mms-4"]["speech_to_image"].items():  # one recall, the main one
        assert value == scores["rows"]["mms-4"]["centre"]["speech_to_image"][name]["value"]
    claims = {one["claim"]: one for one in json.loads(StageOutput(first.out).file("claims.json").read_text())}
    # One batch size, and no more images than are looked at.
    assert [one["verdict"] for one in claims.values()].count("not measured") == 3
    shutil.copytree(PROJECT / "expectations", tmp_path / "first" / "expectations")
    assert len(check(tmp_path / "first", "stamps", "evaluate_retrieval").passed) >= 10
    again = evaluation(tmp_path / "again", spoken, start)
    assert StageOutput(again.out).digest == StageOutput(first.out).digest

    second = evaluation(tmp_path / "second", spoken, models)
    table = list(csv.DictReader(io.StringIO(StageOutput(second.out).file("table.csv").read_text())))
    assert list(dict.fromkeys(line["row"] for line in table)) == ["both-50", "both-100"]
    paper = [line["paper"] for line in table if line["row"] == "both-100" and line["depth"] == "10" and line["paper"]]
    assert paper == ["0.495000", "0.558000"]
    page = StageOutput(second.out).file("retrieval.html").read_text()
    assert "<dt>R@k, any hit</dt>" in page and "<dt>Centre</dt>" in page and "<dt>Row both-100</dt>" in page
    assert "<dt>Interval 0.310 to 0.380</dt>" in page and "<dt>Row mms-48</dt>" not in page
    assert 'id="data"' in page and 'id="crops"' in page and "paper 0.495" in page


@pytest.mark.long
def test_a_pretrained_ear_the_true_words_and_transcripts_are_rows_of_one_table(
    tmp_path: Path, spoken: dict[str, StageOutput]
) -> None:
    models = pretrained(tmp_path, spoken, ["mms-4", "whisper-mms-4", "text-mms-4"], [0])
    config = json.loads(models.file("models/text-mms-4-0/config.json").read_text())["network"]
    assert "square" in config["vocabulary"] and config["speech"] == "text"
    assert json.loads(models.file("models/mms-4-0/config.json").read_text())["network"]["vocabulary"] == []
    done = evaluation(tmp_path, spoken, models)
    scores = json.loads(StageOutput(done.out).file("scores.json").read_text())["retrieval"]
    assert list(scores["tracks"].items()) == sorted(scores["tracks"].items()) and len(scores["tracks"]) == 4
    assert set(scores["rows"]) == {"mms-4", "whisper-mms-4", "text-mms-4", "transcript-mms-4"} and len(scores["costs"]) == 6
    assert scores["main"] == "whisper-mms-4"
    assert {path.name.partition("-v")[0] for path in (done.state / "annotations").iterdir()} >= {"whisper-states", "heard.en"}
    assert evaluation(tmp_path, spoken, models, resamples=20).cache_summary()["models"] == "4 of 4"
    with pytest.raises(HearsightError, match="'transcript-mms-4' is no row"):
        pretrained(tmp_path, spoken, ["transcript-mms-4"], [0])


def test_the_best_items_of_each_query_are_those_of_its_ranks(
    tmp_path: Path, spoken: dict[str, StageOutput], start: StageOutput
) -> None:
    output = StageOutput(evaluation(tmp_path, spoken, start, top=3).out)
    best = pq.read_table(output.file("top.parquet"))
    assert best.schema.equals(RETRIEVED)
    by_query: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for line in best.to_pylist():
        by_query.setdefault((line["key"], line["direction"], line["model"], line["crop"]), []).append(line)
    ranked = {(row["key"], row["direction"], row["model"], row["crop"]): row for row in output.table().to_pylist()}
    assert by_query.keys() == ranked.keys()
    utterances = {row["key"]: row for row in spoken["speech"].table().to_pylist()}
    for query, lines in by_query.items():
        assert [line["rank"] for line in lines] == [1, 2, 3] and len({line["candidate"] for line in lines}) == 3
        assert [line["rank"] for line in lines if line["known"]] == [r for r in ranked[query]["relevant_ranks"] if r <= 3]
        for line in lines:
            asked, candidate = line["key"], line["candidate"]
            utterance, sha = (
                (asked, candidate) if line["direction"] == "speech_to_image" else (candidate, asked.partition(".")[0])
            )
            assert len(sha) == 64 and line["known"] == (utterances[utterance]["image_sha256"] == sha)
    assert {len(lines) for lines in by_query.values()} == {3}
    # There are three images and four records.
    deeper = pq.read_table(StageOutput(evaluation(tmp_path / "deeper", spoken, start, top=9).out).file("top.parquet"))
    assert {line["direction"]: line["rank"] for line in deeper.to_pylist()} == {"speech_to_image": 3, "image_to_speech": 4}


def test_scores_stay_cached_when_a_row_is_added(
    tmp_path: Path, spoken: dict[str, StageOutput], start: StageOutput, models: StageOutput
) -> None:
    fewer = tuned(tmp_path / "fewer", spoken, start, ["both-100"], [0])
    evaluation(tmp_path, spoken, fewer)
    stage = evaluation(tmp_path, spoken, models)
    assert stage.cache_summary() == {"models": "1 of 2"}
    assert evaluation(tmp_path, spoken, models, resamples=60).cache_summary() == {"models": "2 of 2"}
    assert evaluation(tmp_path, spoken, models, matching=["image"]).cache_summary() == {"models": "0 of 2"}


def test_an_unevaluable_input_gives_a_one_line_error(tmp_path: Path, spoken: dict[str, StageOutput], models: StageOutput) -> None:
    for changed, line in (
        ({"crops": []}, r"stamps\.evaluate_retrieval\.crops: \[\] is empty"),
        ({"depths": [1, 1]}, r"stamps\.evaluate_retrieval\.depths: \[1, 1\] is empty or repeats a value"),
    ):
        with pytest.raises(HearsightError, match=line):
            evaluation(tmp_path, spoken, models, **changed)


def test_a_split_without_utterances_is_named(tmp_path: Path, spoken: dict[str, StageOutput], models: StageOutput) -> None:
    empty = make_output(tmp_path, "synthesize", [[]])
    with pytest.raises(HearsightError, match="has no utterance with a prepared image in the test split"):
        evaluation(tmp_path, spoken | {"speech": empty}, models)
