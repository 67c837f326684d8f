"""Failed answers of a complete snapshot asked for again, by their class, with the rest left as it is.

The old answers stay in the WARC; the new ones follow them, and count from the moment a new ``COMPLETE`` takes the place of the
old one. A retry that is killed has not been. Not in scope: retries within a run (``web.fetch``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import stage_params
from components.execution.engine import LocalEngine
from components.execution.stage import Stage
from components.stages.crawl import Params
from components.stages.crawl.snapshot_builder import STORE, apply_takedown_list, fetch_missing, project_root, replay
from components.stages.crawl.sources import create_source
from components.web.answers import REDIRECTS
from components.web.snapshot_chain import standing_on
from components.web.store import FetchStore
from components.web.takedown_list import RULE
from components.web.warc import Entry

CLASSES = ("timeout", "connection", "http_5xx", "host_failing")
"""What may have passed by itself."""
_STATUS = re.compile(r"http_([1-5])(\d\d|xx)")


def class_of(entry: Entry) -> str:
    """The class of a failed answer: its failure, or ``http_<status>`` of one that neither succeeded nor leads elsewhere."""
    good = entry.status == 200 or (entry.status in REDIRECTS and entry.location)
    if entry.failure == RULE:  # it leads to what is taken down: there is nothing to hope for
        return ""
    return entry.failure or ("" if good else f"http_{entry.status}")


def matches(name: str, classes: Collection[str]) -> bool:
    """Whether a failure's class is one of ``classes``, in which ``http_5xx`` stands for all of its hundred."""
    return name in classes or (name.startswith("http_") and f"{name[:6]}xx" in classes)


def retry(root: Path, dataset: str, classes: Collection[str] = CLASSES) -> dict[str, Any]:
    """Ask again for the answers of ``classes`` in the snapshot that ``dataset``'s crawl names, and complete it anew.

    Pages that answer now are read, and what they link to is fetched as a crawl would have done.

    Returns:
        ``asked`` (how many), ``answered`` (of them, now good), ``failed`` (class → how many, now), ``digest`` (of the snapshot),
        ``next`` (the stage to run, or '' where nothing changed).

    Raises:
        HearsightError: the dataset has no crawl, its snapshot is not complete or was changed, another process writes it, a
            class means nothing, the parameters ask for more than the snapshot holds, or the network or the disk is gone;
            the snapshot is then what it was.
    """
    graph = load_graph(root)
    graph.require("crawl", dataset)
    params = stage_params(root / "params.yaml", graph.params, dataset, "crawl", Params)
    assert isinstance(params, Params)
    stage = Stage("crawl", dataset, params, root, {}, graph.output("crawl", dataset), LocalEngine(1), root / ".hearsight")
    return retry_snapshot(stage, classes)


def retry_snapshot(stage: Stage, classes: Collection[str]) -> dict[str, Any]:
    """:func:`retry` for a stage at hand."""
    params: Params = stage.params
    folder = project_root(stage) / STORE / params.snapshot
    if not (folder / "COMPLETE").exists():
        raise HearsightError(
            f"the snapshot '{params.snapshot}' is not complete",
            where=folder,
            hint=f"run `hearsight run crawl --dataset {stage.dataset}`, which asks again by itself",
        )
    _stood_on(folder)
    taken = apply_takedown_list(stage, params, folder)
    source = create_source(stage, params, project_root(stage), folder, taken)
    with FetchStore(folder, writer=True, base=params.base) as store:
        before = store.verified_digest()
        failed = {entry.url: class_of(entry) for entry in store if class_of(entry)}
        _known(classes, set(failed.values()))
        chosen = sorted(url for url, name in failed.items() if matches(name, classes))
        # Fails before anything is asked where other parameters would fetch what never was part of the snapshot.
        replay(params, store, source, taken)
        digest = before
        if chosen:
            store.forget(chosen)
            digest = fetch_missing(stage, params, store, source, taken)
        entries = [entry for entry in map(store.get, chosen) if entry is not None]
    still = Counter(name for name in map(class_of, entries) if name)
    return {
        "snapshot": params.snapshot,
        "asked": len(entries),
        "answered": len(entries) - sum(still.values()),
        "failed": dict(sorted(still.items())),
        "digest": digest,
        "next": "" if digest == before else f"dvc repro --force --single-item crawl@{stage.dataset}, then dvc repro",
    }


def _known(classes: Collection[str], present: Collection[str]) -> None:
    """Raises HearsightError for a class that is neither a general one, nor of HTTP, nor in the snapshot."""
    for name in sorted(classes):
        if name not in CLASSES and name not in present and not _STATUS.fullmatch(name):
            known = sorted({*CLASSES, *present})
            raise HearsightError(f"'{name}' is no class of failure here", where="--class", hint=f"known are: {', '.join(known)}")
    if not classes:
        raise HearsightError("names no class of failure", where="--class", hint=f"give {','.join(CLASSES)}, or leave it out")


def _stood_on(folder: Path) -> None:
    """Raises HearsightError where a later snapshot stands on this one, which must then stay as it is."""
    for later in standing_on(folder):
        raise HearsightError(
            f"the later snapshot '{later.name}' stands on it, so it must stay as it is",
            where=folder,
            hint=f"retry '{later.name}', or crawl the next day",
        )
