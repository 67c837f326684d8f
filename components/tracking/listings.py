"""Lists of records for ``hearsight explain``: what one rule dropped, and what every stage kept."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.stage_output import StageOutput
from components.tracking.overview import finished

RECORDS = ("CANDIDATE", "FILTERED", "CAPTION", "GROUPED", "SPLIT")
"""Kinds of records with the columns of a candidate."""
NOT_DRAWN = "not_drawn"
"""The rule of records that evaluate_speech, a side branch, leaves out of its sample. They are not dropped."""
TEXTS = ("caption", "text", "alt")
"""Columns with a record's text, the last rewriting first."""


def dropped_by(graph: Graph, rule: str, dataset: str = "") -> Iterator[dict[str, str]]:
    """Yield the ledger rows that a rule dropped, in stage order, with ``output``, and ``text`` and ``address`` of records.

    ``output`` names the stage's output. Text and address are empty for what never became a record.

    Args:
        graph: the project's stages and chain.
        rule: e.g. ``page_over_budget``.
        dataset: only this one; '' for all.

    Raises:
        HearsightError: there is no such dataset, or no finished stage dropped anything by it; names the rules that did.
    """
    rules: set[str] = set()
    rows: list[dict[str, str]] = []
    for stage_output in finished_outputs(graph, dataset):
        ledger = stage_output.ledger()
        rows += [
            {"output": stage_output.name, **row, "verdict": verdict_in_words(row["verdict"], rule)}
            for row in ledger.filter(pc.equal(ledger["rule"], rule)).to_pylist()
        ]
        rules.update(name for name in pc.unique(ledger["rule"]).to_pylist() if name)
    if not rows:
        raise HearsightError(
            f"no finished stage dropped anything by the rule '{rule}'",
            where=graph.root / "data",
            hint=f"rules that did: {', '.join(sorted(rules)) or 'none'}",
        )
    keys = pa.array(sorted({row["key"] for row in rows}), pa.string())
    shown: dict[str, dict[str, str]] = {}
    for stage_output in finished_outputs(graph):  # the records may be of another dataset's crawl
        if stage_output.manifest.record in RECORDS:
            shown |= _texts_and_addresses(stage_output, keys)
    for row in rows:
        yield row | shown.get(row["key"], {"text": "", "address": ""})


def kept_records(graph: Graph, dataset: str = "") -> Iterator[dict[str, str]]:
    """What each dataset has kept: ``output``, ``key``, ``text`` and ``address`` of the records of its last finished stage.

    Only stages whose records are those of the crawl count; later ones make features, speech and models of the same records.

    Args:
        graph: the project's stages and chain.
        dataset: only this one; '' for all.

    Raises:
        HearsightError: there is no such dataset, or no finished stage keeps a record.
    """
    last = {
        output.path.parent: output for output in finished_outputs(graph, dataset) if output.manifest.record in RECORDS
    }  # a dataset's stages come in the order of the chain
    found = False
    for output in last.values():
        for key, shown in _texts_and_addresses(output).items():
            found = True
            yield {"output": output.name, "key": key, **shown}
    if not found:
        raise HearsightError(
            f"no finished stage keeps a record{f' of {dataset}' if dataset else ''}",
            where=graph.root / "data",
            hint="see with 'hearsight show' which stages are finished",
        )


def _texts_and_addresses(output: StageOutput, keys: pa.Array | None = None) -> dict[str, dict[str, str]]:
    """Return key → ``text`` and ``address`` of the image, of the records of an output or of those among ``keys``."""
    table = output.table()
    if keys is not None:
        table = table.filter(pc.is_in(table["key"], value_set=keys))
    texts = [name for name in TEXTS if name in table.column_names]
    shown: dict[str, dict[str, str]] = {}
    for row in table.select(["key", *texts, "image_url"]).to_pylist():
        text = " ".join(next((row[name] for name in texts if row[name]), "").split())
        shown[row["key"]] = {"text": text, "address": row["image_url"]}
    return shown


def finished_outputs(graph: Graph, only: str = "") -> Iterator[StageOutput]:
    """Yield the outputs of finished stages, of one dataset or of all, in the order of the chain.

    Raises:
        HearsightError: there is no such dataset.
    """
    if only and only not in graph.datasets:
        raise HearsightError(
            f"there is no dataset '{only}'", where=graph.root / "params.yaml", hint=f"known are: {', '.join(graph.datasets)}"
        )
    for dataset in [only] if only else graph.datasets:
        yield from finished(graph, dataset).values()


def verdict_in_words(verdict: str, rule: str) -> str:
    """Return the verdict of a ledger row for people: a record outside a sample is "not drawn"."""
    return "not drawn" if rule == NOT_DRAWN else verdict
