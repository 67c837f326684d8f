"""The page over time and the text summary. Each plot has its numbers in a table beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from components.reporting import svg
from components.reporting.pages import render
from components.stages.drift import PAGE, Params
from components.stages.drift.history import Day
from components.stages.drift.series import Judged

GROUPS = ("pass rates", "lengths", "languages", "owners", "hosts", "errors")
ABOUT = {
    "pass rates": "New records that each stage keeps, and drops by rule.",
    "lengths": "Words of the captions of new records.",
    "languages": "Languages of new candidates.",
    "owners": "Owners of new candidates.",
    "hosts": "Hosts of new candidates.",
    "errors": "Addresses of the whole snapshot, each asked again on the day, by what their request ended with.",
}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420.0, 170.0, 56.0, 410.0, 12.0, 140.0


@dataclass(frozen=True)
class Plot:
    """One measure over days."""

    judged: list[Judged]
    """Each day that is shown, the last one last."""
    names: list[str]

    @property
    def last(self) -> Judged:
        """The day."""
        return self.judged[-1]

    @property
    def rows(self) -> list[tuple[str, Judged]]:
        """Name and value of each day with records, the newest first."""
        return [pair for pair in zip(self.names, self.judged, strict=True) if pair[1].point][::-1]

    @property
    def label(self) -> str:
        """The plot in words."""
        measure, outside = self.last.measure, [name for name, one in self.rows if one.outside]
        value = self.last.spell(self.last.point.value) if self.last.point else "no records"
        text = f"{measure.title} over {len(self.rows)} days; {value} on {self.names[-1]}"
        text += f", usual {self.last.spelled_range}" if self.last.range else ""
        return text + (f"; outside the usual range on {', '.join(outside[:5])}" if outside else "")

    @property
    def svg(self) -> str:
        """The drawing."""
        values = [value for one in self.judged for value in (*(one.range or ()), *([one.point.value] if one.point else []))]
        low, high = min(values), max(values)
        gap = (high - low) * 0.05 or max(abs(high) * 0.1, 0.005)
        low, high = max(low - gap, 0.0), high + gap

        def y(value: float) -> float:
            return BOTTOM - (value - low) / (high - low) * (BOTTOM - TOP)

        xs = [LEFT + 8 + (RIGHT - LEFT - 16) * at / max(len(self.judged) - 1, 1) for at in range(len(self.judged))]
        parts: list[str] = []
        for value in (low, (low + high) / 2, high):
            parts += [svg.horizontal(y(value), LEFT, RIGHT), svg.text(LEFT - 6, y(value) + 4, self.last.spell(value), "end")]
        for known, run in groupby(zip(xs, self.judged, strict=True), lambda pair: pair[1].range is not None):
            # A day is 6 wide, so that one alone is seen.
            band = [(x + side, one.range) for x, one in run if one.range for side in (-3, 3)]
            if known:
                corners = [(x, y(limits[1])) for x, limits in band] + [(x, y(limits[0])) for x, limits in band[::-1]]
                parts.append(svg.path(corners, "band"))
        drawn = [(x, one) for x, one in zip(xs, self.judged, strict=True) if one.point]
        parts.append(svg.path(((x, y(one.point.value)) for x, one in drawn if one.point), "values"))
        parts += [svg.mark(x, y(one.point.value), "outside" if one.outside else "dot") for x, one in drawn if one.point]
        parts += [svg.text(LEFT, HEIGHT - 8, self.names[0], "start"), svg.text(RIGHT, HEIGHT - 8, self.names[-1], "end")]
        return svg.plot(WIDTH, HEIGHT, self.label, parts)


def render_page(dataset: str, days: Sequence[Day], judged: Sequence[list[Judged]], params: Params) -> str:
    """Return the page: what lies outside, the day's values, and each measure over the days.

    Args:
        days: the days that are shown, the day itself last.
        judged: each measure on these days.
    """
    names = [day_name(day.snapshot) for day in days]
    plots = [Plot(measure, names) for measure in judged if any(one.point for one in measure)]
    groups = {group: [plot for plot in plots if plot.last.measure.group == group] for group in GROUPS}
    return render(
        Path(__file__).parent / "data",
        PAGE,
        dataset=dataset,
        today=days[-1],
        past=len(days) - 1,
        params=params,
        plots=plots,
        groups={group: members for group, members in groups.items() if members},
        about=ABOUT,
        outside=[plot for plot in plots if plot.last.outside],
        note=few_days(days, params),
    )


def render_summary(dataset: str, days: Sequence[Day], judged: Sequence[list[Judged]], params: Params) -> str:
    """Return the day's findings as text."""
    records = "new records" if days[-1].new else "all records"
    lines = [f"drift of {dataset}: {days[-1].snapshot}, {records}, against {len(days) - 1} days"]
    if note := few_days(days, params):
        return f"{lines[0]}\n{note}\n"
    last = [one for *_, one in judged]
    usual = sum(one.range is not None and not one.outside for one in last)
    findings = [one.finding for one in last if one.outside]
    return "\n".join([*lines, f"in their usual range: {usual} of {usual + len(findings)} measures", *findings]) + "\n"


def few_days(days: Sequence[Day], params: Params) -> str:
    """Return a note that there are not enough days for a verdict; empty if there are."""
    past = len(days) - 1
    return "" if past >= params.least_days else f"not enough days: {past} of the {params.least_days} that a verdict needs"


def day_name(snapshot: str) -> str:
    """Return the date at the end of a snapshot's name, or the name."""
    match = re.search(r"\d{4}-\d{2}-\d{2}$", snapshot)
    return match[0] if match else snapshot
