"""A usual day gives no warning, a changed one names what changed, and few days give no verdict."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.stages.drift import Params
from components.stages.drift.history import Family
from components.stages.drift.series import Judged, measures, share
from tests.stages.drift.support import SHARES, drawn, warned


def test_of_the_days_of_a_stationary_dataset_few_warn() -> None:
    source = random.Random(20)
    judged = [bool(warned(days, at)) for days in (drawn(source, 50) for _ in range(6)) for at in range(20, 50)]
    assert sum(judged) <= 0.03 * len(judged)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"languages": {"pt": 0.55, "en": 0.4, "es": 0.05}}, "languages/candidates/en"),
        ({"languages": {"pt": 0.7, "it": 0.3}}, "languages/candidates/it"),
        ({"errors": {"": 0.9, "http_status": 0.02, "timeout": 0.08}}, "errors/pages/timeout"),
        ({"lengths": {"4": 0.8, "8": 0.2}}, "lengths/captions/mean"),
        ({"owners": {"": 0.1, "largest": 0.5, "new": 0.2, "distinct": 0.2}}, "owners/candidates/largest"),
        ({"pass_rates": {"kept": 0.35, "min_words": 0.5, "language": 0.15}}, "pass rates/filter/kept"),
    ],
)
def test_a_change_is_found_and_only_its_group_warns(changes: dict[str, dict[str, float]], expected: str) -> None:
    found = warned(drawn(random.Random(21), **changes))
    assert expected in found and {key.split("/")[0] for key in found} == {expected.split("/")[0]}
    assert "usual" in found[expected]


def test_days_that_repeat_weekly_do_not_warn() -> None:
    source, name = random.Random(22), "languages/candidates"
    days = drawn(source, 48)
    for number in range(5, 48, 7):
        for at in (number, min(number + 1, 47)):
            other = drawn(source, 1, languages={"pt": 0.5, "en": 0.45, "es": 0.05})[0].families[name]
            days[at] = replace(days[at], families={**days[at].families, name: other})
    assert not [key for at in range(30, 48) for key in warned(days, at) if key.startswith("languages")]


def test_a_day_of_errors_does_not_widen_the_range_of_the_next() -> None:
    jump = {"": 0.7, "http_status": 0.02, "timeout": 0.28}
    first = drawn(random.Random(23), errors=jump)
    second = [*first, drawn(random.Random(24), errors=jump)[-1]]
    assert "errors/pages/timeout" in warned(first) and "errors/pages/timeout" in warned(second)


def test_fewer_days_than_needed_give_no_verdict() -> None:
    days = drawn(random.Random(25), 14, errors={"": 0.1, "timeout": 0.9})
    assert not warned(days) and warned(days, least_days=13)
    assert all(Judged(measure, 13, Params()).range is None for measure in measures(days))


def test_a_day_without_records_gives_no_verdict_on_them() -> None:
    days = drawn(random.Random(26))
    days[-1] = replace(days[-1], families={name: Family() for name in SHARES})
    assert not warned(days) and all(measure.points[-1] is None for measure in measures(days))


@given(st.integers(0, 10_000), st.data())
@settings(max_examples=50)
def test_a_range_holds_the_median_and_shares_stay_between_0_and_1(records: int, data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(0, records), min_size=14, max_size=30))
    days = drawn(random.Random(1), len(counts), 10)
    days = [replace(day, families={"x/y": Family(records, {"z": n})}) for day, n in zip(days, counts, strict=True)]
    for measure in measures(days):
        judged = Judged(measure, len(days) - 1, Params(least_days=13))
        if judged.range:
            assert 0 <= judged.range[0] <= judged.range[1] <= 1
            middle = sorted(counts[:-1])[(len(counts) - 1) // 2] / records
            assert judged.range[0] - 1e-9 <= middle <= judged.range[1] + 1e-9


@given(st.integers(1, 10_000), st.data())
def test_the_scale_of_comparisons_keeps_the_order_of_shares(of: int, data: st.DataObject) -> None:
    less, more = sorted(data.draw(st.tuples(st.integers(0, of), st.integers(0, of))))
    first, second = share(less, of), share(more, of)
    assert first and second and first.scaled <= second.scaled
