"""Sweep thresholds over measured values in constant memory: counts for every threshold, and the texts nearest to some;
write both as tables.

A rule is swept if its entry names a range of thresholds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.params import did_you_mean
from components.core.seeded_rng import seeded_rng
from components.core.text_encoding import csv_text
from components.stages.filter import rules
from components.stages.filter.cascade import PAGE_GROUPS, RULE_GROUPS, RULES

if TYPE_CHECKING:
    import pyarrow as pa


GRID = 60
"""Steps of the curve."""


class Swept(NamedTuple):
    """A rule that says by which thresholds it is swept, and the setting that holds its threshold."""

    rule: str
    """Name in the ledger."""
    setting: str
    """Field of ``filter.Params``."""
    by: rules.Sweep

    def allows(self, values: np.ndarray, threshold: float) -> np.ndarray:
        """Return a mask of the values that pass; a text without a value (without words) passes, as in the rule."""
        passes: np.ndarray = rules.SIGNS[self.by.sign](values, threshold) | np.isnan(values)
        return passes

    def samples_at(self, present: float) -> list[float]:
        """Return the thresholds for which samples are shown, including the current one."""
        return sorted({*(self.by.shown or self._steps(10)), present})

    def grid(self, present: float) -> list[float]:
        """The thresholds of the curve."""
        return sorted({*self._steps(GRID), *self.samples_at(present)})

    def _steps(self, count: int) -> list[float]:
        return [round(self.by.low + (self.by.high - self.by.low) * at / count, 4) for at in range(count + 1)]


SWEPT = tuple(Swept(rule.name, rule.settings[0], rule.sweep) for rule in RULES.values() if rule.sweep)
"""In the order in which the filter applies the rules."""


def choose_rules(chosen: Sequence[str]) -> list[Swept]:
    """Return the rules with the given names; all on texts when none is given.

    Raises:
        HearsightError: a rule cannot be swept.
    """
    known = {swept.rule: swept for swept in SWEPT}
    for name in chosen:
        if name not in known:
            hint = did_you_mean(name, known, f"these can: {', '.join(known)}")
            raise HearsightError(f"'{name}' is no rule whose threshold can be swept", where="--rule", hint=hint)
    return [swept for swept in SWEPT if (swept.rule in chosen if chosen else not read_images([swept]))]


def read_images(chosen: Sequence[Swept]) -> bool:
    """Return whether any of the rules reads an image."""
    return any(RULE_GROUPS[swept.rule] not in PAGE_GROUPS for swept in chosen)


SAMPLES = 3
"""Texts shown on each side of a threshold."""


class Sample(NamedTuple):
    """A text near a threshold; samples sort with the most informative first."""

    dropped: bool
    """Whether another rule drops it anyway."""
    distance: float
    lot: float
    """A random number keyed by the text, which orders equal values."""
    text: str
    value: float
    other: str
    """The first other rule that drops it."""


@dataclass
class Curve:
    """The counts of one rule by threshold."""

    swept: Swept
    present: float
    grid: list[float] = field(default_factory=list)
    alone: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    """Candidates that pass this rule, by threshold."""
    left: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    """Candidates that pass this rule and that no other text rule drops, by threshold."""
    eligible: int = 0
    """Candidates that no other text rule drops."""
    values: list[np.ndarray] = field(default_factory=list)
    """Their values, if :meth:`Sweep.thresholds` needs them."""
    inside: dict[float, list[Sample]] = field(default_factory=dict)
    outside: dict[float, list[Sample]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.grid = self.swept.grid(self.present)
        self.alone, self.left = np.zeros(len(self.grid), np.int64), np.zeros(len(self.grid), np.int64)
        for threshold in self.swept.samples_at(self.present):
            self.inside[threshold], self.outside[threshold] = [], []

    def add(self, values: np.ndarray, texts: list[str], failing: list[list[str]], lots: np.ndarray, *, keep: bool) -> None:
        """Count one shard's candidates; with ``keep`` their values stay."""
        others = [next((name for name in names if name != self.swept.rule), "") for names in failing]
        dropped = np.array([bool(name) for name in others], bool)
        self.eligible += int((~dropped).sum())
        if keep:
            self.values.append(values[~dropped & ~np.isnan(values)])
        for at, threshold in enumerate(self.grid):
            stays = self.swept.allows(values, threshold)
            self.alone[at] += int(stays.sum())
            self.left[at] += int((stays & ~dropped).sum())
        for threshold in self.inside:
            stays = self.swept.allows(values, threshold)
            for kept, side in ((stays & ~np.isnan(values), self.inside), (~stays, self.outside)):
                where = np.flatnonzero(kept)
                distance = np.abs(values[where] - threshold)
                order = where[np.lexsort((lots[where], distance, dropped[where]))][: SAMPLES * 20]
                near = [
                    Sample(
                        bool(dropped[i]), float(abs(values[i] - threshold)), float(lots[i]), texts[i], float(values[i]), others[i]
                    )
                    for i in order
                ]
                side[threshold] = _best([*side[threshold], *near])


class Sweep:
    """The curves of all swept rules; with ``pass_rate`` (0..1) also the values from which :meth:`thresholds` finds it."""

    def __init__(self, params: Any, chosen: list[Swept], pass_rate: float | None = None) -> None:
        self.curves = [Curve(swept, float(getattr(params, swept.setting))) for swept in chosen]
        self.pass_rate = pass_rate
        self.candidates = 0
        self.passing = 0
        """Candidates that pass every text rule at the present settings."""
        self.failing: Counter[str] = Counter()
        """Text rule → candidates that fail it at the present settings, whatever the others say."""

    def add(self, table: pa.Table) -> None:
        """Count one shard of measured candidates."""
        texts, failing = table.column("text").to_pylist(), table.column("failing").to_pylist()
        lots = np.array([seeded_rng("calibrate", text).random() for text in texts])
        self.candidates += len(texts)
        self.passing += sum(not names for names in failing)
        self.failing.update(name for names in failing for name in names)
        for curve in self.curves:
            values = np.array([np.nan if v is None else v for v in table.column(curve.swept.rule).to_pylist()], float)
            curve.add(values, texts, failing, lots, keep=self.pass_rate is not None)

    def losses(self) -> dict[str, float]:
        """Return rule → share of the candidates that fail it, most first; rules that none fails are left out."""
        return {rule: count / max(1, self.candidates) for rule, count in self.failing.most_common()}

    def thresholds(self) -> dict[str, float]:
        """Return rule → the strictest threshold that keeps ``pass_rate`` of the candidates that no other rule drops."""
        found = {}
        for curve in self.curves:
            ordered = np.sort(np.concatenate([*curve.values, np.zeros(0)]))
            needed = max(1, math.ceil((self.pass_rate or 0) * len(ordered)))
            if len(ordered):
                found[curve.swept.rule] = float(ordered[-needed] if curve.swept.by.sign == ">=" else ordered[needed - 1])
        return found

    def rates(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each threshold of each rule."""
        for curve in self.curves:
            for at, threshold in enumerate(curve.grid):
                yield {
                    "rule": curve.swept.rule,
                    "setting": curve.swept.setting,
                    "value": threshold,
                    "passed": int(curve.alone[at]),
                    "rate": curve.alone[at] / max(1, self.candidates),
                    "left": int(curve.left[at]),
                    "left_rate": curve.left[at] / max(1, curve.eligible),
                    "present": threshold == curve.present,
                }

    def numbers(self) -> list[tuple[str, float, int | None]]:
        """Return MLflow metrics (name, value, step): each rule's present rate, and its curve; a step is 1000 × the threshold."""
        metrics: list[tuple[str, float, int | None]] = [("candidates", self.candidates, None), ("pass_all", self.passing, None)]
        for row in self.rates():
            metrics.append((f"curve.{row['rule']}", float(row["left_rate"]), round(1000 * row["value"])))
            if row["present"]:
                metrics.append((f"pass.{row['rule']}", float(row["rate"]), None))
        return metrics


def _best(samples: list[Sample]) -> list[Sample]:
    """Return the first samples in order, one per text."""
    by_text: dict[str, Sample] = {}
    for sample in sorted(samples):
        by_text.setdefault(sample.text, sample)
    return list(by_text.values())[:SAMPLES]


RATES = ("rule", "setting", "value", "passed", "rate", "left", "left_rate", "present")
SAMPLE_COLUMNS = ("rule", "setting", "threshold", "side", "value", "text", "also_dropped_by")


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
    return csv_text((*RATES, "published_loss") if published is not None else RATES, lines, "\t")


def samples_tsv(sweep: Sweep) -> str:
    """Return a TSV line for each text nearest to a threshold, on its inside (it passes) and its outside."""
    return csv_text(
        SAMPLE_COLUMNS,
        (
            (curve.swept.rule, curve.swept.setting, f"{threshold:g}", side, f"{text.value:g}", text.text, text.other)
            for curve in sweep.curves
            for threshold in curve.inside
            for side, texts in (("inside", curve.inside[threshold]), ("outside", curve.outside[threshold]))
            for text in texts
        ),
        "\t",
    )
