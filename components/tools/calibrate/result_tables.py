"""Write a sweep's results: a table of the rates, and one of texts on both sides of thresholds."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from components.core.files import publish_bytes
from components.tools.calibrate.sweep import Sweep

RATES = ("rule", "setting", "value", "passed", "rate", "left", "left_rate", "present")
SAMPLES = ("rule", "setting", "threshold", "side", "value", "text", "also_dropped_by")


def write_tables(sweep: Sweep, out: Path, published: Sweep | None = None) -> tuple[Path, Path]:
    """Write ``rates.tsv`` and ``samples.tsv`` into ``out``, each atomically; return their paths.

    Args:
        sweep: of the candidates.
        published: of captions that should pass; None for none.
    """
    rates, samples = out / "rates.tsv", out / "samples.tsv"
    publish_bytes(rates, rates_tsv(sweep, published).encode())
    publish_bytes(samples, samples_tsv(sweep).encode())
    return rates, samples


def rates_tsv(sweep: Sweep, published: Sweep | None = None) -> str:
    """Return a TSV line for each threshold of each rule.

    ``passed``: candidates that pass this rule; ``rate``: their share of all candidates. ``left``: candidates that pass all text
    rules; ``left_rate``: their share of those that pass all other text rules.
    With ``published``, ``published_loss`` is the share of published captions that fail this rule.
    """
    rows = list(sweep.rates())
    losses = [[f"{1 - row['rate']:.4f}"] for row in published.rates()] if published is not None else [[] for _ in rows]
    shown = (
        row | {"value": f"{row['value']:g}", "present": "yes" if row["present"] else "no"}
        | {name: f"{row[name]:.4f}" for name in ("rate", "left_rate")}
        for row in rows
    )  # fmt: skip
    lines = ([*(row[name] for name in RATES), *loss] for row, loss in zip(shown, losses, strict=True))
    return _tsv((*RATES, "published_loss") if published is not None else RATES, lines)


def samples_tsv(sweep: Sweep) -> str:
    """Return a TSV line for each text nearest to a threshold, on its inside (it passes) and its outside."""
    return _tsv(
        SAMPLES,
        (
            (curve.swept.rule, curve.swept.setting, f"{threshold:g}", side, f"{text.value:g}", text.text, text.other)
            for curve in sweep.curves
            for threshold in curve.inside
            for side, texts in (("inside", curve.inside[threshold]), ("outside", curve.outside[threshold]))
            for text in texts
        ),
    )


def _tsv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()
