"""Tables, claims and page from hand-made ranks."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.records import RETRIEVAL_RANK
from components.reporting.values import Value
from components.reporting.verdicts import FAILS, HOLDS, UNDECIDED, UNMEASURED, verdict
from components.stages import evaluate_retrieval
from components.stages.evaluate_retrieval import claims, page, tables
from components.stages.evaluate_retrieval.columns import Cell
from components.stages.evaluate_retrieval.facts import RetrievalResults, gather
from components.stages.evaluate_retrieval.scoring import DIRECTIONS
from tests.stages.evaluate_retrieval.params import EVALUATE

QUERIES, ITEMS = 40, 50


def scored(row: str, seed: int, rank: Any, crops: tuple[str, ...] = ("centre", "whole"), rounds: int = 2) -> pa.Table:
    """A model's records: ``rank(direction, crop, query, round)`` is of its one right item."""
    rows = []
    for direction in DIRECTIONS:
        for crop in crops:
            for query in range(QUERIES):
                for number in range(rounds):
                    place = int(rank(direction, crop, query, number))
                    about = {
                        "model": f"{row}-{seed}",
                        "kind": "dual_encoder",
                        "row": row,
                        "seed": seed,
                        "crop": crop,
                        "direction": direction,
                    }
                    result = {"rank": place, "relevant_ranks": [place] if place <= 100 else [], "relevant": 1, "items": ITEMS}
                    rows.append(about | result | {"key": f"q{query}.{number}", "query": f"q{query}"})
    return pa.Table.from_pylist(rows, schema=RETRIEVAL_RANK)


def results_of(models: dict[tuple[str, int], Any], **changed: Any) -> RetrievalResults:
    """Results of models given as (row, seed) → rank."""
    params = evaluate_retrieval.Params.model_validate(EVALUATE | {"depths": [1, 5, 10, 50, 100]} | changed)
    result = {"training_pairs": 10, "parameters": 1000, "steps": 5, "validation": 0.5, "images": QUERIES, "utterances": 80}
    result |= {"records": QUERIES, "rounds": 2}
    tables_of = {f"{row}-{seed}": scored(row, seed, rank, tuple(params.crops)) for (row, seed), rank in models.items()}
    about = {f"{row}-{seed}": result | {"row": row, "seed": seed, "model": f"{row}-{seed}"} for row, seed in models}
    return gather("stamps", tables_of, about, params)


def constant(rank: int) -> Any:
    return lambda direction, crop, query, number: rank


def some(share: float, seed: int, other: int = 40) -> Any:
    """Rank 1 of a drawn share of the queries."""
    hits = np.random.default_rng(seed).random(QUERIES) < share
    return lambda direction, crop, query, number: 1 if hits[query] else other


def verdicts(results: RetrievalResults) -> list[str]:
    return [finding.verdict for finding in results.findings]


def test_rounds_and_seeds_are_averaged_before_queries_are_resampled() -> None:
    # Each query is right in one round of two: every resample has a recall of one half.
    turn = results_of({("mms-48", 0): lambda direction, crop, query, number: 1 + 30 * number, ("mms-48", 1): constant(1)})
    value = turn.main.values[Cell("centre", "speech_to_image", 10)]
    assert (value.mean, value.low, value.high, value.seeds) == (0.75, 0.75, 0.75, (0.5, 1.0))
    assert value.deviation == pytest.approx(0.5 / 2**0.5)
    assert turn.chance[Cell("", "image_to_speech", 10)] == pytest.approx(10 / ITEMS)


def test_the_interval_of_a_difference_is_that_of_the_paired_queries() -> None:
    # The same queries but for four: the difference is far surer than either recall.
    first = some(0.5, 1)
    better = results_of({
        ("none-100", 0): first, ("audio-100", 0): lambda w, c, query, n: 1 if query % 10 == 0 else first(w, c, query, n)
    })  # fmt: skip
    result = better.findings[0].judged[0].difference
    wide = better.main.values[Cell("centre", "speech_to_image", 10)]
    assert 0 <= result.low <= result.mean <= result.high < (wide.high - wide.low)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [(1, 40, HOLDS), (40, 1, FAILS), (1, 1, UNDECIDED)],
)
def test_a_claim_is_decided_by_the_sign_of_its_differences(one: int, other: int, expected: str) -> None:
    results = results_of({("mms-48", 0): constant(one), ("triplet-48", 0): constant(other)})
    better, double, larger, cropping = verdicts(results)
    assert better == expected and larger == UNMEASURED and cropping == UNDECIDED
    assert double == (HOLDS if expected == HOLDS else FAILS)


def test_a_claim_is_undecided_when_seeds_disagree() -> None:
    seeds = {("audio-100", 0): constant(1), ("audio-100", 1): constant(40), ("audio-100", 2): constant(1)}
    scratch = {("none-100", 0): constant(40), ("none-100", 1): constant(1), ("none-100", 2): constant(40)}
    finding = results_of(seeds | scratch).findings[0]
    assert finding.verdict == UNDECIDED and finding.judged[0].difference.low > 0 and finding.judged[0].agreeing == 2


def test_a_claim_fails_when_one_direction_fails() -> None:
    there = {"speech_to_image": 1, "image_to_speech": 40}
    results = results_of({
        ("image-100", 0): lambda direction, *_: there[direction], ("none-100", 0): lambda direction, *_: 41 - there[direction]
    })  # fmt: skip
    finding = results.findings[1]
    assert finding.verdict == FAILS and [verdict(each.difference) for each in finding.judged] == [HOLDS, FAILS]


def test_a_tenth_of_the_data_is_competitive_from_nine_tenths_of_the_recall() -> None:
    def almost(direction: str, crop: str, query: int, number: int) -> int:
        return 40 if query < 2 else 1

    results = results_of({("both-10", 0): almost, ("both-100", 0): constant(1), ("none-100", 0): constant(40)})
    assert verdicts(results)[3] == HOLDS
    chance = 10 / ITEMS
    assert results.findings[4].judged[0].difference.mean == pytest.approx(38 / 40 - chance - 0.9 * (1 - chance))


def test_rows_at_chance_are_not_competitive() -> None:
    def by_chance(direction: str, crop: str, query: int, number: int) -> int:
        return 1 if (query + number) % (ITEMS // 10) == 0 else 40

    results = results_of({(row, 0): by_chance for row in ("both-10", "both-100", "none-100")})
    assert verdicts(results)[3:5] == [UNDECIDED, UNDECIDED]


def test_no_claim_is_measured_where_chance_finds_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.stages.evaluate_retrieval.test_tables.ITEMS", 10)
    results = results_of({("both-10", 0): constant(1), ("both-100", 0): constant(1), ("none-100", 0): constant(1)})
    assert set(verdicts(results)) == {UNMEASURED} and results.findings[3].claim.needs == ("more than 10 items",)


def test_cropping_is_the_difference_of_crops() -> None:
    results = results_of({("both-100", 0): lambda direction, crop, query, number: 1 if crop == "whole" else 40})
    assert results.findings[-1].verdict == HOLDS and results.findings[-1].judged[0].difference.low == 1.0
    alone = results_of({("both-100", 0): constant(1)}, crops=["centre"])
    assert alone.findings[-1].claim.needs == ("crop whole",)


def test_claims_about_a_missing_depth_are_unmeasured() -> None:
    results = results_of({("mms-48", 0): constant(1), ("triplet-48", 0): constant(40)}, depths=[1, 5])
    assert verdicts(results) == [UNMEASURED, HOLDS, UNMEASURED, UNMEASURED]
    assert "R@10" in page.render_page(results)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=4), st.floats(-1, 1), st.floats(0, 1))
def test_a_claim_and_its_reverse_have_opposite_verdicts(seeds: list[float], low: float, width: float) -> None:
    there = verdict(Value(low, low, low + width, tuple(seeds)))
    back = verdict(Value(-low, -low - width, -low, tuple(-value for value in seeds)))
    assert (there, back) in {(HOLDS, FAILS), (FAILS, HOLDS), (UNDECIDED, UNDECIDED)}


def test_rows_stand_in_the_order_of_the_papers_tables() -> None:
    names = ["both-100", "audio-100", "none-100", "both-10", "image-100"]
    results = results_of({(name, 0): constant(1) for name in names})
    assert [row.name for row in results.rows] == ["none-100", "audio-100", "image-100", "both-10", "both-100"]
    results = results_of({(name, 0): constant(1) for name in ["mms-48", "triplet-48", "mms-6"]})
    assert [row.name for row in results.rows] == ["triplet-48", "mms-6", "mms-48"]


def test_files_agree_and_have_six_digits() -> None:
    results = results_of({("mms-48", seed): some(0.3, seed) for seed in (0, 1, 2)})
    scores = json.loads(tables.scores_json(results))["retrieval"]["rows"]["mms-48"]["centre"]["image_to_speech"]
    line = next(
        line for line in csv.DictReader(io.StringIO(tables.table_csv(results)))
        if (line["crop"], line["direction"], line["depth"]) == ("centre", "image_to_speech", "10")
    )  # fmt: skip
    assert {name: float(line[name]) for name in ("value", "low", "high", "sd")} == scores["r_at_10"]
    assert float(line["paper"]) == 0.269
    told = tables.tracking_scores(results)
    assert sorted(told) == ["mms-48-0", "mms-48-1", "mms-48-2"], "one of each seed"
    of_seeds = [model["test/stamps/image_to_speech_r_at_10"] for model in told.values()]
    assert sum(of_seeds) / 3 == pytest.approx(scores["r_at_10"]["value"], abs=1e-6)
    assert dict(tables.tracking_metrics(results))["mms-48/image_to_speech/r_at_10"] == pytest.approx(
        scores["r_at_10"]["value"], abs=1e-6
    )
    plotted = list(csv.DictReader(io.StringIO(tables.recall_csv(results))))
    assert [one["row"] for one in plotted] == ["mms-48", "chance"] * 2 and float(plotted[0]["r_at_100"]) == 1.0


def test_the_papers_misprint_is_corrected() -> None:
    assert claims.reported("audio-100", "image_to_speech", 1) == 0.055
    for result in (claims.TABLE_1 | claims.TABLE_2).values():
        for recalls in result.values():
            assert list(recalls) == sorted(recalls)  # deeper finds more


MANY = [f"{start}-{share}" for start in ("none", "audio", "image", "both") for share in (10, 25, 50, 100)]


@pytest.mark.parametrize("rows", [["mms-48"], ["both-100"], ["triplet-48", "mms-12", "mms-24", "mms-48"], MANY])
def test_the_page_is_complete_with_one_row_and_with_sixteen(rows: list[str]) -> None:
    results = results_of({(row, seed): some(0.1 + 0.01 * number, seed) for number, row in enumerate(rows) for seed in (0, 1)})
    html = page.render_page(results)
    for tag in ("table", "figure", "section", "details", "svg", "ul", "tr", "tbody", "thead", "span", "b", "p"):
        assert len(re.findall(rf"<{tag}[ >]", html)) == html.count(f"</{tag}>"), tag
    ids = re.findall(r'id="([^"]+)"', html)
    assert len(ids) == len(set(ids)) and set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)
    assert html.count("<svg") == html.count('role="img"') + html.count('aria-hidden="true"')
    assert all(f">{row}<" in html for row in rows) and "<script" not in html and "http" not in html
    assert ('id="data"' in html) == (len(rows) == 16)
    assert not re.search(r"\bnan\b|None|Undefined", html)


def test_a_row_name_that_looks_like_a_tag_is_escaped() -> None:
    html = page.render_page(results_of({("<b>&-1", 0): constant(1)}))
    assert "<b>&-1" not in html and "&lt;b&gt;&amp;-1" in html


def test_the_summary_has_every_row_chance_and_the_measured_claims() -> None:
    ranks = {"none": 40, "audio": 9, "image": 9, "both": 1}
    result = tables.render_summary(results_of({(f"{start}-100", 0): constant(rank) for start, rank in ranks.items()}))
    assert (
        re.search(r"none-100 +speech to image 0\.000 \([^)]*; not better than chance\).*; 1 seed, [\d,]+ training pairs", result)
        and "both-100     speech to image 1.000 (1.000 to 1.000)" in result
    )
    assert "chance       speech to image 0.200" in result and f"  {HOLDS}" in result and UNMEASURED not in result
    alone = tables.render_summary(results_of({("both-100", 0): constant(1)}, depths=[5], crops=["centre"]))
    assert "R@5" in alone and "claims" not in alone
