"""Name the next snapshot of a dataset, and repeat the failed requests of a complete one, by class of failure.

The caller (a person, a schedule) gives the day of the next one; no stage reads a clock. New answers of a retry are
appended to the WARC and become valid when a new ``COMPLETE`` replaces the old one, so a killed retry has no effect.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from datetime import date
from pathlib import Path
from typing import Any

from components.core.addresses import main_project, state_folder
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import dataset_file
from components.core.yaml_edit import edited_yaml
from components.execution.engine import LocalEngine
from components.execution.runner import stage_settings
from components.execution.stage import Stage
from components.stages.crawl import Params
from components.stages.crawl.snapshot_builder import STORE, apply_takedown_list, fetch_missing, replay
from components.stages.crawl.source_kinds import create_source
from components.web.answers import REDIRECTS
from components.web.snapshot_chain import find_dependents
from components.web.store import FetchStore
from components.web.takedown_list import RULE
from components.web.warc import Entry

_DAY = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def next_snapshot(root: Path, dataset: str, day: date) -> dict[str, Any]:
    """Set ``<dataset>.crawl.snapshot`` to that of ``day``, with the present snapshot as its base.

    An incomplete snapshot has to be finished first, so it is kept. A second call for one day changes nothing.

    Returns:
        The snapshot and base that the settings name now, and whether they are new.

    Raises:
        HearsightError: the dataset takes no crawl, or its parameters are not valid.
    """
    params: Params = stage_settings(load_graph(root), "crawl", dataset)
    name = f"{_DAY.sub('', params.snapshot)}-{day.isoformat()}"
    now = {"dataset": dataset, "snapshot": params.snapshot, "base": params.base}
    if not (root / STORE / params.snapshot / "COMPLETE").is_file():
        return {**now, "moved": False, "why": "it is not complete yet"}
    if name == params.snapshot:
        return {**now, "moved": False, "why": "it is of this day"}
    with edited_yaml(dataset_file(root, dataset)) as content:
        content["crawl"] |= {"snapshot": name, "base": params.snapshot}
    return {"dataset": dataset, "snapshot": name, "base": params.snapshot, "moved": True}


CLASSES = ("timeout", "connection", "http_5xx", "host_failing", "challenge")
"""Failures that may be temporary; retried by default."""
_STATUS = re.compile(r"http_([1-5])(\d\d|xx)")


def class_of(entry: Entry) -> str:
    """Return the class of a failed answer: its failure, or ``http_<status>``; '' for a success or a redirect."""
    good = entry.status == 200 or (entry.status in REDIRECTS and entry.location)
    if entry.failure == RULE:  # it redirects to something on the takedown list, which is never requested
        return ""
    return entry.failure or ("" if good else f"http_{entry.status}")


def matches(name: str, classes: Collection[str]) -> bool:
    """Return whether a failure's class is one of ``classes``; ``http_5xx`` there matches every status from 500 to 599."""
    return name in classes or (name.startswith("http_") and f"{name[:6]}xx" in classes)


def retry(root: Path, dataset: str, classes: Collection[str] = CLASSES) -> dict[str, Any]:
    """Repeat the failed requests of ``classes`` in the snapshot that ``dataset``'s crawl names, and complete it again.

    Pages that answer now are parsed, and their links are fetched as in a crawl.

    Returns:
        ``asked`` (repeated requests), ``answered`` (of these, now successful), ``failed`` (class → number, of the rest),
        ``digest`` (of the snapshot), ``next`` (the command to run, or '' where nothing changed).

    Raises:
        HearsightError: the dataset has no crawl, its snapshot is not complete or was changed, another process writes it, a
            class is unknown, the parameters ask for more than the snapshot holds, or the network or the disk fails;
            the snapshot is then unchanged.
    """
    return retry_snapshot(crawl_stage(root, dataset), classes)


def crawl_stage(root: Path, dataset: str) -> Stage:
    """Return the crawl of a dataset, for work on its snapshot. Raises HearsightError: it has none."""
    graph = load_graph(root)
    params: Params = stage_settings(graph, "crawl", dataset)
    out, state, code = graph.output("crawl", dataset), state_folder(root), graph.code_digest("crawl")
    return Stage("crawl", dataset, params, root, {}, out, LocalEngine(1), state, code)


def retry_snapshot(stage: Stage, classes: Collection[str]) -> dict[str, Any]:
    """Do :func:`retry` with a given stage."""
    params: Params = stage.params
    folder = require_changeable(stage)
    taken = apply_takedown_list(stage, params, folder)
    source = create_source(stage, params, main_project(stage.project), folder, taken)
    with FetchStore(folder, writer=True, base=params.base) as store:
        before = store.verified_digest()
        failed = {entry.url: class_of(entry) for entry in store if class_of(entry)}
        _require_known(classes, set(failed.values()))
        chosen = sorted(url for url, name in failed.items() if matches(name, classes))
        # Fails before any request if the parameters ask for more than the snapshot holds.
        replay(params, store, source, taken)
        digest = before
        if chosen:
            store.forget(chosen)
            digest = fetch_missing(stage, params, store, source, taken)
        entries = [entry for entry in map(store.get, chosen) if entry is not None]
    failures = Counter(name for name in map(class_of, entries) if name)
    return {
        "snapshot": params.snapshot,
        "asked": len(entries),
        "answered": len(entries) - sum(failures.values()),
        "failed": dict(sorted(failures.items())),
        "digest": digest,
        "next": "" if digest == before else run_anew(stage.dataset),
    }


def _require_known(classes: Collection[str], present: Collection[str]) -> None:
    """Raise HearsightError for a class that is neither a general one, nor of HTTP, nor in the snapshot."""
    for name in sorted(classes):
        if name not in CLASSES and name not in present and not _STATUS.fullmatch(name):
            known = sorted({*CLASSES, *present})
            raise HearsightError(f"'{name}' is no class of failure here", where="--class", hint=f"known are: {', '.join(known)}")
    if not classes:
        raise HearsightError("names no class of failure", where="--class", hint=f"give {','.join(CLASSES)}, or leave it out")


def run_anew(dataset: str) -> str:
    """Return the commands that make the records of a snapshot that was changed."""
    return f"dvc repro --force --single-item crawl@{dataset}, then dvc repro"


def require_changeable(stage: Stage) -> Path:
    """Return the folder of a crawl's snapshot. Raises HearsightError: it is not complete, or the base of a later one."""
    folder = main_project(stage.project) / STORE / stage.params.snapshot
    if not (folder / "COMPLETE").exists():
        hint = f"run `hearsight run crawl --dataset {stage.dataset}`, which repeats failed requests itself"
        raise HearsightError(f"the snapshot '{folder.name}' is not complete", where=folder, hint=hint)
    for later in find_dependents(folder):
        what = f"the later snapshot '{later.name}' is based on it, so it must not change"
        raise HearsightError(what, where=folder, hint=f"retry '{later.name}', or crawl the next day")
    return folder
