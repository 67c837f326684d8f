"""Prefect artefacts of a flow: a page for each stage and a funnel for each dataset."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from components.core.addresses import DRAFT, docs_folder
from components.core.check_warnings import read_warnings
from components.core.digests import sha256_file
from components.core.stage_output import StageOutput
from components.tracking.record import experiment_name, run_name
from flows.graph import StageTask


def show_stage(stage: StageTask, root: Path, failed: str = "") -> None:
    """Create the artefact of one stage."""
    text = stage_page(stage, root, failed)
    create_markdown_artifact(text, key=artifact_key(f"stage-{stage.address}"), description=stage.address)


def stage_page(stage: StageTask, root: Path, failed: str = "") -> str:
    """Return the Markdown page of a stage: counts, pages, warnings, Data Docs, MLflow run, and its error."""
    lines = [f"## {stage.address}", f"`{stage.command}`", ""]
    if failed:
        lines += ["**Failed.**", "", f"> {failed}", ""]
    if page := re.search(r"reports/data_docs/\S+\.html", failed):
        lines.append(f"- Data Docs: [{page[0]}]({(root / page[0]).resolve().as_uri()})")
    output = StageOutput(root / "data" / stage.output)
    manifest, name = output.path / "manifest.json", output.path.name
    if stage.output and not failed and manifest.is_file():
        lines += [f"- **Warning:** {warning.text}" for warning in read_warnings([output])]
        page_path = docs_folder(root, stage.dataset, name) / "index.html"
        lines.append(f"- Data Docs: [{page_path.relative_to(root)}]({page_path.resolve().as_uri()})")
        lines += [f"- {line}" for line in counts(json.loads(manifest.read_bytes()))]
        lines += [f"- Page: [{page.name}]({page.resolve().as_uri()})" for page in sorted(manifest.parent.glob("*.html"))]
        lines.append(
            f"- MLflow: {run_link(experiment_name(stage.dataset), run_name(stage.dataset, name, sha256_file(manifest)))}"
        )
    return "\n".join(lines)


def counts(manifest: dict[str, Any]) -> list[str]:
    """Return the manifest's counts, one line for each kind."""
    return [
        f"{kind}: {bucket['kept']} kept, {sum(bucket['dropped'].values())} dropped"
        for kind, bucket in sorted(manifest["counts"].items())
    ]


def run_link(dataset: str, name: str) -> str:
    """Return a link to an MLflow run on a configured server, else its name and experiment."""
    uri = os.environ.get("MLFLOW_TRACKING_URI", "")
    if uri.startswith("http"):
        return f"[{name}]({uri.rstrip('/')}/#/experiments) in experiment {dataset}"
    return f"`{name}` in experiment `{dataset}` (`make ui`)"


def show_funnels(root: Path, datasets: list[str]) -> None:
    """Create a table for each dataset: the records that each finished stage kept and dropped, by rule."""
    for dataset in datasets:
        manifests = [path for path in (root / "data" / dataset).glob("*/manifest.json") if path.parent.suffix != DRAFT]
        rows = [row for path in sorted(manifests, key=_age) for row in _funnel(path)]
        if rows:
            create_table_artifact(
                rows, key=artifact_key(f"funnel-{dataset}"), description=f"What each stage of {dataset} kept and dropped"
            )


def _age(path: Path) -> tuple[float, str]:
    return path.stat().st_mtime, str(path)


def _funnel(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for kind, bucket in sorted(json.loads(path.read_bytes())["counts"].items()):
        rows.append({"stage": path.parent.name, "kind": kind, "what": "kept", "count": bucket["kept"]})
        rows += [
            {"stage": "", "kind": kind, "what": f"dropped: {rule}", "count": n} for rule, n in sorted(bucket["dropped"].items())
        ]
    return rows


def artifact_key(text: str) -> str:
    """Return a key that Prefect accepts: lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
