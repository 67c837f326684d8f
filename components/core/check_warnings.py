"""Warnings of checks: measured figures outside their expected range.

An expectation of severity ``warning`` bounds a figure that depends on the machine, the voices, the models or the sample. Those
that fail are a file of the output, which its manifest lists; they do not stop the stage.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from components.core.addresses import parse_output_name, parse_output_path, stage_address
from components.core.digests import canonical_json
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.manifest import NAME, WARNINGS
from components.core.stage_output import StageOutput

ABOUT = (
    "These measured figures are outside the expected range. "
    "They depend on machine, voices, models and sample, and do not stop the pipeline."
)
"""Explanation above a list of warnings."""


@dataclass(frozen=True)
class CheckWarning:
    """One expectation of severity ``warning`` that an output did not meet."""

    output: str
    """``<dataset>/<stage>``."""
    table: str
    """The table of the suite: ``shards``, ``by_voice`` ..."""
    column: str
    """Empty for an expectation on the whole table."""
    expectation: str
    found: str
    """The measured and the expected value."""
    why: str
    """The reason in the expectation's ``notes``."""

    @property
    def text(self) -> str:
        """The warning in one line."""
        column = f" '{self.column}'" if self.column else ""
        return f"{self.output}: {self.table}{column} fails {self.expectation}: {self.found} [{self.why.rstrip('.')}]"


def warnings_bytes(warnings: Sequence[CheckWarning]) -> bytes:
    """Return the content of a warnings file."""
    return (canonical_json([asdict(warning) for warning in warnings]) + "\n").encode()


def read_warnings(outputs: Iterable[StageOutput]) -> list[CheckWarning]:
    """Return the warnings of outputs, in the given order; an output that is not finished has none.

    Raises:
        HearsightError: a file is not a warnings file, or a manifest is damaged.
    """
    warnings: list[CheckWarning] = []
    for output in outputs:
        if not (output.path / NAME).is_file() or WARNINGS not in (entry.path for entry in output.manifest.files):
            continue
        path = output.file(WARNINGS)
        try:
            warnings += [CheckWarning(**fields) for fields in json.loads(path.read_bytes())]
        except (ValueError, TypeError) as error:
            hint = f"run `dvc repro -f -s {stage_address(*parse_output_path(output.path))}`"
            raise HearsightError(f"is not a warnings file ({error!r})", where=path, hint=hint) from None
    return warnings


def input_warnings(inputs: Iterable[StageOutput]) -> list[str]:
    """Return the warnings of a stage's inputs as lines, for its page."""
    return [warning.text for warning in read_warnings({output.name: output for output in inputs}.values())]


def upstream_outputs(graph: Graph, dataset: str) -> list[StageOutput]:
    """Return every output that the stages of ``dataset`` write or read, directly or indirectly."""
    visited: dict[str, None] = {}
    pending = [f"{dataset}/{stage}" for stage in graph.stages_of(dataset)]
    while pending:
        output = pending.pop(0)
        if output in visited:
            continue
        visited[output] = None
        name, stage = parse_output_name(output)
        inputs = graph.chain.get(stage, {}).get(name) or {}
        pending += inputs.values()
    return [StageOutput(graph.root / "data" / output) for output in visited]
