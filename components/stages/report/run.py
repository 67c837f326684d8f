"""Run report: gather what the chain recorded, and write the page."""

from __future__ import annotations

import pyarrow as pa

from components.core.check_warnings import input_warnings
from components.core.digests import sha256_file
from components.core.ledger import kept, ledger_table
from components.core.records import FIGURE
from components.execution.stage import Stage
from components.stages.report import figures, pages
from components.stages.report.facts import gather


def run(stage: Stage) -> None:
    """Write ``report.html``, the figures, and the funnel as a DVC plot."""
    report = gather(stage)
    rows = []
    for key, title, image in figures.draw_all(report):
        path = f"figures/{key}.png"
        stage.write_file(path, image)
        rows.append({"key": key, "title": title, "path": path, "sha256": sha256_file(stage.out / path)})
    warnings = input_warnings(stage.inputs.values())
    stage.write_file("report.html", pages.render_page(report, rows, warnings).encode())
    stage.export("funnel.csv", pages.funnel_csv(report).encode())
    stage.export("pass_rates.csv", pages.steps_csv(report).encode())
    stage.write_shard(
        "00000", pa.Table.from_pylist(rows, schema=FIGURE), ledger_table(kept(r["key"], kind="model") for r in rows)
    )
    if report.kept.precision is not None:
        stage.metric("kept_precision", report.kept.precision.value)
    for line in report.funnel:
        stage.metric(f"funnel_{line.dataset}_{line.stage}", line.left)
    for dataset, steps in report.steps.items():
        # Metrics of other datasets carry the dataset's name.
        prefix = "funnel." if dataset == stage.dataset else f"funnel.{dataset}."
        for passed in steps:
            if passed.entered:
                stage.metric(f"{prefix}{passed.step.name}", passed.share)
