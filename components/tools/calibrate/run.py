"""Measure every candidate by every text rule, sweep the thresholds, and write the results (``hearsight calibrate``).

Measures are one table per shard, computed in workers and stored in the shard cache.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.addresses import lock_path, state_folder
from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.ledger import ledger_table
from components.core.params import place
from components.core.record_fields import CONTEXT
from components.core.shards import write_table
from components.core.stage_output import ShardRef
from components.execution.engine import limit_threads
from components.execution.process import sole_writer
from components.execution.runner import make_engine, open_inputs, stage_settings
from components.execution.stage import ShardOut, Stage, Task
from components.hub.chosen import resources_for
from components.providers.registry import make_providers, models_of, plan_for
from components.stages.filter.annotation import SubjectAnnotator
from components.stages.filter.cascade import PAGE_GROUPS, evaluate_all, make_subjects
from components.tools.calibrate.sweep import SWEPT, Sweep, Swept, choose_rules, read_images, write_tables
from components.tools.calibrate.verdicts import compare_rules, write_verdicts
from components.tools.labelled import read_labelled
from components.tracking import recorder
from components.web.html.context import Context, to_row
from components.web.html.page import fold

_STRINGS = [(name, pa.string()) for name in ("key", "alt", "language", "format")]
SUBJECT = pa.schema([*_STRINGS, ("width", pa.int32()), ("height", pa.int32()), ("context", CONTEXT)])
"""What makes a subject of a record; a text has no image."""
LINES = 2000
"""Lines of a text file per shard."""
_SPLIT_OFF = re.compile(r" +([.,;:!?%)\]]|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b)")
"""Matches what a tokeniser splits off the word before it."""
_IN_BRACKETS = re.compile(r"\((-?\d+(?:\.\d+)?)\)$")


def measured_schema() -> pa.Schema:
    """Return the schema: ``text`` (without boilerplate), ``failing`` (rules failed at the present settings), a value per rule."""
    values = [(swept.rule, pa.float64()) for swept in SWEPT]
    return pa.schema([("text", pa.string()), ("failing", pa.list_(pa.string())), *values])


def measure_shard(table: pa.Table, task: Task) -> ShardOut:
    """Measure a shard's candidates; parses and tones come from the result caches where possible."""
    images = "image_text" in task.shared
    rows = {row["key"]: row for row in table.select([*SUBJECT.names, *(("image_sha256", "media") if images else ())]).to_pylist()}
    subjects = make_subjects(rows, task.params)
    annotate = SubjectAnnotator(rows, task, make_providers(task.shared, task.project, task.work))
    findings_by_key = evaluate_all(subjects, annotate, task.params, () if images else PAGE_GROUPS)
    measured = [
        {
            "text": subjects[key].text,
            "failing": [name for name, finding in findings.items() if not finding.passed],
            **{swept.rule: parse_number(findings[swept.rule].value) for swept in SWEPT if swept.rule in findings},
        }
        for key, findings in findings_by_key.items()
    ]
    return ShardOut(pa.Table.from_pylist(measured, schema=measured_schema()), ledger_table([]))


def parse_number(value: Any) -> float | None:
    """Return a rule's value as a number: the value itself, or the number in brackets of "baguette (3.1)"; None without one."""
    if isinstance(value, (int, float)):
        return float(value)
    match = _IN_BRACKETS.search(str(value))
    return float(match.group(1)) if match else None


def as_written(line: str) -> str:
    """Return a published caption as a person would write it: its first letter a capital, no space before punctuation.

    Published captions are in lower case and split into tokens ("person 's dog ."). What follows a tab is not part of the caption.
    """
    caption = _SPLIT_OFF.sub(r"\1", line.partition("\t")[0].strip())
    return caption[:1].upper() + caption[1:]


def line_shards(stream: Iterable[bytes], folder: Path, *, published: bool = False) -> list[ShardRef]:
    """Write the lines of a text as shards of alt-texts, with the crawl's whitespace folding and without empty lines.

    Args:
        published: the lines are published captions, which :func:`as_written` restores.
    """
    decoded = (line.decode("utf-8", "replace").removeprefix("\ufeff") for line in stream)
    texts = (fold(as_written(line) if published else line) for line in decoded)
    return text_shards(((text, None) for text in texts if text), folder)


def text_shards(texts: Iterable[tuple[str, Context | None]], folder: Path) -> list[ShardRef]:
    """Write alt-texts and their contexts as shards."""
    shutil.rmtree(folder, ignore_errors=True)
    lines = (
        {"key": str(at), "alt": text, "language": "", "context": to_row(context)} for at, (text, context) in enumerate(texts)
    )
    shards: list[ShardRef] = []
    while rows := list(islice(lines, LINES)):
        name = f"{len(shards):05d}"
        path = folder / f"{name}.parquet"
        write_table(path, pa.Table.from_pylist(rows, schema=SUBJECT))
        shards.append(ShardRef(name, path, sha256_file(path), folder / f"{name}.ledger"))
    return shards


def calibrate(
    root: Path,
    dataset: str,
    rules: Sequence[str],
    alts: str,
    out: Path,
    published: str = "",
    labelled: str = "",
    pass_rate: float | None = None,
) -> dict[str, Any]:
    """Sweep the rules' thresholds and write ``rates.tsv`` and ``samples.tsv`` into ``out``.

    Args:
        dataset: its filter settings are the present ones; its candidates are measured, unless ``alts`` is given.
        rules: the rules to sweep; empty for all.
        alts: a file of alt-texts, one per line, or ``-`` for standard input; "" for the dataset's candidates.
        published: a file of captions that should pass, one per line, of which the table says what each rule drops; "" for none.
        labelled: a file of :func:`read_labelled`, whose verdicts are compared with every rule in ``verdicts.tsv``; it stands for
            ``alts`` where that is "".
        pass_rate: share (0..1) of the candidates that no other rule drops; the result has each rule's threshold that keeps it.

    Raises:
        HearsightError: a rule cannot be swept, there is nothing to read, or the candidates' crawl is not finished.
    """
    chosen, judged = choose_rules(rules), read_labelled(Path(labelled)) if labelled else []
    job, engine_lock = _job(root, dataset, alts or labelled)
    if (texts := alts or labelled or published or not job.params.image_text.model) and read_images(chosen):
        where = place(root, dataset, "filter", "image_text") if texts is True else texts
        raise HearsightError("image_text needs a model, and candidates with images", where=where, hint="see docs/providers.md")
    with sole_writer(engine_lock, f"the calibration of {dataset}"):
        with job.engine.open(root, engine_lock, (job.state, root / "data")):
            of_verdicts = text_shards(((row.text, row.context) for row in judged), job.work / "labelled")
            candidates = _file_shards(job, alts) if alts else of_verdicts if labelled else job.inputs["input"].shards
            sweep = _sweep(job, chosen, candidates, pass_rate)
            published_sweep = _sweep(job, chosen, _file_shards(job, published, published=True)) if published else None
            rows = compare_rules(list(measure(job, of_verdicts)), [row.keep for row in judged], job.params) if judged else []
        if not sweep.candidates:
            raise HearsightError("there is no alt-text to measure", where=alts or dataset, hint="give alt-texts, one per line")
        if published_sweep is not None and not published_sweep.candidates:
            raise HearsightError("there is no caption to measure", where=published, hint="give captions, one per line")
        files = write_tables(sweep, out, published_sweep)
    numbers = sweep.numbers()
    result: dict[str, Any] = {"rates": str(files[0]), "samples": str(files[1])}
    result |= {"candidates": sweep.candidates, "pass_all": sweep.passing}
    if pass_rate is not None:
        result["thresholds"] = sweep.thresholds()
    if published_sweep is not None:
        losses = published_sweep.losses()
        numbers += [(f"published_loss.{rule}", loss, None) for rule, loss in losses.items()]
        passed = {"published": published_sweep.candidates, "published_pass_all": published_sweep.passing}
        result |= passed | {"published_loss": {rule: round(loss, 4) for rule, loss in losses.items()}}
    if rows:
        result |= {"verdicts": str(write_verdicts(rows, out / "verdicts.tsv")), "labelled": len(judged), "rules": rows}
        numbers += [(f"labelled.{name}", rows[0][name], None) for name in ("precision", "recall") if rows[0][name] is not None]
    recorder.record_study(root, dataset, "calibrate", job.params.plain(), numbers, files)
    return result


def _sweep(job: Stage, rules: Sequence[Swept], shards: Sequence[ShardRef], pass_rate: float | None = None) -> Sweep:
    sweep = Sweep(job.params, list(rules), pass_rate)
    for table in measure(job, shards, images=read_images(rules)):
        sweep.add(table)
    return sweep


def measure(job: Stage, shards: Sequence[ShardRef], *, images: bool = False) -> Any:
    """Yield each shard's table of measured values (:func:`measured_schema`), of the rules on images too if ``images``.

    They are computed in workers or read from the cache.
    """
    params = job.params
    image_text = params.image_text if images else None
    plan = plan_for(job.project, params.providers, params.language, params.zero_shot, image_text, job.engine.device)
    resources = resources_for(models_of(plan).values())
    refs = job.map(
        measure_shard, shards, step="values", params=params, shared=plan, publish=False, conserve=False, resources=resources
    )
    return (ref.read() for ref in refs)


def _job(root: Path, dataset: str, alts: str) -> tuple[Stage, Path]:
    limit_threads()
    graph = load_graph(root)
    params, state = stage_settings(graph, "filter", dataset), state_folder(root)
    inputs = {} if alts else open_inputs(graph, "filter", dataset)
    engine, work = make_engine(root / "params.yaml", graph.params), state / "work" / dataset / "calibrate"
    code = graph.code_digest("calibrate")
    return Stage("calibrate", dataset, params, root, inputs, work, engine, state, code), lock_path(root, dataset, "calibrate")


def _file_shards(job: Stage, path: str, *, published: bool = False) -> Sequence[ShardRef]:
    try:
        with nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb") as handle:
            return line_shards(handle, job.work / ("published" if published else "alts"), published=published)
    except OSError as error:
        raise HearsightError(f"cannot be read ({error.strerror})", where=path, hint="give a text file, one text a line") from None
