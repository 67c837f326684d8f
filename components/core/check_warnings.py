"""Warnings of checks: measured figures outside their expected range.

An expectation of severity ``warning`` bounds a figure that depends on the machine, the voices, the models or the sample. A check
writes the expectations that fail to ``reports/warnings/<dataset>/<stage>.json``. They do not change the gate.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from components.core.addresses import check_stage_address, parse_output_name
from components.core.digests import canonical_json
from components.core.errors import HearsightError
from components.core.graph import Graph
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


def warnings_path(root: Path, dataset: str, stage: str) -> Path:
    """Return the path of the warnings file of an output."""
    return root / "reports" / "warnings" / dataset / f"{stage}.json"


def warnings_bytes(output: str, warnings: Sequence[CheckWarning]) -> bytes:
    """Return the content of a warnings file."""
    return (canonical_json({"output": output, "warnings": [asdict(warning) for warning in warnings]}) + "\n").encode()


def read_all_warnings(root: Path) -> list[CheckWarning]:
    """Return the warnings of every checked output, sorted by output name; raises as :func:`read_warnings`."""
    folder = root / "reports" / "warnings"
    checked = sorted(path.relative_to(folder).with_suffix("") for path in folder.glob("**/*.json"))
    return read_warnings(root, map(str, checked))


def read_warnings(root: Path, outputs: Iterable[str]) -> list[CheckWarning]:
    """Return the warnings of outputs (``<dataset>/<stage>``), in the given order; an output without a check has none.

    Raises:
        HearsightError: a file is not a warnings file.
    """
    warnings: list[CheckWarning] = []
    for output in outputs:
        dataset, stage = parse_output_name(output)
        path = warnings_path(root, dataset, stage)
        try:
            warnings += [CheckWarning(**fields) for fields in json.loads(path.read_bytes())["warnings"]]
        except FileNotFoundError:
            continue
        except (ValueError, KeyError, TypeError) as error:
            raise HearsightError(
                f"is not a warnings file ({error!r})",
                where=path,
                hint=f"run `dvc repro -f -s {check_stage_address(dataset, stage)}`",
            ) from None
    return warnings


def input_warnings(inputs: Iterable[StageOutput]) -> list[str]:
    """Return the warnings of a stage's inputs as lines, for its page; dvc.yaml lists these files as dependencies."""
    # The root is two levels above the output's name: <root>/data/<name>.
    roots = {output.name: output.path.parents[output.name.count("/") + 1] for output in inputs}
    return [warning.text for name, root in roots.items() for warning in read_warnings(root, [name])]


def upstream_outputs(graph: Graph, dataset: str) -> list[str]:
    """Return every output that the stages of ``dataset`` write or read, directly or indirectly, as ``<dataset>/<stage>``."""
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
    return list(visited)
