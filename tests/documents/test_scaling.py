"""The costs on the page of scaling are those of the measured rates, which stand where they are said to."""

from __future__ import annotations

import pytest

from benchmarks import scaling
from tests.support import PROJECT


def test_the_page_holds_the_computed_tables() -> None:
    page = scaling.PAGE.read_text()
    assert scaling.written(page) == page, "run `python -m benchmarks.scaling --write`"


@pytest.mark.parametrize("source, said", [(r.source, r.said) for r in scaling.RATES] + [b[3:] for b in scaling.BYTES])
def test_a_rate_stands_in_its_source(source: str, said: str) -> None:
    assert said in (PROJECT / source).read_text()


def test_the_arithmetic() -> None:
    labels = next(rate for rate in scaling.RATES if rate.step == "filter: labels of images")
    assert scaling.hours(labels, 1_000_000) == pytest.approx(1_000_000 * 0.35 * 0.03 / 7.5 / 3600)
    assert [scaling.figure(value) for value in (0.000123, 0.5, 9.96, 1234)] == ["0.00012", "0.5", "10", "1,200"]
    assert [scaling.short(count) for count in scaling.CANDIDATES] == ["1 M", "100 M", "5 B"]
