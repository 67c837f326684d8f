"""Ratings by models: reported beside people's, with their agreement, and no figure of people's changes by a byte."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from components.core.stage_output import StageOutput
from components.ratings.tables.estimates import Counting
from components.ratings.tables.models import model_rows
from components.ratings.tables.uses import all_uses, collect_votes
from tests.stages.evaluate_ratings.rated_world import DUAL, MODEL, evaluated, rows
from tests.support.ratings.rated import item, items_table, rating, ratings_table, use, votes_of

JUDGE = "model:qwen-7b.1a2b3c4d"


def by_model(number: int, verdict: str, rater: str = JUDGE) -> dict[str, Any]:
    return rating(number, rater, verdict) | {"source": "model"}


JUDGED = [by_model(number, random.Random(number).choice(["GOOD", "BAD"])) for number in range(7)]
JUDGED += [by_model(number, "GOOD", "model:other.99999999") for number in (*range(11, 16), 2)]


def without_models(rows: dict[str, dict[str, Any]]) -> str:
    return json.dumps({name: {each: value for each, value in row.items() if each != "models"} for name, row in rows.items()})


def test_people_have_the_same_figures_to_the_byte_with_and_without_models(tmp_path: Path) -> None:
    alone, beside = evaluated(tmp_path / "alone"), evaluated(tmp_path / "beside", judged=JUDGED)
    first, second = StageOutput(alone.out), StageOutput(beside.out)
    assert first.manifest.shards == second.manifest.shards, "votes of the items, by which a split is cleaned"
    assert json.dumps(rows(alone)) == without_models(rows(beside)) and "models" in json.dumps(rows(beside))
    told = [json.loads(output.file("scores.json").read_bytes())["ratings"] for output in (first, second)]
    assert all(told[0][name] == told[1][name] for name in ("items", "ratings", "raters", "alpha"))
    for name in ("table.csv", "summary.txt"):
        people = [line for line in second.file(name).read_text().splitlines() if "model:" not in line]
        assert people == first.file(name).read_text().splitlines()
    assert (tmp_path / "alone/reports/english/ratings.csv").read_bytes() == (
        tmp_path / "beside/reports/english/ratings.csv"
    ).read_bytes()
    assert alone.metrics == beside.metrics
    human = [{name: value for name, value in figures.items() if name.startswith("human/")} for _, figures in beside.scores]
    assert human == [figures for _, figures in alone.scores]


def test_the_page_without_models_is_the_page_of_before(tmp_path: Path) -> None:
    pages = [
        StageOutput(evaluated(tmp_path / str(n), judged=judged).out).file("ratings.html").read_text()
        for n, judged in enumerate(([], JUDGED))
    ]
    assert "by models" not in pages[0].replace("rated by models", "") and "Ratings by models" in pages[1] and JUDGE in pages[1]
    start, _, rest = pages[1].partition('<h2 id="judges">')
    assert (start + rest.partition("</table></div>\n")[2]).replace(
        '<li><a href="#judges">Ratings by models</a></li>\n', ""
    ) == pages[0]


def test_agreement_with_the_majority_by_hand(tmp_path: Path) -> None:
    # Majority of 0: GOOD, 1: BAD (twice a place of the table), 2: incomplete, 6: GOOD.
    told = rows(evaluated(tmp_path, judged=[by_model(number, "GOOD") for number in (0, 1, 2, 6)]))
    judged = told["dataset/english"]["models"][JUDGE]
    assert (judged["judged"], judged["compared"]) == (5, 4)
    assert judged["figures"]["good"]["mean"] == 1.0 and judged["figures"]["equal"]["mean"] == 0.5
    # Krippendorff's alpha of (GG, GB, GB, GG): observed 2 of 4, expected 2 * 6 * 2 / (8 * 7).
    assert judged["figures"]["alpha"]["mean"] == pytest.approx(1 - 0.5 / (2 * 6 * 2 / 56), abs=1e-6)
    assert "models" not in told[f"retrieval/{DUAL}/speech_to_image"]


def test_figures_are_in_every_form_and_in_the_tracker(tmp_path: Path) -> None:
    stage = evaluated(tmp_path, judged=JUDGED)
    output = StageOutput(stage.out)
    table = {r["figure"]: r for r in csv.DictReader(io.StringIO(output.file("table.csv").read_text())) if r["source"] == DUAL}
    assert table["model:other.99999999 good"]["value"] == "1.000000" and table["model:other.99999999 good"]["counted"] == "5"
    assert "model:other.99999999 (5, 5 compared): good 1.000" in output.file("summary.txt").read_text()
    told = {(source, figure): value for source, figures in stage.scores for figure, value in figures.items()}
    assert told[DUAL, "judge/speech_to_image/other.99999999/good"] == 1.0
    assert (
        told[DUAL, "judge/speech_to_image/other.99999999/equal"]
        == rows(stage)[f"retrieval/{DUAL}/speech_to_image"]["models"]["model:other.99999999"]["figures"]["equal"]["mean"]
    )
    assert (MODEL, "judge/qwen-7b.1a2b3c4d/good") in told and ("", "judge/truth_whole/qwen-7b.1a2b3c4d/good") in told


@pytest.mark.parametrize("seed", range(20))
def test_a_model_that_repeats_or_inverts_the_majority(seed: int) -> None:
    draw = random.Random(seed)
    votes = {number: "".join(draw.choice("gb") for _ in range(3)) for number in range(12)} | {20: "ggg", 21: "bbb"}
    items = items_table(*(item(number, use("dataset", "english", f"r{number}")) for number in votes))
    people = ratings_table(*(one for number, letters in votes.items() for one in votes_of(number, letters)))
    majority = {number: letters.count("g") >= 2 for number, letters in votes.items()}

    def judged(invert: bool) -> dict[str, float]:
        own = ratings_table(*(by_model(number, "GOOD" if good != invert else "BAD") for number, good in majority.items()))
        [row] = model_rows(items, own, collect_votes(items, people), all_uses(items), Counting(resamples=20))
        return {name: value.mean for name, value in row.figures.items()} | {"compared": row.compared}

    same, inverted = judged(invert=False), judged(invert=True)
    assert same["equal"] == same["alpha"] == 1.0 and same["good"] == pytest.approx(sum(majority.values()) / len(votes))
    assert inverted["equal"] == 0.0 and inverted["alpha"] < 0 and inverted["good"] == pytest.approx(1 - same["good"])
    assert same["compared"] == inverted["compared"] == len(votes)


def test_a_model_alone_has_a_share_and_no_agreement() -> None:
    items = items_table(item(0, use("dataset", "english", "r0")))
    votes = collect_votes(items, ratings_table())
    [row] = model_rows(items, ratings_table(by_model(0, "BAD")), votes, all_uses(items), Counting(resamples=20))
    assert (row.judged, row.compared, row.figures["good"].mean) == (1, 0, 0.0) and set(row.figures) == {"good"}
    assert (row.rater, row.source, row.place) == (JUDGE, "english", "")
