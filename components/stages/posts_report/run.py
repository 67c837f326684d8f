"""Run posts_report: analyse the posts, and draw the page."""

from __future__ import annotations

import pyarrow as pa

from components.core.check_warnings import input_warnings
from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.ledger import kept, ledger_table
from components.core.records import FIGURE
from components.execution.stage import Stage
from components.stages.posts_report import PAGE, page
from components.stages.posts_report.clusters import OUTLIER
from components.stages.posts_report.facts import PostsReport, gather
from components.stages.posts_report.figures import draw_all
from components.stages.posts_report.page import all_tables


def run(stage: Stage) -> None:
    """Write the page, its figures, a CSV table for each figure, and the summary."""
    report = gather(stage)
    crawl = stage.inputs["crawl"]
    references = dict(zip(*(crawl.table(["key", "media"])[name].to_pylist() for name in ("key", "media")), strict=True))

    def read_image(key: str) -> bytes | None:
        try:
            return crawl.read_media(references[key])
        except (KeyError, HearsightError):
            return None

    figures = list(draw_all(report, read_image, stage.params.seed))
    html = page.render_page(report, figures, stage.params, input_warnings(stage.inputs.values())).encode()
    rows = [{"key": "page", "title": f"Analysis of {stage.dataset}", "path": PAGE, "sha256": sha256_bytes(html)}]
    stage.write_file(PAGE, html)
    for figure in figures:
        path = f"figures/{figure.key}.png"
        stage.write_file(path, figure.png)
        rows.append({"key": figure.key, "title": figure.title[:200], "path": path, "sha256": sha256_bytes(figure.png)})
    stage.write_file("summary.txt", page.render_summary(report).encode())
    for name, table in all_tables(report).items():
        stage.write_file(f"tables/{name}", table)
        stage.export(name, table)
    ledger = ledger_table(kept(row["key"], kind="model") for row in rows)
    stage.write_shard("00000", pa.Table.from_pylist(rows, schema=FIGURE), ledger)
    for name, value in tracking_metrics(report).items():
        stage.metric(name, value)


def tracking_metrics(report: PostsReport) -> dict[str, float]:
    """Return the MLflow metrics of a report."""
    values: dict[str, float] = {"collected": report.collected, "posts": report.posts, "owners": report.owners}
    values |= {f"lost_{step.name}": step.share for step in report.steps}
    values |= {"words_mean": report.words.mean, "words_sd": report.words.deviation, "vocabulary": len(report.words.counts)}
    values["words_at_most_5_times"] = report.words.bands[0]
    if report.sizes_before:
        values["clusters"] = sum(1 for cluster in report.sizes_before if cluster != OUTLIER)
        values["outliers"] = report.sizes_before.get(OUTLIER, 0)
    if report.offences is not None:
        values["offensive_words"] = sum(word.count for word in report.offences if word.sense == "offensive")
    for row in report.contrasts or ():
        values |= {f"descriptions_of.{group.name.replace(' ', '_')}": group.captions for group in row}
    return values
