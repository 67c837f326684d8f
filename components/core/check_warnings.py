"""Warnings of checks: measured figures outside the range that was expected of them, kept in files beside the gates.

An expectation of severity ``warning`` bounds a figure that depends on the machine, the voices, the models or the sample. A check
writes those that were not met to ``reports/warnings/<dataset>/<stage>.json``. The gate says nothing of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from components.core.addresses import check_address, named
from components.core.digests import canonical_json
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.stage_output import StageOutput

ABOUT = (
    "These measured figures lie outside the range that was expected. "
    "They depend on machine, voices, models and sample, and do not stop the pipeline."
)
"""The sentence above a list of warnings."""


@dataclass(frozen=True)
class CheckWarning:
    """One expectation of severity ``warning`` that an output did not meet."""

    output: str
    """``<dataset>/<stage>``."""
    table: str
    """The table of the suite: ``shards``, ``by_voice`` ..."""
    column: str
    """Empty when the expectation is about the whole table."""
    expectation: str
    found: str
    """What was found, and what was expected."""
    why: str

    @property
    def text(self) -> str:
        """The warning as one line."""
        column = f" '{self.column}'" if self.column else ""
        return f"{self.output}: {self.table}{column} fails {self.expectation}: {self.found} [{self.why.rstrip('.')}]"


def warnings_path(root: Path, dataset: str, stage: str) -> Path:
    """Return the path of the warnings file of an output."""
    return root / "reports" / "warnings" / dataset / f"{stage}.json"


def warnings_bytes(output: str, warnings: Sequence[CheckWarning]) -> bytes:
    """Return a warnings file's content; it depends on the output and on its suite alone."""
    return (canonical_json({"output": output, "warnings": [asdict(warning) for warning in warnings]}) + "\n").encode()


def all_warnings(root: Path) -> list[CheckWarning]:
    """Read the warnings of every output that was checked, by its name; raises HearsightError as :func:`read_warnings`."""
    folder = root / "reports" / "warnings"
    checked = sorted(path.relative_to(folder).with_suffix("") for path in folder.glob("**/*.json"))
    return read_warnings(root, map(str, checked))


def read_warnings(root: Path, outputs: Iterable[str]) -> list[CheckWarning]:
    """Read the warnings of outputs (``<dataset>/<stage>``), in that order; an output without a check has none.

    Raises:
        HearsightError: a file is not a warnings file.
    """
    found: list[CheckWarning] = []
    for output in outputs:
        dataset, stage = named(output)
        path = warnings_path(root, dataset, stage)
        try:
            found += [CheckWarning(**each) for each in json.loads(path.read_bytes())["warnings"]]
        except FileNotFoundError:
            continue
        except (ValueError, KeyError, TypeError) as error:
            raise HearsightError(
                f"is not a file of warnings ({error!r})",
                where=path,
                hint=f"run `dvc repro -f -s {check_address(dataset, stage)}`",
            ) from None
    return found


def input_warnings(inputs: Iterable[StageOutput]) -> list[str]:
    """Return the warnings of a stage's inputs as lines, for its page. dvc.yaml lists their files as the stage's dependencies."""
    # An output lies in <root>/data/<its name>.
    roots = {output.name: output.path.parents[output.name.count("/") + 1] for output in inputs}
    return [warning.text for name, root in roots.items() for warning in read_warnings(root, [name])]


def upstream(graph: Graph, dataset: str) -> list[str]:
    """Return every output that ``dataset``'s stages make or read, directly or through others, as ``<dataset>/<stage>``."""
    found: dict[str, None] = {}
    waiting = [f"{dataset}/{stage}" for stage in graph.stages_of(dataset)]
    while waiting:
        output = waiting.pop(0)
        if output in found:
            continue
        found[output] = None
        name, stage = named(output)
        wired = graph.chain.get(stage, {}).get(name) or {}
        waiting += wired.values()
    return list(found)
