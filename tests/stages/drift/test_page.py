"""The page of the first day has its values alone; from the second on each measure has a plot."""

from __future__ import annotations

import random

import pytest

from components.stages.drift import Params
from components.stages.drift.page import render_page
from components.stages.drift.series import Judged, measures
from tests.stages.drift.support import drawn


@pytest.mark.parametrize("count", [1, 2])
def test_a_measure_is_drawn_from_its_second_day_on_and_no_link_leads_nowhere(count: int) -> None:
    days, params = drawn(random.Random(3), count), Params()
    judged = [[Judged(measure, at, params) for at in range(count)] for measure in measures(days)]
    page = render_page("english", days, judged, params)
    values, plots = page.count('<th scope="row">'), page.count('class="plot"')
    assert values >= len(judged) > 5 and plots == (len(judged) if count > 1 else 0)
    places = {part.partition('"')[0] for part in page.split('id="')[1:]}
    assert {part.partition('"')[0] for part in page.split('href="#')[1:]} <= places
