"""Notices inputs that change while a stage runs.

DVC records the digests of a stage's dependencies after its command has ended. An input that was edited after the stage had read
it would be recorded as the one that the output was made from, and the output would never be made again. A stage whose inputs
changed therefore ends without an output. Edits between the end of a stage and DVC's digests (a fraction of a second) are not
noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from components.core.addresses import stage_address
from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.graph import Graph, load_graph
from components.core.manifest import NAME
from components.core.params import place

Settings = Callable[[Graph, str, str], Any]
"""Returns the settings of a stage of a dataset."""


class InputWatch:
    """What one stage of one dataset depends on besides its code, as it is now: settings, inputs, files that dvc.yaml names."""

    def __init__(self, graph: Graph, stage: str, dataset: str, settings: Settings) -> None:
        self.root, self.stage, self.dataset, self._settings = graph.root, stage, dataset, settings
        self._before = self._state(graph)

    def _state(self, graph: Graph) -> dict[str, Any]:
        inputs = graph.inputs(self.stage, self.dataset)
        state: dict[str, Any] = {
            place(self.root, self.dataset, self.stage).removeprefix(f"{self.root}/"): self._settings(
                graph, self.stage, self.dataset
            ).plain(),
            f"chain.{self.stage}.{self.dataset}": {name: str(path) for name, path in inputs.items()},
        }
        state |= {f"{path.relative_to(self.root)}/{NAME}": _digest(path / NAME) for path in inputs.values()}
        return state | {name: _digest(self.root / name) for name in graph.files(self.stage, self.dataset)}

    def require_unchanged(self, same_code: bool) -> None:
        """Raise HearsightError when anything differs from what it was.

        It is called last before the output is published, since what follows until DVC takes its digests is not watched.

        Args:
            same_code: whether the code still has the digest that the output was made with; an edited comment does not change it.
        """
        after = self._state(load_graph(self.root))
        changed = [name for name, value in self._before.items() if after.get(name) != value]
        if not same_code:
            changed.append(f"the code of {self.stage}")
        if changed:
            raise HearsightError(
                f"{', '.join(changed)} changed while {stage_address(self.dataset, self.stage)} ran",
                where=self.root,
                hint="run the same command again; finished work that does not depend on it is kept",
            )


def _digest(path: Path) -> str:
    """Return the digest of a file or of all files of a folder; '' where there is none."""
    if path.is_dir():
        return "".join(f"{file.relative_to(path)}{sha256_file(file)}" for file in sorted(path.rglob("*")) if file.is_file())
    try:
        return sha256_file(path)
    except OSError:
        return ""
