"""All that the tables and the page tell: means over seeds, intervals over items, what is set side by side."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from components.core.seeded_rng import seeded_rng
from components.metrics.caption_lengths import word_counts
from components.metrics.intervals import bootstrap_intervals
from components.stages.evaluate_captioners.analyses import Writing, writing_of, written_by_people
from components.stages.evaluate_captioners.inputs import EvaluationSet, Item, Model
from components.stages.evaluate_captioners.jobs import Constant
from components.stages.evaluate_captioners.scoring import MAIN, METRICS, Scored, Things, mean
from components.stages.evaluate_captioners.training_captions import Learnt

if TYPE_CHECKING:
    from components.stages.evaluate_captioners import Params


@dataclass(frozen=True)
class Value:
    """A metric of a row."""

    mean: float
    """Over the seeds."""
    deviation: float | None = None
    """The sample's standard deviation over the seeds; None of one seed."""
    low: float | None = None
    """The 95 % interval's end; None of a metric that is no mean over items."""
    high: float | None = None
    best: bool = False
    """Whether no other row of its table has more, as it is printed."""


@dataclass(frozen=True)
class Row:
    """A network trained on a set, tried on a test set."""

    training: str
    network: str
    seeds: dict[str, dict[str, float]]
    """Model → metric → value."""
    values: dict[str, Value]
    writing: Writing

    @property
    def name(self) -> str:
        """``<training set>-<network>``."""
        return f"{self.training}-{self.network}"


@dataclass(frozen=True)
class Table:
    """A test set."""

    name: str
    language: str
    wording: str
    """What of its records is its reference: caption, or text; empty where nobody said."""
    items: int
    references: int
    references_writing: Writing
    """How the references are written."""
    rows: list[Row]
    constant: tuple[str, dict[str, Value]] | None

    @property
    def metrics(self) -> list[str]:
        """Those there are scores of, in order."""
        return [name for name in METRICS if all(name in row.values for row in self.rows)]

    @property
    def groups(self) -> list[list[Row]]:
        """The rows by what they were trained on."""
        return [[row for row in self.rows if row.training == name] for name in dict.fromkeys(row.training for row in self.rows)]

    def row(self, training: str, network: str) -> Row | None:
        """The row of a cell."""
        return next((row for row in self.rows if (row.training, row.network) == (training, network)), None)


@dataclass(frozen=True)
class Contrast:
    """One network learned from two wordings of the same pictures, judged by one of them: the main metric."""

    network: str
    test: str
    first: Value
    second: Value
    difference: Value
    """First less second; the interval is of the differences item by item."""

    @property
    def clear(self) -> bool:
        """Whether the interval of the difference leaves out 0."""
        return (self.difference.low or 0.0) > 0 or (self.difference.high or 0.0) < 0


@dataclass(frozen=True)
class Pair:
    """Two test sets of the same pictures in different words (figure 3 of CC)."""

    first: str
    second: str
    contrasts: list[Contrast]
    examples: list[Example]
    """Pictures of which some network says different things, drawn."""


@dataclass(frozen=True)
class Said:
    """What one model says of a picture."""

    caption: str
    things: Things


@dataclass(frozen=True)
class Example:
    """A picture, its references by test set, and what each model says of it."""

    item: Item
    test: str
    """The test set whose captions are shown."""
    references: dict[str, Item]
    said: dict[str, Said]
    """Model → what it says."""


@dataclass(frozen=True)
class Facts:
    """All there is to tell."""

    dataset: str
    trainings: list[str]
    networks: list[str]
    shown: dict[tuple[str, str], list[str]]
    """(training set, network) → its models, the one shown first."""
    tables: list[Table]
    pairs: list[Pair] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    beam: int = 1
    resamples: int = 0
    phases: dict[str, str] = field(default_factory=dict)
    """Model → the phase of training whose weights were kept, where it is told."""

    @property
    def marked(self) -> bool:
        """Whether anything could be looked for that captions name and that is not there."""
        return any("captions_with_unseen" in row.writing.figures for table in self.tables for row in table.rows)


def gather(
    dataset: str,
    sets: Sequence[EvaluationSet],
    models: Sequence[Model],
    scored: Mapping[tuple[str, str], Scored],
    constants: Mapping[str, Constant],
    learned: Mapping[str, Learnt],
    params: Params,
) -> Facts:
    """Sum up; ``scored`` is by (test set, model)."""
    cells: dict[tuple[str, str], list[str]] = {}
    for model in models:
        cells.setdefault((model.training, model.network), []).append(model.name)
    pairs = _pairs(sets, cells)
    spreads = {found.name: _intervals(found, cells, pairs, scored, constants, params) for found in sets}
    tables = [_table(found, cells, scored, constants, learned, spreads[found.name]) for found in sets]
    by_name = {table.name: table for table in tables}
    return Facts(
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
                _differing(first, second, cells, scored, params),
            )
            for first, second in pairs
        ],
        _examples(sets, models, scored, params),
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
            for network in _networks_of(first.name, second.name, cells):
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
        with_best(rows),
        constant,
    )


def value_of(values: Sequence[float], ends: tuple[float, float] | None) -> Value:
    """A metric of some seeds."""
    low, high = ends or (None, None)
    return Value(mean(values), statistics.stdev(values) if len(values) > 1 else None, low, high)


def with_best(rows: Sequence[Row]) -> list[Row]:
    """The rows with the best of each metric marked, all of equals, unless there is but one row."""
    most: dict[str, float] = {}
    for row in rows:
        for metric, value in row.values.items():
            most[metric] = max(most.get(metric, 0.0), round(value.mean, 3))
    return [
        replace(
            row,
            values={
                metric: replace(value, best=len(rows) > 1 and 0 < most[metric] == round(value.mean, 3))
                for metric, value in row.values.items()
            },
        )
        for row in rows
    ]


def _pairs(
    sets: Sequence[EvaluationSet], cells: Mapping[tuple[str, str], list[str]]
) -> list[tuple[EvaluationSet, EvaluationSet]]:
    """The pairs of sets that hold the same pictures and were both learned from by some network."""
    found = []
    for at, first in enumerate(sets):
        pictures = {item.picture for item in first.items}
        for second in sets[at + 1 :]:
            if pictures == {item.picture for item in second.items} and _networks_of(first.name, second.name, cells):
                found.append((first, second))
    return found


def _networks_of(first: str, second: str, cells: Mapping[tuple[str, str], list[str]]) -> list[str]:
    return [network for training, network in cells if training == first and (second, network) in cells]


def _contrasts(
    first: str, second: str, tables: Mapping[str, Table], spreads: Mapping[str, Mapping[str, tuple[float, float]]]
) -> list[Contrast]:
    found = []
    for row in tables[first].rows:
        for test in (first, second):
            one, other = tables[test].row(first, row.network), tables[test].row(second, row.network)
            if row.training == first and one is not None and other is not None:
                a, b = one.values[MAIN], other.values[MAIN]
                low, high = spreads[test][f"{first} {second} {row.network}"]
                a, b = replace(a, best=False), replace(b, best=False)  # that was of another table
                found.append(Contrast(row.network, test, a, b, Value(a.mean - b.mean, None, low, high)))
    return found


def _examples(
    sets: Sequence[EvaluationSet], models: Sequence[Model], scored: Mapping[tuple[str, str], Scored], params: Params
) -> list[Example]:
    """Pictures of each set, drawn by what they are, so that sets of the same pictures show the same; each once."""
    by_picture = {found.name: {item.picture: item for item in found.items} for found in sets}
    examples: dict[str, Example] = {}
    for found in sets:
        places = {item.picture: at for at, item in enumerate(found.items)}
        for picture in drawn(list(places), params.seed)[: params.examples]:
            if picture in examples:
                continue
            said = {model.name: _said(scored[found.name, model.name], places[picture]) for model in models}
            references = {name: items[picture] for name, items in by_picture.items() if picture in items}
            examples[picture] = Example(by_picture[found.name][picture], found.name, references, said)
    return list(examples.values())


def _differing(
    first: EvaluationSet,
    second: EvaluationSet,
    cells: Mapping[tuple[str, str], list[str]],
    scored: Mapping[tuple[str, str], Scored],
    params: Params,
    most: int = 6,
) -> list[Example]:
    """Drawn pictures of which the first seeds of a network say different things, learned from the one and from the other."""
    networks = _networks_of(first.name, second.name, cells)
    others = {item.picture: item for item in second.items}
    places = {item.picture: at for at, item in enumerate(first.items)}
    examples: list[Example] = []
    for picture in drawn(list(places), params.seed):
        said = {
            f"{training}-{network}": _said(scored[first.name, cells[training, network][0]], places[picture])
            for network in networks
            for training in (first.name, second.name)
        }
        if any(said[f"{first.name}-{each}"].caption != said[f"{second.name}-{each}"].caption for each in networks):
            item = first.items[places[picture]]
            examples.append(Example(item, first.name, {first.name: item, second.name: others[picture]}, said))
        if len(examples) >= min(most, params.examples):
            break
    return examples[: params.examples]


def drawn(pictures: Sequence[str], seed: int) -> list[str]:
    """Pictures in an order that chance gives each by itself: one more or less moves none of the others."""
    return sorted(pictures, key=lambda picture: (seeded_rng(seed, picture, "example").random(), picture))


def _said(scored: Scored, at: int) -> Said:
    return Said(scored.captions[at], scored.things[at])


def plain(value: Value) -> dict[str, Any]:
    """What there is of a value, six digits each."""
    told = {"mean": value.mean, "sd": value.deviation, "low": value.low, "high": value.high}
    return {name: round(number, 6) + 0.0 for name, number in told.items() if number is not None}
