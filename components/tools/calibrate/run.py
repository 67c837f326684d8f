"""Sweep the thresholds of a dataset's text rules and write the results (``hearsight calibrate``)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.core.addresses import lock_path, state_folder
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.stage_output import ShardRef
from components.execution.engine import limit_threads
from components.execution.process import sole_writer
from components.execution.runner import make_engine, open_inputs, stage_settings
from components.execution.stage import Stage
from components.providers.registry import plan_for
from components.tools.calibrate.measurement import line_shards, measure_shard
from components.tools.calibrate.sweep import Sweep, Swept, choose_rules, write_tables
from components.tracking import recorder


def calibrate(root: Path, dataset: str, rules: Sequence[str], alts: str, out: Path, published: str = "") -> dict[str, Any]:
    """Sweep the rules' thresholds and write ``rates.tsv`` and ``samples.tsv`` into ``out``.

    Args:
        dataset: its filter settings are the present ones; its candidates are measured, unless ``alts`` is given.
        rules: the rules to sweep; empty for all.
        alts: a file of alt-texts, one per line, or ``-`` for standard input; "" for the dataset's candidates.
        published: a file of captions that should pass, one per line, of which the table says what each rule drops; "" for none.

    Raises:
        HearsightError: a rule cannot be swept, there is nothing to read, or the candidates' crawl is not finished.
    """
    chosen = choose_rules(rules)
    job, engine_lock = _job(root, dataset, alts)
    with sole_writer(engine_lock, f"the calibration of {dataset}"):
        with job.engine.open(root, engine_lock, (job.state, root / "data")):
            sweep = _sweep(job, chosen, _shards(job, alts))
            published_sweep = _sweep(job, chosen, _file_shards(job, published, published=True)) if published else None
        if not sweep.candidates:
            raise HearsightError("there is no alt-text to measure", where=alts or dataset, hint="give alt-texts, one per line")
        if published_sweep is not None and not published_sweep.candidates:
            raise HearsightError("there is no caption to measure", where=published, hint="give captions, one per line")
        files = write_tables(sweep, out, published_sweep)
    numbers = sweep.numbers()
    result = {"rates": str(files[0]), "samples": str(files[1]), "candidates": sweep.candidates, "pass_all": sweep.passing}
    if published_sweep is not None:
        losses = {rule: share for rule, _, share in published_sweep.losses()}
        numbers += [(f"published_loss.{rule}", loss, None) for rule, loss in losses.items()]
        passed = {"published": published_sweep.candidates, "published_pass_all": published_sweep.passing}
        result |= passed | {"published_loss": {rule: round(loss, 4) for rule, loss in losses.items()}}
    recorder.record_study(root, dataset, "calibrate", job.params.plain(), numbers, files)
    return result


def _sweep(job: Stage, rules: Sequence[Swept], shards: Sequence[ShardRef]) -> Sweep:
    sweep = Sweep(job.params, list(rules))
    for table in measure(job, shards):
        sweep.add(table)
    return sweep


def measure(job: Stage, shards: Sequence[ShardRef]) -> Any:
    """Yield each shard's table of measured values (``values.measured_schema``), computed in workers or read from the cache."""
    plan = plan_for(job.project, job.params.providers, job.params.language)
    refs = job.map(measure_shard, shards, step="values", params=job.params, shared=plan, publish=False, conserve=False)
    return (ref.read() for ref in refs)


def _job(root: Path, dataset: str, alts: str) -> tuple[Stage, Path]:
    limit_threads()
    graph = load_graph(root)
    params, state = stage_settings(graph, "filter", dataset), state_folder(root)
    inputs = {} if alts else open_inputs(graph, "filter", dataset)
    engine, work = make_engine(root / "params.yaml", graph.params), state / "work" / dataset / "calibrate"
    code = graph.code_digest("calibrate")
    return Stage("calibrate", dataset, params, root, inputs, work, engine, state, code), lock_path(root, dataset, "calibrate")


def _shards(job: Stage, alts: str) -> Sequence[ShardRef]:
    if not alts:
        return job.inputs["input"].shards
    if alts == "-":
        return line_shards(sys.stdin.buffer, job.work / "alts")
    return _file_shards(job, alts)


def _file_shards(job: Stage, path: str, *, published: bool = False) -> Sequence[ShardRef]:
    try:
        with Path(path).open("rb") as handle:
            return line_shards(handle, job.work / ("published" if published else "alts"), published=published)
    except OSError as error:
        raise HearsightError(f"cannot be read ({error.strerror})", where=path, hint="give a text file, one text a line") from None
