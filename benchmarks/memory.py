"""Peak memory as the number of shards grows: `python -m benchmarks.memory PROJECT [--copies 1 10 100] [--only NAME ...]`.

PROJECT is a finished project, for example after `make demo`; it is read only. The inputs of each stage are its outputs, copied so
many times: every shard again under another name, with other keys, records, groups, pages and accounts, and for dedup with other
hashes and images. Texts and media are the same, so results that are cached by content are found and no model runs. Each stage
runs in a process of its own with two workers; checks run as `hearsight check` does without its server.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks import harness
from benchmarks.harness import show
from components.core.graph import load_graph
from components.core.shards import read_table
from components.core.stage_output import StageOutput
from components.execution.engine import LocalEngine, limit_threads
from components.execution.runner import stage_settings
from components.execution.stage import Stage
from components.stages.check import check

PROJECT = harness.project()
STAGES = (
    "english/filter",
    "english/hypernymize",
    "portuguese/extract_descriptions",
    "english/dedup",
    "english/split",
    "portuguese/split",
    "english/synthesize",
    "english/extract_features",
    "english/report",
    "portuguese/posts_report",
)
CHECKS = ("english/crawl", "english/filter", "english/dedup", "english/split", "english/synthesize", "portuguese/split")
FIXED = ("MODEL", "FIGURE", "RECOGNITION", "RETRIEVAL_RANK")
"""Records of which there are not more when there are more data."""
RENAMED = ("key", "record", "group", "page_url", "owner", "post")
OF_IMAGES = ("phash", "image_sha256")
"""Columns changed for dedup alone: results of other stages are found by an image's digest."""


def copy_output(source: Path, target: Path, copies: int, images: bool = False) -> None:
    """Write ``copies`` of an output as one output."""
    output = StageOutput(source)
    stage = output.manifest.stage
    engine: Any = None
    out = Stage(stage, target.parent.name, None, target, {}, target, engine, target, code="")
    for copy in range(copies):
        for shard in output.shards:
            name = copied(shard.name, copy)
            table, ledger = read_table(shard.path), read_table(shard.ledger)
            if "media" in table.column_names:
                media = [text and copied(text[:5], copy) + text[5:] for text in table["media"].to_pylist()]
                table = table.set_column(
                    table.column_names.index("media"), table.schema.field("media"), pa.array(media, pa.string())
                )
            out.write_shard(name, renamed(table, copy, images), renamed(ledger, copy, images))
            if shard.media:
                (target / "media").mkdir(exist_ok=True)
                (target / "media" / f"{name}.tar").symlink_to(shard.media)
    for entry in output.manifest.files:
        out.write_file(entry.path, (source / entry.path).read_bytes())
    out.finish()


def copied(shard: str, copy: int) -> str:
    """Return the name of a shard's copy."""
    return f"{100 * copy + int(shard):05d}"


def renamed(table: pa.Table, copy: int, images: bool) -> pa.Table:
    """Return the table of a copy; the first keeps its names."""
    for name in (*RENAMED, *(OF_IMAGES if images else ())) if copy else ():
        if name in table.column_names:
            values = pa.array([changed(text, copy) for text in table[name].to_pylist()], pa.string())
            table = table.set_column(table.column_names.index(name), table.schema.field(name), values)
    return table


def changed(text: str, copy: int) -> str:
    """Return another value of the same length and kind; what follows a dot stays."""
    if not text:
        return text
    if text.startswith("http"):
        return f"{text}?{copy}"
    head, dot, tail = text.partition(".")
    return hashlib.sha256(f"{copy} {head}".encode()).hexdigest()[: len(head)] + dot + tail


def prepare(root: Path, project: Path, kind: str, name: str, copies: int) -> None:
    """Copy the inputs of a stage, or the output to check."""
    dataset, stage = name.split("/")
    inputs = {"input": PROJECT / "data" / name} if kind == "check" else load_graph(PROJECT).inputs(stage, dataset)
    for key, path in inputs.items():
        source, target = (folder / path.relative_to(PROJECT) for folder in (project, root))
        if target.exists():
            continue
        # Perceptual hashes need no media.
        grown = key != "media" if name == "english/dedup" else StageOutput(source).manifest.record not in FIXED
        copy_output(source, target, copies if grown else 1, images=stage == "dedup" and kind == "run")
    if kind == "check":
        shutil.copytree(PROJECT / "expectations", root / "expectations")
    else:
        shutil.copytree(project / ".hearsight" / "annotations", root / ".hearsight" / "annotations")


def run_stage(root: Path, name: str) -> int:
    """Run one stage on the copied inputs; return the number of records."""
    limit_threads()
    dataset, stage = name.split("/")
    graph = load_graph(PROJECT)
    inputs = {key: StageOutput(root / path.relative_to(PROJECT)) for key, path in graph.inputs(stage, dataset).items()}
    out = root / "out" / dataset / stage
    out.mkdir(parents=True)
    settings, state = stage_settings(graph, stage, dataset), root / ".hearsight"
    job = Stage(stage, dataset, settings, root, inputs, out, LocalEngine(2), state, graph.code_digest(stage))
    importlib.import_module(f"components.stages.{stage}.run").run(job)
    job.finish()
    rows = {key: sum(entry.rows for entry in given.manifest.shards) for key, given in inputs.items()}
    return max(rows.values()) if stage.endswith("report") else rows["input"]


def run_check(root: Path, name: str) -> int:
    """Check the copied output; return the number of records."""
    dataset, stage = name.split("/")
    check(root, dataset, stage)
    return sum(entry.rows for entry in StageOutput(root / "data" / name).manifest.shards)


def measure(project: Path, kind: str, name: str, copies: int) -> dict[str, Any]:
    """Return what a process of its own reports."""
    this = [sys.executable, "-m", "benchmarks.memory"]
    wordnet = project / "data" / "packages" / "unpacked" / "wordnet-base" / "usr" / "share" / "wordnet"
    surroundings = {"HEARSIGHT_WORDNET": str(wordnet), **os.environ}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*this, "--prepare", folder, str(project), kind, name, str(copies)], check=True)
        command = [*this, "--one", folder, kind, name]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=surroundings)
    reported: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return reported


def main() -> None:
    """Print a row for each stage and number of copies."""
    if sys.argv[1:2] == ["--prepare"]:
        root, project, kind, name, copies = sys.argv[2:]
        return prepare(Path(root), Path(project), kind, name, int(copies))
    if sys.argv[1:2] == ["--one"]:
        root, kind, name = sys.argv[2:]
        started = time.process_time()
        records = {"run": run_stage, "check": run_check}[kind](Path(root), name)
        runner, workers = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        print(json.dumps({"records": records, "runner": runner, "worker": workers, "seconds": time.process_time() - started}))
        return None
    parser = argparse.ArgumentParser(description="Peak memory of stages as the number of shards grows.")
    parser.add_argument("project", type=Path)
    parser.add_argument("--copies", type=int, nargs="*", default=[1, 10, 100])
    parser.add_argument("--only", nargs="*", default=[])
    chosen = parser.parse_args()
    for kind, names in (("run", STAGES), ("check", CHECKS)):
        for name in names:
            label = name if kind == "run" else f"check {name}"
            for copies in chosen.copies if not chosen.only or label in chosen.only else ():
                seen = measure(chosen.project.resolve(), kind, name, copies)
                sizes = {"runner, MiB": round(seen["runner"] / 1024), "largest worker, MiB": round(seen["worker"] / 1024)}
                row = {"stage": label, "copies": copies, "records": seen["records"], **sizes}
                show(row | {"runner, CPU s": round(seen["seconds"], 1)})
    return None


if __name__ == "__main__":
    main()
