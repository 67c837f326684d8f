"""A record's whole life, told from the ledgers alone: every stage it entered, what each decided, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow.compute as pc

from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.manifest import NAME
from components.core.stage_output import StageOutput

URL_COLUMNS = ("page_url", "image_url")
TEXT_COLUMNS = ("alt", "text", "caption", "split", "group", "voice", "output")
MOST = 50
"""Lives told at most for one URL; a page can hold thousands."""


@dataclass(frozen=True)
class Event:
    """What one stage decided about a record."""

    stage_output: str
    verdict: str
    rule: str
    value: str
    threshold: str
    detail: str
    facts: dict[str, Any]


@dataclass
class Life:
    """One key and its events, stage by stage."""

    key: str
    kind: str
    events: list[Event] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {"key": self.key, "kind": self.kind, "life": [vars(event) for event in self.events]}

    def text(self) -> str:
        """For a person."""
        lines = [f"{self.kind} {self.key}"]
        for event in self.events:
            why = f" by {event.rule}: {event.value} (allowed {event.threshold})" if event.verdict == "dropped" else ""
            facts = "".join(f"\n      {name}: {value}" for name, value in event.facts.items())
            lines.append(f"  {event.stage_output}: {event.verdict}{why}{' · ' + event.detail if event.detail else ''}{facts}")
        return "\n".join(lines)


def explain(graph: Graph, what: str) -> list[Life]:
    """The lives of every record that ``what`` names.

    Args:
        graph: the project's stages and chain.
        what: a key, the beginning of one (at least six digits), or a page's or picture's URL.

    Raises:
        HearsightError: no finished stage knows it.
    """
    lives: dict[str, Life] = {}
    # A ledger's detail names addresses among other words; the one asked for must stand there whole.
    whole = rf"(^|\s){re.escape(what)}(\s|$)"
    for stage_output in _finished(graph):
        ledger = stage_output.ledger()
        keys = ledger["key"]
        if "://" in what:
            named = pc.is_in(keys, value_set=pc.unique(_keys_of_url(stage_output, what)))
            # The ledger knows addresses of what never became a record.
            chosen = pc.or_(named, pc.or_(pc.equal(keys, what), pc.match_substring_regex(ledger["detail"], whole)))
        else:
            chosen = pc.starts_with(keys, what) if len(what) >= 6 else pc.equal(keys, what)
        known = [key for key in lives if key not in (what,)]
        if known:
            chosen = pc.or_(chosen, pc.is_in(keys, value_set=_strings(known)))
        rows = ledger.filter(chosen).to_pylist()
        facts = _facts(stage_output, {row["key"] for row in rows[:MOST]})
        for row in rows[:MOST]:
            life = lives.setdefault(row["key"], Life(row["key"], row["kind"]))
            life.events.append(
                Event(
                    stage_output=stage_output.name,
                    verdict=row["verdict"],
                    rule=row["rule"],
                    value=row["value"],
                    threshold=row["threshold"],
                    detail=row["detail"],
                    facts=facts.get(row["key"], {}),
                )
            )
    if not lives:
        raise HearsightError(
            f"no finished stage knows '{what}'",
            where=graph.root / "data",
            hint="give a key of a ledger, or a URL that was crawled",
        )
    return list(lives.values())


def dropped_by(graph: Graph, rule: str, dataset: str = "") -> Iterator[dict[str, str]]:
    """What a rule dropped, stage by stage: ledger rows with the name of the stage's output as ``output``.

    Args:
        graph: the project's stages and chain.
        rule: e.g. ``page_over_budget``.
        dataset: only this one; '' for all.

    Raises:
        HearsightError: there is no such dataset, or no finished stage dropped anything by it; names the rules that did.
    """
    if dataset and dataset not in graph.datasets:
        raise HearsightError(
            f"there is no dataset '{dataset}'", where=graph.root / "params.yaml", hint=f"known are: {', '.join(graph.datasets)}"
        )
    rules: set[str] = set()
    found = False
    for stage_output in _finished(graph, dataset):
        ledger = stage_output.ledger()
        for row in ledger.filter(pc.equal(ledger["rule"], rule)).to_pylist():
            found = True
            yield {"boundary": stage_output.name, **row}
        rules.update(name for name in pc.unique(ledger["rule"]).to_pylist() if name)
    if not found:
        raise HearsightError(
            f"no finished stage dropped anything by the rule '{rule}'",
            where=graph.root / "data",
            hint=f"rules that did: {', '.join(sorted(rules)) or 'none'}",
        )


def _finished(graph: Graph, only: str = "") -> Iterator[StageOutput]:
    for dataset in [only] if only else graph.datasets:
        for stage in graph.stages_of(dataset):
            folder = graph.output(stage, dataset)
            if (folder / NAME).exists():
                yield StageOutput(folder)


def _strings(values: list[str]) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.string())


def _keys_of_url(stage_output: StageOutput, url: str) -> Any:
    found: list[str] = []
    if stage_output.manifest.record in ("CANDIDATE", "FILTERED", "CAPTION", "GROUPED", "SPLIT"):
        table = stage_output.table(["key", *URL_COLUMNS])
        for column in URL_COLUMNS:
            found += table.filter(pc.equal(table[column], url))["key"].to_pylist()
    return _strings(found)


def _facts(stage_output: StageOutput, keys: set[str]) -> dict[str, dict[str, Any]]:
    """The telling columns of the kept records, and the rewriting steps where there are any."""
    if not keys or not stage_output.shards:
        return {}
    table = stage_output.table()
    if "key" not in table.column_names:
        return {}
    rows = table.filter(pc.is_in(table["key"], value_set=_strings(sorted(keys)))).to_pylist()
    told: dict[str, dict[str, Any]] = {}
    for row in rows:
        facts = {name: row[name] for name in (*URL_COLUMNS, *TEXT_COLUMNS) if row.get(name)}
        for step in row.get("steps") or []:
            facts.setdefault("steps", []).append(f"{step['step']}: {step['before']!r} → {step['after']!r} ({step['reason']})")
        told[row["key"]] = facts
    return told
