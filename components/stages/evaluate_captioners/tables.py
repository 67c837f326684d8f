"""GENERATED_CAPTION records, and the results as JSON, CSV, text and MLflow metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from components.core.ledger import kept, ledger_table
from components.core.records import GENERATED_CAPTION
from components.core.text_encoding import csv_text
from components.reporting.values import Value, decimal, interval, number, rounded, six_digits
from components.stages.evaluate_captioners.inputs import EvaluationSet, Model
from components.stages.evaluate_captioners.results import CaptionerResults, Row, Table, Writing
from components.stages.evaluate_captioners.scoring import MAIN, METRICS, SIGNATURE, Scored

if TYPE_CHECKING:
    from components.execution.stage import Stage

FREQUENT = 5
"""Most frequent hallucinated objects shown for each network."""


def write_records(
    stage: Stage, sets: Sequence[EvaluationSet], models: Sequence[Model], scored: Mapping[tuple[str, str], Scored]
) -> None:
    """Write GENERATED_CAPTION records: a shard per test set, a record per item and model; the ledger lists the models."""
    for shard, test_set in enumerate(sets):
        rows = []
        for model in models:
            scores_of_model = scored[test_set.name, model.name]
            model_fields = {"test": test_set.name, "model": model.name}
            model_fields |= {name: getattr(model, name) for name in ("training", "network", "seed")}
            for at, item in enumerate(test_set.items):
                metrics = {name: scores_of_model.scores.items[name][at] for name in ("cider_d", "rouge_l")}
                mentions = scores_of_model.objects[at]
                objects = {"objects": mentions.mentioned, "unsupported": mentions.unsupported}
                texts = {"output": scores_of_model.captions[at], "references": list(item.references)}
                rows.append({"key": item.key, **model_fields, **texts, **metrics, **objects})
        ledger = ledger_table(kept(model.name, kind="model", detail=f"tried on {test_set.name}") for model in models)
        stage.write_shard(f"{shard:05d}", pa.Table.from_pylist(rows, schema=GENERATED_CAPTION), ledger)


def scores_json(results: CaptionerResults) -> str:
    """Return all results as JSON, rounded to six digits; ``about``: which CIDEr-D, vocabularies, weights of the consensus."""
    content: dict[str, Any] = {table.name: _table_json(table) for table in results.tables}
    vocabularies = {name: {"words": model.words, "min_count": model.min_count} for name, model in results.trained.items()}
    content["about"] = {"signature": SIGNATURE, "vocabularies": vocabularies, "consensus": results.weights}
    for pair in results.pairs:
        content[f"{pair.first} less {pair.second}"] = {
            test: {contrast.title: contrast.difference.plain("mean") for contrast in pair.contrasts if contrast.on == test}
            for test in (pair.first, pair.second)
        }
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _table_json(table: Table) -> dict[str, Any]:
    content: dict[str, Any] = {"items": table.items, "references": table.references}
    content["words"] = rounded(table.references_writing.figures["words"])
    content["cells"] = {row.name: {name: value.plain("mean") for name, value in row.values.items()} for row in table.rows}
    content["models"] = {
        model: {name: rounded(value) for name, value in values.items() if name in METRICS}
        for row in table.rows
        for model, values in row.seeds.items()
    }
    content["writing"] = {row.name: dict(_rounded_figures(row.writing)) for row in table.rows}
    content["writing"]["references"] = dict(_rounded_figures(table.references_writing))
    content["claims"] = [finding.plain() for finding in table.findings]
    if table.constant:
        caption, values = table.constant
        content["constant"] = {"caption": caption} | {name: value.plain("mean") for name, value in values.items()}
    return content


def _rounded_figures(writing: Writing) -> Iterator[tuple[str, float]]:
    yield from ((name, rounded(value)) for name, value in writing.figures.items())


def tracking_metrics(results: CaptionerResults) -> Iterator[tuple[str, float]]:
    """Yield the main metric of each cell on its own set's test split, and of the constant caption: ``<test>/<cell>/<metric>``."""
    for table, row in own_set_rows(results):
        yield f"{table.name}/{row.name}/{MAIN}", row.values[MAIN].mean
    for table in results.tables:
        if table.constant:
            yield f"{table.name}/constant/{MAIN}", table.constant[1][MAIN].mean


def tracking_scores(results: CaptionerResults) -> dict[str, dict[str, float]]:
    """Return model → score → value: the main metric on its own set's test split by name alone, which MLflow lists near the top,
    and ``test/<test set>/<metric>`` of every test set (CC tables 5 to 7).
    """
    scores: dict[str, dict[str, float]] = {}
    for table in results.tables:
        for row in table.rows:
            for model, values in row.seeds.items():
                of_model = scores.setdefault(model, {})
                of_model |= {f"test/{table.name}/{name}": value for name, value in values.items() if name in METRICS}
                if row.training == table.name:
                    of_model[MAIN] = values[MAIN]
    return scores


def cross_csv(results: CaptionerResults) -> str:
    """Return the scores of every cell on every test set as CSV."""
    return _csv(results, [(table, row) for table in results.tables for row in table.rows])


def own_set_rows(results: CaptionerResults) -> list[tuple[Table, Row]]:
    """Return the results of every cell on the test split of its training set."""
    return [(table, row) for table in results.tables for row in table.rows if row.training == table.name]


def own_set_csv(results: CaptionerResults) -> str:
    """Return the scores of every cell on the test split of its training set as CSV, for DVC's plot."""
    return _csv(results, own_set_rows(results))


def _csv(results: CaptionerResults, table_rows: Sequence[tuple[Table, Row]]) -> str:
    metrics = [name for name in METRICS if any(name in table.metrics for table in results.tables)]
    header = ["test", "model", "training", "network", "seeds", *(f"{m}{end}" for m in metrics for end in ("", "_sd"))]
    rows = [
        [table.name, row.name, row.training, row.network, len(row.seeds)]
        + [number for metric in metrics for number in _mean_and_deviation(row.values.get(metric))]
        for table, row in table_rows
    ]
    return csv_text(header, rows)


def _mean_and_deviation(value: Value | None) -> tuple[str, str]:
    return (six_digits(value.mean), six_digits(value.deviation)) if value else ("", "")


def render_summary(results: CaptionerResults) -> str:
    """Return a text summary: for each test set the main metric of each cell, best first, and the constant caption's."""
    lines = []
    for table in results.tables:
        width = max(len("constant caption"), *(len(row.name) for row in table.rows))
        lines.append(f"{METRICS[MAIN]} on {table.name} ({table.items:,} images, {table.references:,} references)")
        for row in sorted(table.rows, key=lambda row: (-row.values[MAIN].mean, row.name)):
            value = row.values[MAIN]
            seeds = f"{len(row.seeds)} seed{'s' if len(row.seeds) != 1 else ''}"
            lines.append(f"  {row.name:<{width}}  {number(value):<13}  ({interval(value)}; {seeds})")
        if table.constant:
            value = table.constant[1][MAIN]
            lines.append(f"  {'constant caption':<{width}}  {number(value):<13}  ({interval(value)}): “{table.constant[0]}”")
        for finding in (finding for finding in table.findings if finding.judged):
            lines.append(f"  {finding.verdict:<15} {finding.claim.says}")
            for contrast in finding.judged:
                difference = decimal(contrast.difference.mean, plus=True)
                lines.append(f"{'':18}{contrast.title} {difference} ({interval(contrast.difference)})")
        lines.append("")
    several = any(row.values[MAIN].deviation is not None for table in results.tables for row in table.rows)
    seeds = "± is over seeds. " if several else ""
    return "\n".join([*lines, f"{seeds}The interval is over images ({results.resamples:,} resamples)."]) + "\n"
