"""The state of every output: up to date, changed, failed, not run; from manifests, lineages and Data Docs.

It takes a fifth of a second, where ``dvc status`` reads every file that a stage depends on. It sees other settings, other code
(as the shard cache does: comments do not count), other inputs, and an output changed after its run. It does not see a changed
source of a crawl or an edited suite.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from components.core.addresses import docs_folder, draft_path, lineage_path
from components.core.check_warnings import CheckWarning, read_warnings
from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.manifest import NAME
from components.core.stage_output import StageOutput
from components.execution.runner import stage_settings

UP_TO_DATE, WARNINGS, CHANGED, FAILED, NOT_RUN = "up_to_date", "warnings", "changed", "failed", "not_run"
STATES = (UP_TO_DATE, WARNINGS, CHANGED, FAILED, NOT_RUN)
"""The states, the best first."""
SETTINGS, CODE, INPUTS, EARLIER, OUTPUT = "settings", "code", "inputs", "earlier", "output"
"""What has changed since the run: settings, code, an input, what an input is made from (at any distance), the output itself."""
OLD = (INPUTS, EARLIER)
"""The changes that make an output older than its inputs."""
FAILED_ROW = re.compile(r'<tr class="failed"><td>(.*?)</tr>', re.DOTALL)


@dataclass(frozen=True)
class Failure:
    """An expectation that the draft of an output failed, as its Data Docs say."""

    table: str
    text: str
    page: Path


@dataclass(frozen=True)
class OutputState:
    """The state of one output."""

    stage: str
    dataset: str
    state: str
    """One of :data:`STATES`."""
    changes: tuple[str, ...] = ()
    """What has changed, for the state changed."""
    warnings: tuple[CheckWarning, ...] = ()
    failures: tuple[Failure, ...] = ()

    @property
    def name(self) -> str:
        """The name in the chain: ``<dataset>/<stage>``."""
        return f"{self.dataset}/{self.stage}"

    @property
    def old(self) -> bool:
        """Whether it is older than its inputs, or than what they are made from."""
        return any(change in OLD for change in self.changes)


def output_states(graph: Graph) -> dict[str, OutputState]:
    """Return the state of every output by its name, dataset by dataset.

    Raises:
        HearsightError: a warnings file is damaged.
    """
    outputs = [(stage, dataset, StageOutput(folder)) for stage, dataset, folder in graph.outputs()]
    digests = {output.name: _digest(output) for _, _, output in outputs if (output.path / NAME).is_file()}
    reader = _Reader(graph, digests)
    states = {output.name: reader.state(stage, dataset, output) for stage, dataset, output in outputs}
    for name, read in graph.reads.items():
        if name in digests and not states[name].old and any(states[each].old for each in read if each in states):
            states[name] = replace(states[name], state=CHANGED, changes=(*states[name].changes, EARLIER))
    return states


def _digest(output: StageOutput) -> str:
    """Return the digest of an output; empty if its manifest is damaged."""
    try:
        return output.digest
    except HearsightError:
        return ""


class _Reader:
    def __init__(self, graph: Graph, digests: dict[str, str]) -> None:
        self.graph, self.digests = graph, digests
        self.code = cache(graph.code_digest)

    def state(self, stage: str, dataset: str, output: StageOutput) -> OutputState:
        """Return the state of one output."""
        if output.name not in self.digests:
            failures = self._failures(draft_path(output.path), dataset, stage)
            return OutputState(stage, dataset, FAILED if failures else NOT_RUN, failures=failures)
        changes = self._changes(stage, dataset, output)
        warnings = tuple(read_warnings([output])) if self.digests[output.name] else ()
        state = CHANGED if changes else WARNINGS if warnings else UP_TO_DATE
        return OutputState(stage, dataset, state, tuple(changes), warnings)

    def _changes(self, stage: str, dataset: str, output: StageOutput) -> list[str]:
        """Return what the lineage of the output says about its making that is no longer so."""
        try:
            lineage: dict[str, Any] = json.loads(lineage_path(output.path).read_bytes())
            read = {each["name"]: (each["output"], each["manifest_sha256"]) for each in lineage["parents"] if "output" in each}
            params, code, made = lineage["params_sha256"], lineage["code_sha256"], lineage["manifest_sha256"]
        except (OSError, ValueError, KeyError, TypeError):
            return [OUTPUT]  # not written by a complete run
        changes = [] if made == self.digests[output.name] else [OUTPUT]
        try:
            if params != digest_value(stage_settings(self.graph, stage, dataset).plain()):
                changes.append(SETTINGS)
        except HearsightError:  # settings that are not valid are not those of the run
            changes.append(SETTINGS)
        if code != self.code(stage):
            changes.append(CODE)
        names = {name: StageOutput(path).name for name, path in self.graph.inputs(stage, dataset).items()}
        if read != {name: (source, self.digests.get(source)) for name, source in names.items()}:
            changes.append(INPUTS)
        return changes

    def _failures(self, draft: Path, dataset: str, stage: str) -> tuple[Failure, ...]:
        """Return what the check of a draft found; nothing without a finished draft, or if it was written after its check."""
        folder = docs_folder(self.graph.root, dataset, stage)
        integrity, index = folder / "integrity.html", folder / "index.html"
        if not (draft / NAME).is_file():
            return ()
        made = (draft / NAME).stat().st_mtime
        if integrity.is_file() and integrity.stat().st_mtime >= made:
            return (Failure("manifest", "", integrity),)
        if not index.is_file() or index.stat().st_mtime < made:
            return ()
        rows = dict.fromkeys(FAILED_ROW.findall(index.read_text(encoding="utf-8")))  # the page lists each twice
        return tuple(_failure(folder, row) for row in rows)


def _failure(folder: Path, row: str) -> Failure:
    """Return a failure from a row of Data Docs: result, table, columns, expectation, found, and more."""
    cells = [html.unescape(cell) for cell in row.split("<td>")]
    _, table, columns, expectation, found, *_ = [*cells, *[""] * 6]
    return Failure(table, " ".join(filter(None, (columns, expectation, found))), folder / f"{table}.html")
