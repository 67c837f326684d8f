"""Why an output has no records: the rules of the ledger that dropped most, and the setting to change."""

from __future__ import annotations

from collections import Counter

from components.core.addresses import parse_output_name
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.ledger import DROPPED
from components.core.manifest import NAME
from components.core.params import place
from components.core.rule_values import in_words
from components.core.stage_output import StageOutput
from components.tracking.history import RULE_SETTINGS

MOST_RULES = 3
"""Rules that are named: those that dropped most."""


def why_empty(graph: Graph, stage: str, output: StageOutput) -> HearsightError | None:
    """Return the error that says what dropped everything: in this output, or in the one that it was made from.

    Args:
        graph: the project's stages and chain.
        stage: that made the output.
        output: of the stage; also its draft, which failed its check.

    Returns:
        None for an output with records, or if no ledger has a dropped row.
    """
    dataset = parse_output_name(output.name)[0]
    if any(shard.rows for shard in output.manifest.shards):
        return None
    counts = output.manifest.counts
    kind = (
        "record" if counts.get("record", {}).get("dropped") else max(counts, key=lambda name: _dropped(counts, name), default="")
    )
    if not _dropped(counts, kind):
        earlier = (parse_output_name(value) for value in graph.chain[stage][dataset].values())
        outputs = {before: StageOutput(graph.output(before, other)) for other, before in earlier}
        found = (why_empty(graph, before, made) for before, made in outputs.items() if (made.path / NAME).exists())
        return next(filter(None, found), None)
    rules = Counter[str](counts[kind]["dropped"]).most_common(MOST_RULES)
    ledger = output.ledger().to_pylist()
    first = next(row for row in ledger if (row["kind"], row["verdict"], row["rule"]) == (kind, DROPPED, rules[0][0]))
    settings = RULE_SETTINGS.get(stage, {}).get(rules[0][0]) or ()
    named = ", ".join(f"{rule} dropped {number:,}" for rule, number in rules)
    example = f"{rules[0][0]}: {first['value'] or 'none'}, allowed: {in_words(first['threshold'])}"
    fix = (
        f"change {' or '.join(f'{stage}.{name}' for name in settings[:2])}"
        if settings
        else "no setting changes this rule: look at the records"
    )
    again = " and crawl.snapshot" if settings and stage == "crawl" else ""
    return HearsightError(
        f"{stage} of {dataset} kept none of {_dropped(counts, kind):,} {kind}s: {named} ({example})",
        where=place(graph.root, dataset, *([stage, settings[0]] if settings else [stage])),
        hint=f"{fix}{again}, and run again",
    )


def _dropped(counts: dict[str, dict[str, dict[str, int]]], kind: str) -> int:
    return sum(counts.get(kind, {}).get("dropped", {}).values())
