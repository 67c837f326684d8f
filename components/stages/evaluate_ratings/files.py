"""The results as JSON, CSV, text and MLflow metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from components.core.text_encoding import csv_text
from components.ratings.formats.readings import BY_MODEL
from components.ratings.tables import paper
from components.ratings.tables.estimates import Estimate
from components.ratings.tables.models import ModelRow
from components.ratings.tables.recall import RecallRow
from components.ratings.tables.uses import MODEL, RETRIEVAL, TRUTH
from components.reporting.values import decimal, rounded, six_digits
from components.stages.evaluate_ratings.results import RatingResults

NOT_DEFINED = "not defined"
"""Text of an agreement of equal verdicts, or of single raters."""


MODEL_FIGURES = {"good": "good", "equal": "equal to the majority", "alpha": "alpha with it"}
"""Figure of a model's ratings → what it is called."""


def paper_figure(row: RecallRow, figure: str) -> float | None:
    """Return the paper's recall beside a figure of a row; its R@5 is the share of results that match."""
    place = {"human_r_at_1": ("human", 0), "human_matches_of_5": ("human", 1)}
    place |= {"known_r_at_1": ("known", 0), "known_r_at_5": ("known", 1)}
    printed = paper.recalls(row.source, row.direction)
    return printed[place[figure][0]][place[figure][1]] if printed and figure in place else None


def figures_of(results: RatingResults) -> Iterator[tuple[dict[str, Any], dict[str, Estimate], dict[str, float | None]]]:
    """Yield every row of every table: what it is, its figures by name, and the paper's."""
    for row in results.shares:
        about = {"table": row.table, "source": row.source, "crop": row.crop, "direction": "", "raters": row.raters}
        names = [f"good_{k}_of_{row.raters}" for k in range(1, row.raters + 1)]
        printed = dict(zip(names, paper.shares(row), strict=True))
        figures = dict(zip(names, row.good, strict=False)) | ({"alpha": row.alpha} if row.alpha else {})
        yield about | {"counted": row.items, "incomplete": row.incomplete}, figures, printed
    for recall in results.recalls:
        about = {"table": RETRIEVAL, "source": recall.source, "crop": "", "direction": recall.direction, "raters": recall.raters}
        figures = recall.figures | ({"alpha": recall.alpha} if recall.alpha else {})
        printed = {name: paper_figure(recall, name) for name in recall.figures}
        yield about | {"counted": recall.queries, "incomplete": recall.incomplete}, figures, printed


def automatic_of(results: RatingResults, about: dict[str, Any]) -> dict[str, float]:
    """Return the automatic figures beside a row: a captioner's scores, or a model's recall over all queries."""
    if about["table"] == MODEL:
        return results.scores.get(about["source"], {})
    if about["table"] == RETRIEVAL:
        recalls = results.all_queries.get((about["source"], about["direction"]), {})
        return {f"all_{name}": value for name, value in recalls.items()}
    return {}


def scores_json(results: RatingResults) -> str:
    """Return all results as JSON with six digits."""
    rows = [
        about
        | {"figures": {name: _plain(value) for name, value in figures.items()}}
        | {"automatic": {name: rounded(value) for name, value in automatic_of(results, about).items()}}
        | {"paper": {name: value for name, value in printed.items() if value is not None}}
        | ({"models": {row.rater: _judged(row) for row in judged}} if (judged := results.judged(about)) else {})
        for about, figures, printed in figures_of(results)
    ]
    content = {
        "items": results.items, "ratings": results.ratings, "raters": results.raters, "rows": rows,
        "alpha": {table: _plain(value) for table, value in results.agreement.items()},
    }  # fmt: skip
    return json.dumps({"ratings": content}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def majorities(results: RatingResults) -> Iterator[tuple[str, float]]:
    """Yield each row's name and its share rated GOOD by the majority, or matched at rank 1; for DVC's metrics and plot."""
    for about, figures, _ in figures_of(results):
        majority = figures.get("human_r_at_1") or figures.get(f"good_{about['raters'] // 2 + 1}_of_{about['raters']}")
        if majority:
            yield name_of(about), majority.mean


def name_of(about: dict[str, Any]) -> str:
    """Return a row's name: table, source, and crop or direction."""
    return "/".join(filter(None, (about["table"], about["source"], about["crop"] or about["direction"])))


def _plain(value: Estimate) -> dict[str, float]:
    return {name: rounded(number) for name, number in value._asdict().items() if number is not None}


def _judged(row: ModelRow) -> dict[str, Any]:
    figures = {name: _plain(value) for name, value in row.figures.items()}
    return {"judged": row.judged, "compared": row.compared, "figures": figures}


def table_csv(results: RatingResults) -> str:
    """Return every figure with its interval and the paper's value as CSV."""
    head = ["table", "source", "crop", "direction", "raters", "counted", "incomplete", "figure", "value", "low", "high", "paper"]
    lines = []
    for about, figures, printed in figures_of(results):
        for name, value in figures.items():
            numbers = [six_digits(number) for number in (*value, printed.get(name))]
            lines.append([*about.values(), name, *numbers])
        for name, number in automatic_of(results, about).items():
            lines.append([*about.values(), name, six_digits(number), "", "", ""])
        for row in results.judged(about):
            for name, value in row.figures.items():
                of_model = about | {"raters": 1, "counted": row.judged if name == "good" else row.compared, "incomplete": ""}
                lines.append([*of_model.values(), f"{row.rater} {name}", *(six_digits(number) for number in value), ""])
    return csv_text(head, lines)


def plot_csv(results: RatingResults) -> str:
    """Return the majorities of each row as CSV for DVC's plot."""
    return csv_text(["line", "good_by_majority"], [[name, six_digits(share)] for name, share in majorities(results)])


def render_summary(results: RatingResults) -> str:
    """Return a text summary of all tables."""
    lines = [
        f"human ratings of {results.dataset}: {results.ratings:,} ratings of {results.items:,} items by {results.raters:,} raters"
    ]
    for about, figures, _ in figures_of(results):
        alpha = figures.pop("alpha", None)
        shown = ", ".join(f"{name.replace('_', ' ')} {_shown(value)}" for name, value in figures.items()) or "nothing counts yet"
        left = f", {about['incomplete']:,} incomplete" if about["incomplete"] else ""
        agreement = f"; alpha {_shown(alpha) if alpha else NOT_DEFINED}" if figures else ""
        lines.append(f"  {name_of(about)} ({about['counted']:,}{left}): {shown}{agreement}")
        for row in results.judged(about):
            told = ", ".join(f"{MODEL_FIGURES[name]} {_shown(value)}" for name, value in row.figures.items())
            lines.append(f"    {row.rater} ({row.judged:,}, {row.compared:,} compared): {told}")
    return "\n".join([*lines, f"intervals are over items or queries ({results.params.resamples:,} resamples)"]) + "\n"


def _shown(value: Estimate) -> str:
    ends = "" if value.low is None or value.high is None else f" ({decimal(value.low)} to {decimal(value.high)})"
    return f"{decimal(value.mean)}{ends}"


def tracking_metrics(results: RatingResults) -> Iterator[tuple[str, float]]:
    """Yield (name, value) of the run's metrics: what was rated, and how well raters agree."""
    yield from (("items", results.items), ("ratings", results.ratings), ("raters", results.raters))
    for table, alpha in results.agreement.items():
        yield f"{table}/alpha", alpha.mean


def tracking_scores(results: RatingResults) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the figures of each row for the tracker: those of a model by its name, those of the rated dataset by ''."""
    for about, figures, _ in figures_of(results):
        of_model = about["table"] in (MODEL, RETRIEVAL)
        part = about["direction"] or (f"{about['table']}_{about['crop']}" if about["table"] == TRUTH else "")
        prefix = f"human/{part}/" if part else "human/"
        named = {f"{prefix}{name}": value.mean for name, value in figures.items()}
        for row in results.judged(about):
            judge = f"judge/{prefix.removeprefix('human/')}{row.rater.removeprefix(f'{BY_MODEL}:')}"
            named |= {f"{judge}/{name}": value.mean for name, value in row.figures.items()}
        yield about["source"] if of_model else "", named
