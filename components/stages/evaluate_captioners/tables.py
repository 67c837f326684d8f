"""The records, and the tables as files: JSON and CSV for DVC, Markdown and text for people, figures for the tracker."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from components.reporting.numbers import decimal, interval, number, rounded, six_digits
from components.reporting.tables import csv_text
from components.reporting.values import Value
from components.stages.evaluate_captioners import columns
from components.stages.evaluate_captioners.analyses import Writing
from components.stages.evaluate_captioners.inputs import EvaluationSet, Model
from components.stages.evaluate_captioners.results import CaptionerResults, Row, Table
from components.stages.evaluate_captioners.scoring import MAIN, METRICS, Scored

if TYPE_CHECKING:
    from components.execution.stage import Stage


def write_records(
    stage: Stage, sets: Sequence[EvaluationSet], models: Sequence[Model], scored: Mapping[tuple[str, str], Scored]
) -> None:
    """COMPARED: a shard a test set, a record an item and model; the ledger has the models."""
    import pyarrow as pa

    from components.core.ledger import kept, ledger_table
    from components.core.records import COMPARED

    for shard, found in enumerate(sets):
        rows = []
        for model in models:
            judgement = scored[found.name, model.name]
            about = {
                "test": found.name,
                "model": model.name,
                "training": model.training,
                "network": model.network,
                "seed": model.seed,
            }
            for at, item in enumerate(found.items):
                judged = {name: judgement.scores.items[name][at] for name in ("cider_d", "rouge_l")}
                things = {"things": judgement.things[at].named, "unseen": judgement.things[at].unseen}
                said = {"output": judgement.captions[at], "references": list(item.references)}
                rows.append({"key": item.key, **about, **said, **judged, **things})
        ledger = ledger_table(kept(model.name, kind="model", detail=f"tried on {found.name}") for model in models)
        stage.write_shard(f"{shard:05d}", pa.Table.from_pylist(rows, schema=COMPARED), ledger)


def scores_json(results: CaptionerResults) -> str:
    """Everything that was measured, six digits each."""
    content = {table.name: _scores_of(table) for table in results.tables}
    for pair in results.pairs:
        content[f"{pair.first} less {pair.second}"] = {
            test: {each.title: each.difference.plain("mean") for each in pair.contrasts if each.on == test}
            for test in (pair.first, pair.second)
        }
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _scores_of(table: Table) -> dict[str, Any]:
    content: dict[str, Any] = {
        "items": table.items,
        "references": table.references,
        "words": rounded(table.references_writing.lengths.mean),
    }
    content["cells"] = {row.name: {name: value.plain("mean") for name, value in row.values.items()} for row in table.rows}
    content["models"] = {
        model: {name: rounded(value) for name, value in values.items() if name in METRICS}
        for row in table.rows
        for model, values in row.seeds.items()
    }
    content["writing"] = {row.name: dict(_writing(row.writing)) for row in table.rows}
    content["writing"]["references"] = dict(_writing(table.references_writing))
    if table.constant:
        caption, values = table.constant
        content["constant"] = {"caption": caption} | {name: value.plain("mean") for name, value in values.items()}
    return content


def _writing(writing: Writing) -> Iterator[tuple[str, float]]:
    yield from ((name, rounded(value)) for name, value in writing.figures.items())


def figures(results: CaptionerResults) -> Iterator[tuple[str, float]]:
    """The tracker's figures: ``<test>/<training>-<network>/<metric>``, ``_sd`` of several seeds, ``<test>/constant/…``."""
    for table in results.tables:
        for row in table.rows:
            for name, value in row.values.items():
                yield f"{table.name}/{row.name}/{name}", value.mean
                if value.deviation is not None:
                    yield f"{table.name}/{row.name}/{name}_sd", value.deviation
            yield from ((f"{table.name}/{row.name}/{name}", value) for name, value in _writing(row.writing))
        for name, value in (table.constant[1] if table.constant else {}).items():
            yield f"{table.name}/constant/{name}", value.mean


def lines(results: CaptionerResults) -> Iterator[tuple[str, dict[str, str], dict[str, float]]]:
    """The tracker's table, a line a cell: its name, what it is, and ``<test>/<metric>`` for every test set (tables 5 to 7)."""
    for training, network in results.shown:
        found: dict[str, float] = {}
        for table in results.tables:
            row = table.row(training, network)
            if row is not None:
                found |= {f"{table.name}/{name}": value.mean for name, value in row.values.items()}
        told = {"training": training, "network": network, "seeds": str(len(results.shown[training, network]))}
        yield f"{training}-{network}", told, found


def cross_csv(results: CaptionerResults) -> str:
    """Every cell on every test set, a line each."""
    return _csv(results, [(table, row) for table in results.tables for row in table.rows])


def own_csv(results: CaptionerResults) -> str:
    """Every cell on the test split of the set it learned from: for DVC's plot."""
    return _csv(results, [(table, row) for table in results.tables for row in table.rows if row.training == table.name])


def _csv(results: CaptionerResults, lines: Sequence[tuple[Table, Row]]) -> str:
    metrics = [name for name in METRICS if any(name in table.metrics for table in results.tables)]
    header = ["test", "model", "training", "network", "seeds", *(f"{m}{end}" for m in metrics for end in ("", "_sd"))]
    rows = [
        [table.name, row.name, row.training, row.network, len(row.seeds)]
        + [number for metric in metrics for number in _both(row.values.get(metric))]
        for table, row in lines
    ]
    return csv_text(header, rows)


def _both(value: Value | None) -> tuple[str, str]:
    return (six_digits(value.mean), six_digits(value.deviation)) if value else ("", "")


def markdown(results: CaptionerResults) -> str:
    """The tables without pictures."""
    lines = [f"# Captioners compared: {results.dataset}"]
    for table in results.tables:
        lines += ["", f"## On {table.name}: {table.items:,} pictures, {table.references:,} references", ""]
        lines.append("| network | trained on | " + " | ".join(METRICS[name] for name in table.metrics) + " |")
        lines.append("|---|---|" + "--:|" * len(table.metrics))
        for row in table.rows:
            cells = [
                f"**{number(row.values[name])}**" if (row.name, name) in table.best else number(row.values[name])
                for name in table.metrics
            ]
            lines.append(f"| {row.network} | {row.training} | " + " | ".join(cells) + " |")
        if table.constant:
            said, values = table.constant
            lines.append("| best constant caption | | " + " | ".join(number(values[name]) for name in table.metrics) + " |")
            lines += ["", f"The best constant caption, chosen on the training split: “{said}”."]
    for table in results.tables:
        lines += ["", f"## How they write on {table.name}", "", *_written(table, columns.first(results.marked))]
        lines += ["", *_written(table, columns.RARER)]
        lines += ["", *_named(table)] if results.marked else []
    for pair in results.pairs:
        lines += ["", f"## The same pictures in other words: {pair.first} and {pair.second}", ""]
        lines += [f"{METRICS[MAIN]}, and the 95 % interval of the difference.", ""]
        lines += [f"| network | judged by | learned {pair.first} | learned {pair.second} | difference |", "|---|---|--:|--:|--:|"]
        for each in pair.contrasts:
            told = f"{decimal(each.difference.mean)} ({interval(each.difference)})"
            first, second = (number(value) for value in (each.first, each.second) if value)
            lines.append(f"| {each.title} | {each.on} | {first} | {second} | {told} |")
    return "\n".join(lines) + "\n"


def _written(table: Table, groups: Sequence[columns.Group]) -> list[str]:
    """The table of some columns, with the references below."""
    shown = [(f"{group.title}: {column.title}", column) for group in groups for column in group.columns]
    lines = ["| network | trained on | " + " | ".join(title.replace("<UNK>", "`<UNK>`") for title, _ in shown) + " |"]
    lines.append("|---|---|" + "--:|" * len(shown))
    rows = [(row.network, row.training, row.writing) for row in table.rows]
    for network, training, writing in (*rows, ("references", table.name, table.references_writing)):
        cells = [column.of(writing.figures) for _, column in shown]
        told = [f"{cell.text} ({cell.note})" if cell.note else cell.text for cell in cells]
        lines.append(f"| {network} | {training} | " + " | ".join(told) + " |")
    return lines


def _named(table: Table) -> list[str]:
    """What each network names most often that is not there."""
    told = [(row.name, ", ".join(f"{word} {times}" for word, times in row.writing.unseen[: columns.NAMED])) for row in table.rows]
    return [f"- {name} names most often what is not there: {words}" for name, words in told if words]


def summary(results: CaptionerResults) -> str:
    """What a run tells: for each test set the main metric of each cell, the best first, and the bar."""
    lines = []
    for table in results.tables:
        width = max(len("constant caption"), *(len(row.name) for row in table.rows))
        lines.append(f"{METRICS[MAIN]} on {table.name} ({table.items:,} pictures, {table.references:,} references)")
        for row in sorted(table.rows, key=lambda row: (-row.values[MAIN].mean, row.name)):
            value = row.values[MAIN]
            seeds = f"{len(row.seeds)} seed{'s' if len(row.seeds) != 1 else ''}"
            lines.append(f"  {row.name:<{width}}  {number(value):<13}  ({interval(value)}; {seeds})")
        if table.constant:
            value = table.constant[1][MAIN]
            lines.append(f"  {'constant caption':<{width}}  {number(value):<13}  ({interval(value)}): “{table.constant[0]}”")
        lines.append("")
    return "\n".join([*lines, f"± is over seeds, the interval over pictures ({results.resamples:,} resamples)."]) + "\n"
