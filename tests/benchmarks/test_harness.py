"""Turns alternate, ratios are of medians, and figures of two checkouts stand beside each other."""

from __future__ import annotations

import json

from benchmarks import harness
from benchmarks.__main__ import compared, names


def test_ways_alternate():
    calls = []
    results = harness.in_turns({"a": lambda: calls.append("a") or len(calls), "b": lambda: calls.append("b") or len(calls)}, 2)
    assert calls == ["a", "b"] * 2
    assert results == {"a": [1, 3], "b": [2, 4]}


def test_the_ratio_is_of_medians_with_the_least_and_greatest_turn():
    row = harness.beside({"ours": [1.0, 2.0, 4.0], "peer": [3.0, 4.0, 4.0]})
    assert row == {"peer / ours": 2.0, "least and greatest of peer": "1.00, 3.00"}


def test_rows_with_the_same_columns_share_a_head(capsys):
    for value in (1, 2):
        harness.show({"what": "x", "of": {"cpu": value}})
    assert capsys.readouterr().out.splitlines() == ["", "| what | of: cpu |", "|---|---|", "| x | 1 |", "| x | 2 |"]


def test_a_program_gets_json(capsys, monkeypatch):
    monkeypatch.setenv(harness.AS_JSON, "1")
    harness.show({"what": "x", "s": 0.5})
    assert json.loads(capsys.readouterr().out) == {"what": "x", "s": 0.5}


def test_figures_of_two_checkouts_are_medians_by_row_and_name():
    spread = "least and greatest of peer"
    turns = {
        "now": [[{"what": "x", "s": value, spread: f"{value}, 9"}] for value in (1, 2, 9)],
        "before": [[{"what": "x", "s": 3, spread: "1, 2"}]] * 3,
    }
    assert list(compared(turns)) == [{"of": "x", "figure": "s", "now": 2, "before": 3, "before / now": 1.5}]


def test_every_benchmark_has_a_line_that_says_what_it_measures():
    assert {"pairs", "runs"} <= names().keys() and all(names().values())
