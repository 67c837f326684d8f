"""Tables of ratings equal their definitions, written as loops; agreement equals the library of that name."""

from __future__ import annotations

import random
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.metrics.bootstrap import bootstrap_intervals, interval_of, resample_counts
from components.ratings.formats import csv
from components.ratings.joining import join_ratings
from components.ratings.tables import paper
from components.ratings.tables.estimates import Counting, agreement, krippendorff_alpha, mean_values
from components.ratings.tables.recall import RecallRow, recall_rows
from components.ratings.tables.shares import ShareRow, share_rows, table_agreement
from components.ratings.tables.uses import all_uses, collect_votes, first_uses
from tests.support.ratings.rated import item, items_table, key, rating, ratings_table, use, votes_of

FEW = Counting(resamples=20)


def shares(items: list[dict[str, Any]], ratings: list[dict[str, Any]], counting: Counting = FEW) -> list[ShareRow]:
    table = items_table(*items)
    return share_rows(collect_votes(table, ratings_table(*ratings)), all_uses(table), counting)


def recalls(items: list[dict[str, Any]], ratings: list[dict[str, Any]], counting: Counting = FEW) -> list[RecallRow]:
    table = items_table(*items)
    return recall_rows(collect_votes(table, ratings_table(*ratings)), all_uses(table), counting)


COUNTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30)


@given(COUNTS)
def test_agreement_is_that_of_the_library(counts: list[tuple[int, int]]) -> None:
    good, bad = np.array(counts).T
    ours = float(krippendorff_alpha(good, good + bad))
    paired = good + bad > 1
    if not (good[paired].any() and bad[paired].any()):
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(krippendorff.alpha(value_counts=np.array(counts), level_of_measurement="nominal"))


@given(COUNTS)
def test_agreement_of_kinds_is_that_of_the_items(counts: list[tuple[int, int]]) -> None:
    items = np.array(counts)
    kinds, numbers = np.unique(items, axis=0, return_counts=True)
    whole = krippendorff_alpha(items[:, 0], items.sum(axis=1))
    weighted = krippendorff_alpha(kinds[:, 0], kinds.sum(axis=1), np.stack([numbers, 2 * numbers]))
    assert weighted.shape == (2,) and np.allclose(weighted[0], whole, equal_nan=True)


def test_intervals_of_kinds_are_those_of_the_items() -> None:
    draw = random.Random(1)
    values = [draw.random() < 0.3 for _ in range(400)]
    low, high = bootstrap_intervals({"a": values}, seed=1, resamples=2000)["a"]
    counts = np.array([values.count(False), values.count(True)])
    (ours,) = mean_values(np.array([[0.0], [1.0]]), counts, Counting(resamples=2000))
    assert ours.mean == pytest.approx(sum(values) / 400)
    assert (ours.low, ours.high) == (pytest.approx(low, abs=0.01), pytest.approx(high, abs=0.01))


def test_resamples_have_as_many_items_and_equal_draws_for_equal_seeds() -> None:
    drawn = resample_counts([3, 0, 7], seed=4, resamples=50)
    assert (drawn.sum(axis=1) == 10).all() and not drawn[:, 1].any()
    assert np.array_equal(drawn, resample_counts([3, 0, 7], seed=4, resamples=50))


def test_a_statistic_undefined_in_most_resamples_has_no_interval() -> None:
    assert interval_of(np.array([np.nan, np.nan, 1.0])) is None
    assert interval_of(np.array([1.0, np.nan, 1.0])) == (1.0, 1.0)


VERDICTS = st.lists(st.text("gb", max_size=6), min_size=1, max_size=12)


@given(VERDICTS, st.integers(1, 4), st.integers(0, 3))
def test_shares_are_those_of_the_definition(verdicts: list[str], asked: int, least: int) -> None:
    items = [item(n, use("dataset", "english", f"r{n}"), raters=asked) for n in range(len(verdicts))]
    ratings = [one for n, letters in enumerate(verdicts) for one in votes_of(n, letters)]
    random.Random(1).shuffle(ratings)
    (row,) = shares(items, ratings, Counting(least, 20, caption_raters=9))
    needed = min(least, asked) if least else asked
    counted = [letters[:asked] for letters in verdicts if len(letters) >= needed]
    assert (row.items, row.incomplete, row.raters) == (len(counted), len(verdicts) - len(counted), asked)
    for k, share in enumerate(row.good, 1):
        assert share.mean == pytest.approx(sum(letters.count("g") >= k for letters in counted) / len(counted))
        assert share.low <= share.mean + 1e-9 and share.mean - 1e-9 <= share.high  # type: ignore[operator]
    assert len(row.good) == (asked if counted else 0)


def test_the_first_ratings_by_time_then_rater_count() -> None:
    one = item(1, use("dataset", "english", "r"), raters=2)
    late = [rating(1, "a", "BAD", 9), rating(1, "c", "GOOD", 1), rating(1, "b", "GOOD", 1), rating(1, "d", "BAD", 1)]
    (row,) = shares([one], late)
    assert [share.mean for share in row.good] == [1.0, 1.0]


def test_a_pair_asked_of_more_raters_for_another_table_counts_by_its_first_ratings() -> None:
    both = item(1, use("dataset", "english", "r"), use("retrieval", "mms-0", "q", direction="speech_to_image", rank=1), raters=5)
    only = item(2, use("dataset", "english", "s"), raters=3)
    (row,) = shares([both, only], [*votes_of(1, "bbbgg"), *votes_of(2, "ggg")])
    assert row.raters == 3 and [share.mean for share in row.good] == [0.5, 0.5, 0.5]
    (row,) = shares([both], votes_of(1, "bbbgg"))
    assert row.raters == 3 and [share.mean for share in row.good] == [0.0, 0.0, 0.0]


def test_sources_models_and_crops_are_rows_of_their_own() -> None:
    items = [
        item(1, use("dataset", "english", "r"), use("model", "english-b-0", "r")),
        item(2, use("model", "english-a-0", "r")),
        item(3, use("truth", "english", "r"), raters=5),
        item(4, use("truth", "english", "r"), raters=5, crop="centre"),
    ]
    rows = shares(items, [*votes_of(1, "ggb"), *votes_of(2, "bbb"), *votes_of(3, "ggggg"), *votes_of(4, "gbbbb")])
    assert [(row.table, row.source, row.crop, round(row.good[0].mean, 3)) for row in rows] == [
        ("dataset", "english", "", 1.0), ("model", "english-a-0", "", 0.0), ("model", "english-b-0", "", 1.0),
        ("truth", "english", "centre", 1.0), ("truth", "english", "whole", 1.0),
    ]  # fmt: skip
    assert [len(row.good) for row in rows] == [3, 3, 3, 5, 5] and rows[3].good[4].mean == 0.0


@pytest.mark.parametrize("verdicts", [["g", "b"], ["ggg", "ggg"], ["bbb"]])
def test_agreement_of_one_rater_or_of_equal_verdicts_is_not_defined(verdicts: list[str]) -> None:
    items = [item(n, use("dataset", "english", f"r{n}"), raters=len(verdicts[0])) for n in range(len(verdicts))]
    ratings = [one for n, letters in enumerate(verdicts) for one in votes_of(n, letters)]
    (row,) = shares(items, ratings)
    table = items_table(*items)
    assert row.alpha is None and table_agreement(collect_votes(table, ratings_table(*ratings)), all_uses(table), FEW) == {}


def test_agreement_is_1_where_raters_agree_on_every_pair() -> None:
    found = agreement(np.array([3, 0]), np.array([3, 3]), np.array([20, 20]), Counting())
    assert found == (1.0, 1.0, 1.0)


RESULTS = st.lists(
    st.lists(st.tuples(st.text("gb", min_size=2, max_size=6), st.booleans()), min_size=1, max_size=7), min_size=1, max_size=5
)


@given(RESULTS)
def test_recall_by_majority_is_that_of_the_definition(queries: list[list[tuple[str, bool]]]) -> None:
    items, ratings, number, counted = [], [], 0, []
    for query, results in enumerate(queries):
        for rank, (letters, known) in enumerate(results, 1):
            place = use("retrieval", "both-100-0", f"q{query}", direction="image_to_speech", rank=rank, known=known)
            items.append(item(number, place, raters=5))
            ratings += votes_of(number, letters)
            number += 1
        if all(len(letters) >= 5 for letters, _ in results[:5]):
            counted.append([(letters[:5].count("g") >= 3, known) for letters, known in results[:5]])
    (row,) = recalls(items, ratings)
    assert (row.queries, row.incomplete) == (len(counted), len(queries) - len(counted))
    expected = {
        "human_r_at_1": [results[0][0] for results in counted],
        "human_matches_of_5": [sum(match for match, _ in results) / len(results) for results in counted],
        "human_r_at_5": [any(match for match, _ in results) for results in counted],
        "known_r_at_1": [results[0][1] for results in counted],
        "known_r_at_5": [any(known for _, known in results) for results in counted],
    }
    assert set(row.figures) == (set(expected) if counted else set())
    for name, estimate in row.figures.items():
        assert estimate.mean == pytest.approx(np.mean(expected[name]))


def test_a_query_without_its_first_result_does_not_count() -> None:
    second = item(1, use("retrieval", "a-0", "q", direction="speech_to_image", rank=2), raters=1)
    (row,) = recalls([second], votes_of(1, "g"))
    assert (row.queries, row.incomplete, row.figures, row.alpha) == (0, 1, {}, None)


def test_tables_without_ratings_or_items_are_empty_and_no_error() -> None:
    assert shares([], []) == [] and recalls([], []) == []
    (row,) = shares([item(1, use("dataset", "english", "r"))], [])
    assert (row.items, row.incomplete, row.good, row.alpha) == (0, 1, (), None)


def test_the_first_use_of_an_item_names_its_place() -> None:
    rows = [
        item(1, use("model", "m", "r1"), use("retrieval", "d", "q", rank=3)),
        item(2),
        item(3, use("retrieval", "d", "q", rank=2)),
    ]
    places = first_uses(items_table(*rows))
    assert places["query"].to_pylist() == ["r1", "", "q"] and places["rank"].to_pylist() == [0, 0, 2]


def test_the_papers_figures_stand_beside_rows_of_the_same_kind_only() -> None:
    def printed(table: str, raters: int, source: str = "", crop: str = "") -> tuple[float | None, ...]:
        return paper.shares(ShareRow(table, source, crop, raters, 0, 0, (), None))

    assert printed("model", 3, "conceptual-t2t8x8-0") == (0.659, 0.506, 0.355)
    assert printed("model", 3, "coco-t2t8x8-1") == (0.478, 0.362, 0.275)
    assert printed("model", 3, "english-rnn1x1-0") == (None,) * 3 and printed("dataset", 2) == (None, None)
    assert printed("truth", 5, crop="centre")[4] == 0.625
    assert paper.recalls("both-100-0", "image_to_speech") == {"human": (0.306, 0.638), "known": (0.182, 0.435)}
    assert paper.recalls("mms-48-0", "image_to_speech") == {}


def test_the_last_rating_of_a_rater_counts_by_time_then_by_order() -> None:
    files = {
        "1.csv": f"item,rater,verdict,time\n{key(1)},a,GOOD,2026-01-02\n{key(1)},b,GOOD,\n{key(9)},a,GOOD,\n{key(1)},c,BAD,\n",
        "2.csv": f"item,rater,verdict,time\n{key(1)},a,BAD,2026-01-01\n{key(1)},b,BAD,\n{key(1)},b,BAD,2026-01-01\n",
    }
    read = [(name, csv.read(text.encode(), name)) for name, text in files.items()]
    ratings, ledger = join_ratings(read, items_table(item(1, use("dataset", "english", "r"))))
    assert [(r["rater"], r["verdict"]) for r in ratings.to_pylist()] == [("a", "GOOD"), ("b", "BAD"), ("c", "BAD")]
    dropped = {
        row["key"]: (row["rule"], row["value"], row["detail"]) for row in ledger.to_pylist() if row["verdict"] == "dropped"
    }
    assert dropped == {
        f"{key(1)}.a 2.csv 1": ("replaced", "BAD 2026-01-01T00:00:00.000000Z", "1.csv 1"),
        f"{key(1)}.b 1.csv 2": ("replaced", "GOOD ", "2.csv 3"),
        f"{key(1)}.b 2.csv 2": ("replaced", "BAD ", "2.csv 3"),
        f"{key(9)}.a 1.csv 3": ("unknown_item", key(9), "1.csv 3"),
    }
    assert len(ledger) == 7
