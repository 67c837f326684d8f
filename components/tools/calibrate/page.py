"""Write a sweep's results: a self-contained page, and a table of the rates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.core.files import publish_bytes
from components.reporting.numbers import ratio
from components.reporting.pages import data_uri, render
from components.stages.filter.cascade import GROUPS
from components.tools.calibrate.plots import picture
from components.tools.calibrate.sweep import Curve, Sweep


def write_page(sweep: Sweep, out: Path, about: str) -> tuple[Path, Path]:
    """Write ``index.html`` and ``rates.tsv`` into ``out``, each atomically; return their paths."""
    page, rates = out / "index.html", out / "rates.tsv"
    publish_bytes(rates, rates_tsv(sweep).encode())
    publish_bytes(page, html(sweep, about).encode())
    return page, rates


def rates_tsv(sweep: Sweep) -> str:
    """Return a TSV line for each threshold of each rule.

    ``passed``: candidates that pass this rule; ``rate``: their share of all candidates. ``left``: candidates that pass all text
    rules; ``left_rate``: their share of those that pass all other text rules.
    """
    lines = ["rule\tsetting\tvalue\tpassed\trate\tleft\tleft_rate\tpresent"]
    lines += [
        f"{row['rule']}\t{row['setting']}\t{row['value']:g}\t{row['passed']}\t{row['rate']:.4f}\t{row['left']}"
        f"\t{row['left_rate']:.4f}\t{'yes' if row['present'] else 'no'}"
        for row in sweep.rates()
    ]
    return "\n".join(lines) + "\n"


def html(sweep: Sweep, about: str) -> str:
    """Return the page as HTML."""
    return render(
        Path(__file__).parent / "data",
        "calibration.html",
        about=about,
        candidates=sweep.candidates,
        passing=sweep.passing,
        curves=[_shown(curve, sweep.candidates) for curve in sweep.curves],
    )


def _shown(curve: Curve, candidates: int) -> dict[str, Any]:
    swept = curve.swept
    alone, left = curve.at(curve.present)
    return {
        "rule": swept.rule,
        "setting": swept.setting,
        "sign": {"<=": "≤", ">=": "≥"}.get(swept.sign, swept.sign),
        "measures": swept.measures,
        "says": _says(swept.rule),
        "present": f"{curve.present:g}",
        "alone": ratio(alone, candidates),
        "left": ratio(left, curve.eligible),
        "costs": curve.eligible - left,
        "picture": data_uri(picture(curve, candidates)),
        "rows": [_row(curve, threshold, candidates) for threshold in curve.inside],
    }


def _row(curve: Curve, threshold: float, candidates: int) -> dict[str, Any]:
    alone, left = curve.at(threshold)
    return {
        "threshold": f"{threshold:g}",
        "present": threshold == curve.present,
        "alone": ratio(alone, candidates),
        "left": ratio(left, curve.eligible),
        "left_count": left,
        "sides": [curve.inside[threshold], curve.outside[threshold]],
    }


def _says(rule: str) -> str:
    test = next(candidate.test for rules in GROUPS.values() for candidate in rules if candidate.name == rule)
    return " ".join((test.__doc__ or "").split())
