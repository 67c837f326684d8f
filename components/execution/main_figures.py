"""The main figures of a stage's run, which people compare between experiments, as a file of metrics for DVC."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.addresses import COMPARED, FUNNEL, metrics_path
from components.core.files import publish_bytes
from components.core.manifest import Manifest

DIGITS = 6
"""Decimals of a figure, as in the tables of stages."""


@dataclass
class MainFigures:
    """Figures for ``dvc metrics`` and ``dvc exp show``, nested by name."""

    values: dict[str, Any] = field(default_factory=dict)

    def add(self, *names: str, value: float) -> None:
        """Add a figure, which DVC names ``<dataset>.<name>.<name>``."""
        target = self.values
        for name in names[:-1]:
            target = target.setdefault(name, {})
        target[names[-1]] = round(value, DIGITS)

    def write(self, project: Path, dataset: str, stage: str, manifest: Manifest) -> None:
        """Write the metrics of a stage that DVC compares, with the number of records that a stage of the funnel keeps."""
        if stage in FUNNEL:
            name = "kept" if stage == FUNNEL[-1] else stage
            self.add(name, value=manifest.counts.get("record", {}).get("kept", 0))
        if stage in COMPARED:
            content = {dataset: self.values} if self.values else {}
            text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
            publish_bytes(metrics_path(project, dataset, stage), text.encode())
