"""Measure every candidate by every text rule: one table per shard, computed in workers and stored in the shard cache."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.digests import sha256_file
from components.core.ledger import ledger_table
from components.core.shards import write_table
from components.core.stage_output import ShardRef
from components.execution.stage import ShardOut, Task
from components.providers.registry import make_providers
from components.stages.filter.annotation import SubjectAnnotator
from components.stages.filter.boilerplate import load_boilerplate
from components.stages.filter.cascade import TEXT_GROUPS, evaluate_all, make_subject
from components.tools.calibrate.sweep import SWEPT
from components.web.html.page import fold

LINES = 2000
"""Lines of a text file per shard."""
_SPLIT_OFF = re.compile(r" +([.,;:!?%)\]]|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b)")
"""Matches what a tokeniser splits off the word before it."""
_IN_BRACKETS = re.compile(r"\((-?\d+(?:\.\d+)?)\)$")


def measured_schema() -> pa.Schema:
    """Return the schema: ``text`` (without boilerplate), ``failing`` (rules failed at the present settings), a value per rule."""
    values = [(swept.rule, pa.float64()) for swept in SWEPT]
    return pa.schema([("text", pa.string()), ("failing", pa.list_(pa.string())), *values])


def measure_shard(table: pa.Table, task: Task) -> ShardOut:
    """Measure a shard's candidates; parses and tones come from the result caches where possible."""
    lists = load_boilerplate(task.params.language)
    rows = {row["key"]: row for row in table.select(["key", "alt", "language"]).to_pylist()}
    subjects = {key: make_subject(row["alt"], lists, task.params.max_characters) for key, row in rows.items()}
    for key, row in rows.items():
        subjects[key].language = row["language"]
    findings_by_key = evaluate_all(
        subjects, SubjectAnnotator(rows, task, make_providers(task.shared, task.work)), task.params, TEXT_GROUPS
    )
    measured = [
        {
            "text": subjects[key].text,
            "failing": [name for name, finding in findings.items() if not finding.passed],
            **{swept.rule: parse_number(findings[swept.rule].value) for swept in SWEPT},
        }
        for key, findings in findings_by_key.items()
    ]
    return ShardOut(pa.Table.from_pylist(measured, schema=measured_schema()), ledger_table([]))


def parse_number(value: Any) -> float | None:
    """Return a rule's value as a number: the value itself, or the number in brackets of "baguette (3.1)"; None without one."""
    if isinstance(value, (int, float)):
        return float(value)
    match = _IN_BRACKETS.search(str(value))
    return float(match.group(1)) if match else None


def as_written(line: str) -> str:
    """Return a published caption as a person would write it: its first letter a capital, no space before punctuation.

    Published captions are in lower case and split into tokens ("person 's dog ."). What follows a tab is not part of the caption.
    """
    caption = _SPLIT_OFF.sub(r"\1", line.partition("\t")[0].strip())
    return caption[:1].upper() + caption[1:]


def line_shards(stream: Iterable[bytes], folder: Path, *, published: bool = False) -> list[ShardRef]:
    """Write the lines of a text as shards of alt-texts, with the crawl's whitespace folding and without empty lines.

    Args:
        published: the lines are published captions, which :func:`as_written` restores.
    """
    shutil.rmtree(folder, ignore_errors=True)
    schema = pa.schema([("key", pa.string()), ("alt", pa.string()), ("language", pa.string())])
    decoded = (line.decode("utf-8", "replace").removeprefix("\ufeff") for line in stream)
    texts = (fold(as_written(line) if published else line) for line in decoded)
    lines = ({"key": str(at), "alt": text, "language": ""} for at, text in enumerate(texts) if text)
    shards: list[ShardRef] = []
    while rows := list(islice(lines, LINES)):
        name = f"{len(shards):05d}"
        path = folder / f"{name}.parquet"
        write_table(path, pa.Table.from_pylist(rows, schema=schema))
        shards.append(ShardRef(name, path, sha256_file(path), folder / f"{name}.ledger"))
    return shards
