"""A record's whole life, told from the ledgers alone: every stage it entered, what each decided, and why.

Records are named by key, by page, or by picture: its address, its sha256 or a file. Not in scope: the values of rules that let
a record pass, which no ledger holds (``filter.measured``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.ledger import DROPPED
from components.core.manifest import NAME
from components.core.rule_values import RuleValue, in_words
from components.core.stage_output import StageOutput

RECORDS = ("CANDIDATE", "FILTERED", "CAPTION", "GROUPED", "SPLIT")
"""Kinds of records with the columns of a candidate."""
URL_COLUMNS = ("page_url", "image_url")
TEXT_COLUMNS = ("alt", "text", "caption", "split", "group", "voice", "output")
MOST = 50
"""Lives told at most for one URL; a page can hold thousands."""
_KEY = re.compile("[0-9a-f]{1,16}")
_DIGEST = re.compile("[0-9a-f]{17,64}")
"""The sha256 of a picture, or its beginning, longer than any key."""


@dataclass(frozen=True)
class Event:
    """What one stage decided about a record."""

    output: str
    verdict: str
    rule: str
    value: str
    threshold: str
    detail: str
    facts: dict[str, Any]
    rules: tuple[RuleValue, ...] = ()
    """The rules of the stage in the order they are asked, up to the one that dropped the record."""


@dataclass
class Life:
    """One key and its events, stage by stage."""

    key: str
    kind: str
    events: list[Event] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {"key": self.key, "kind": self.kind, "life": [asdict(event) for event in self.events]}

    def text(self) -> str:
        """For a person."""
        lines, shown = [f"{self.kind} {self.key}"], dict[str, Any]()
        for event in self.events:
            why = f" by {event.rule}: {event.value} (allowed: {in_words(event.threshold)})" if event.verdict == "dropped" else ""
            lines.append(f"  {event.output}: {event.verdict}{why}{' · ' + event.detail if event.detail else ''}")
            for name, value in event.facts.items():
                if shown.get(name) != value:  # most columns go on unchanged from stage to stage
                    lines += [f"      {name}: {line}" for line in (value if isinstance(value, list) else [value])]
            shown |= event.facts
            lines += [f"      {rule.text()}" for rule in event.rules]
        return "\n".join(lines)


def explain(graph: Graph, what: str) -> list[Life]:
    """The lives of every record that ``what`` names.

    Args:
        graph: the project's stages and chain.
        what: a key, the beginning of one (at least six digits), a page's or picture's address, a picture's sha256 or the
            beginning of it (more than 16 digits), or a picture's file, of which only the sha256 counts.

    Raises:
        HearsightError: no finished stage knows it.
    """
    digest = _digest_of(what)
    lives: dict[str, Life] = {}
    # A ledger's detail names addresses among other words; the one asked for must stand there whole.
    whole = rf"(^|\s){re.escape(what)}(\s|$)"
    for stage_output in _finished(graph):
        ledger = stage_output.ledger()
        keys = ledger["key"]
        if digest:
            chosen = pc.is_in(keys, value_set=_keys_of_picture(stage_output, digest))
        elif "://" in what or what.startswith("file:"):
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
                    output=stage_output.name,
                    verdict=row["verdict"],
                    rule=row["rule"],
                    value=row["value"],
                    threshold=row["threshold"],
                    detail=row["detail"],
                    facts=facts.get(row["key"], {}),
                )
            )
    if not lives and digest:
        raise HearsightError(
            f"no record shows the picture with the sha256 {digest}",
            where=graph.root / "data",
            hint="give its address: one that the crawl dropped is known by that alone",
        )
    if not lives:
        raise HearsightError(
            f"no finished stage knows '{what}'",
            where=graph.root / "data",
            hint="give a key of a ledger, an address that was crawled, or a picture's file or sha256",
        )
    return list(lives.values())


def with_rules(lives: Sequence[Life], measured: Mapping[str, Mapping[str, Sequence[RuleValue]]]) -> list[Life]:
    """Return the lives with what the rules of a stage measured in that stage's events.

    Args:
        lives: of :func:`explain`.
        measured: output (``<dataset>/<stage>``) → key → every rule, in the order of asking (``filter.measured``).
    """

    def told(life: Life, event: Event) -> Event:
        return replace(event, rules=_asked(measured.get(event.output, {}).get(life.key, ()), event))

    return [Life(life.key, life.kind, [told(life, event) for event in life.events]) for life in lives]


def _asked(values: Sequence[RuleValue], event: Event) -> tuple[RuleValue, ...]:
    """The rules up to the one that dropped the record, that one with the ledger's own value."""
    names = [each.rule for each in values]
    if event.verdict != DROPPED:
        return tuple(values)
    if event.rule not in names:  # a provider gave no answer: the rules that have a value were asked
        return tuple(each for each in values if each.passed is not None)
    at = names.index(event.rule)
    failed = replace(values[at], passed=False, value=event.value, threshold=event.threshold, note="")
    return (*values[:at], failed)


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
            yield {"output": stage_output.name, **row}
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
    return pa.array(values, pa.string())


def _digest_of(what: str) -> str:
    """The sha256, or its beginning, of the picture that is named; '' for anything else."""
    if _DIGEST.fullmatch(what.lower()):
        return what.lower()
    if _KEY.fullmatch(what) or "://" in what:
        return ""
    # os.path.isfile answers False where Path.is_file raises: for a name that is too long.
    return sha256_file(Path(what)) if os.path.isfile(what) else ""  # noqa: PTH113


def _keys_of_picture(stage_output: StageOutput, digest: str) -> Any:
    if stage_output.manifest.record not in RECORDS:
        return _strings([])
    table = stage_output.table(["key", "image_sha256"])
    return table.filter(pc.starts_with(table["image_sha256"], digest))["key"].combine_chunks()


def _keys_of_url(stage_output: StageOutput, url: str) -> Any:
    found: list[str] = []
    if stage_output.manifest.record in RECORDS:
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
