"""Report on a run: the funnel with the paper's pass rates, caption statistics, scores, examples of dropped records per rule,
examples of rewritten captions, and figures.

Everything comes from the manifests, ledgers and scores of earlier stages. Not in scope: comparison of experiments (MLflow UI).
"""

from __future__ import annotations

from components.core.check_warnings import input_warnings
from components.core.digests import sha256_file
from components.core.ledger import kept, ledger_table
from components.core.params import Settings
from components.core.records import FIGURE
from components.execution.stage import Stage


class Params(Settings):
    """Settings of report."""

    examples: int = 10
    """Dropped records listed for each rule. Ours."""


def run(stage: Stage) -> None:
    """Write ``report.html``, ``report.md``, ``summary.txt``, the figures, and the funnel as a DVC plot."""
    # The command line imports every stage: only a run loads these modules.
    import pyarrow as pa

    from components.stages.report import figures, pages
    from components.stages.report.facts import gather

    report = gather(stage)
    rows = []
    for key, title, picture in figures.draw_all(report):
        path = f"figures/{key}.png"
        stage.write_file(path, picture)
        rows.append({"key": key, "title": title, "path": path, "sha256": sha256_file(stage.out / path)})
    warnings = input_warnings(stage.inputs.values())
    stage.write_file("report.html", pages.render_page(report, rows, warnings).encode())
    stage.write_file(
        "report.md", (pages.render_markdown(report) + "".join(f"\n- Warning: {line}\n" for line in warnings)).encode()
    )
    stage.write_file("summary.txt", pages.render_summary(report).encode())
    stage.export("funnel.csv", pages.funnel_csv(report).encode())
    stage.export("pass_rates.csv", pages.steps_csv(report).encode())
    stage.write_shard(
        "00000", pa.Table.from_pylist(rows, schema=FIGURE), ledger_table(kept(r["key"], kind="model") for r in rows)
    )
    for line in report.funnel:
        stage.metric(f"funnel_{line.dataset}_{line.stage}", line.left)
    for dataset, steps in report.steps.items():
        # Metrics of other datasets carry the dataset's name.
        prefix = "funnel." if dataset == stage.dataset else f"funnel.{dataset}."
        for passed in steps:
            if passed.entered:
                stage.metric(f"{prefix}{passed.step.name}", passed.share)
