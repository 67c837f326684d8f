"""From scores of single captions to tables: values with intervals, contrasts of wordings, examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from components.metrics.caption_lengths import word_counts
from components.metrics.intervals import bootstrap_intervals
from components.reporting.values import Contrast, Value
from components.stages.evaluate_captioners.analyses import writing_of, written_by_people
from components.stages.evaluate_captioners.examples import differing_examples, examples_of, networks_of
from components.stages.evaluate_captioners.inputs import EvaluationSet, Model
from components.stages.evaluate_captioners.jobs import Constant
from components.stages.evaluate_captioners.results import CaptionerResults, Pair, Row, Table
from components.stages.evaluate_captioners.scoring import MAIN, METRICS, Scored, mean
from components.stages.evaluate_captioners.training_captions import Learnt

if TYPE_CHECKING:
    from components.stages.evaluate_captioners import Params


def gather(
    dataset: str,
    sets: Sequence[EvaluationSet],
    models: Sequence[Model],
    scored: Mapping[tuple[str, str], Scored],
    constants: Mapping[str, Constant],
    learned: Mapping[str, Learnt],
    params: Params,
) -> CaptionerResults:
    """Sum up; ``scored`` is by (test set, model)."""
    cells: dict[tuple[str, str], list[str]] = {}
    for model in models:
        cells.setdefault((model.training, model.network), []).append(model.name)
    pairs = _pairs(sets, cells)
    spreads = {found.name: _intervals(found, cells, pairs, scored, constants, params) for found in sets}
    tables = [_table(found, cells, scored, constants, learned, spreads[found.name]) for found in sets]
    by_name = {table.name: table for table in tables}
    return CaptionerResults(
        dataset,
        list(dict.fromkeys(model.training for model in models)),
        list(dict.fromkeys(model.network for model in models)),
        cells,
        tables,
        [
            Pair(
                first.name,
                second.name,
                _contrasts(first.name, second.name, by_name, spreads),
                differing_examples(first, second, cells, scored, params),
            )
            for first, second in pairs
        ],
        examples_of(sets, models, scored, params),
        params.beam,
        params.resamples,
        {model.name: model.phase.replace("_", "-") for model in models if model.phase},
    )


def _items_of(test: str, names: Sequence[str], scored: Mapping[tuple[str, str], Scored]) -> dict[str, list[float]]:
    """Metric → each item's value, the mean over the seeds."""
    each = [scored[test, name].scores.items for name in names]
    return {metric: [mean(values) for values in zip(*(found[metric] for found in each), strict=True)] for metric in each[0]}


def _intervals(
    found: EvaluationSet,
    cells: Mapping[tuple[str, str], list[str]],
    pairs: Sequence[tuple[EvaluationSet, EvaluationSet]],
    scored: Mapping[tuple[str, str], Scored],
    constants: Mapping[str, Constant],
    params: Params,
) -> dict[str, tuple[float, float]]:
    """The ends by ``<training>-<network> <metric>``, `` <metric>`` (constant), ``<first> <second> <network>`` (contrast)."""
    columns: dict[str, Sequence[float]] = {}
    for (training, network), names in cells.items():
        for metric, values in _items_of(found.name, names, scored).items():
            columns[f"{training}-{network} {metric}"] = values
    if found.name in constants:
        columns |= {f" {metric}": values for metric, values in constants[found.name].scored.scores.items.items()}
    for first, second in pairs:
        if found.name in (first.name, second.name):
            for network in networks_of(first.name, second.name, cells):
                one, other = (columns[f"{training}-{network} {MAIN}"] for training in (first.name, second.name))
                columns[f"{first.name} {second.name} {network}"] = [a - b for a, b in zip(one, other, strict=True)]
    return bootstrap_intervals(columns, seed=params.seed, resamples=params.resamples)


def _table(
    found: EvaluationSet,
    cells: Mapping[tuple[str, str], list[str]],
    scored: Mapping[tuple[str, str], Scored],
    constants: Mapping[str, Constant],
    learned: Mapping[str, Learnt],
    spreads: Mapping[str, tuple[float, float]],
) -> Table:
    rows = []
    known = [word_counts(item.references) for item in found.items]
    for (training, network), names in cells.items():
        seeds = {name: scored[found.name, name].scores.corpus for name in names}
        values = {
            metric: value_of([corpus[metric] for corpus in seeds.values()], spreads.get(f"{training}-{network} {metric}"))
            for metric in METRICS
            if all(metric in corpus for corpus in seeds.values())
        }
        writing = writing_of([(scored[found.name, name], learned[name]) for name in names], known, found.language)
        rows.append(Row(training, network, seeds, values, writing))
    constant = None
    if found.name in constants:
        corpus = constants[found.name].scored.scores.corpus
        told = {metric: value_of([corpus[metric]], spreads.get(f" {metric}")) for metric in METRICS if metric in corpus}
        constant = (constants[found.name].caption, told)
    return Table(
        found.name,
        found.language,
        str(found.about.get("wording", "")),
        len(found.items),
        found.references,
        written_by_people([text for item in found.items for text in item.references], found.language),
        rows,
        constant,
    )


def value_of(values: Sequence[float], ends: tuple[float, float] | None) -> Value:
    """Return a metric of some seeds, with its interval where there is one."""
    low, high = ends or (None, None)
    return Value(mean(values), low, high, tuple(values))


def _pairs(
    sets: Sequence[EvaluationSet], cells: Mapping[tuple[str, str], list[str]]
) -> list[tuple[EvaluationSet, EvaluationSet]]:
    """The pairs of sets that hold the same pictures and were both learned from by some network."""
    found = []
    for at, first in enumerate(sets):
        pictures = {item.picture for item in first.items}
        for second in sets[at + 1 :]:
            if pictures == {item.picture for item in second.items} and networks_of(first.name, second.name, cells):
                found.append((first, second))
    return found


def _contrasts(
    first: str, second: str, tables: Mapping[str, Table], spreads: Mapping[str, Mapping[str, tuple[float, float]]]
) -> list[Contrast]:
    """The main metric of each network that learned from both wordings, judged by each; the title is the network."""
    found = []
    for row in tables[first].rows:
        for test in (first, second):
            one, other = tables[test].row(first, row.network), tables[test].row(second, row.network)
            if row.training == first and one is not None and other is not None:
                a, b = one.values[MAIN], other.values[MAIN]
                difference = Value(a.mean - b.mean, *spreads[test][f"{first} {second} {row.network}"])
                found.append(Contrast(row.network, test, difference, a, b))
    return found
