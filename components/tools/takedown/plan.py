"""What a purge would do: every place that older runs left something of the removed records in, and how it goes.

Reads only. Not in scope: when a purge may run, and doing it (``purge``).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from components.core.addresses import CELLS, MATRICES
from components.core.digests import sha256_file
from components.core.graph import Graph
from components.tools.takedown import caches, evidence, searchable, versions
from components.tools.takedown.file_search import Look, Seeker
from components.tools.takedown.listing import named_in_params
from components.tools.takedown.matcher import Wanted
from components.tools.takedown.tracked import Tracker
from components.tracking.recorder import flush_or_warn
from components.web.erase import count_affected, erase
from components.web.snapshot_chain import read_chain
from components.web.takedown_list import Takedown

CHECKED = ("data_docs", "warnings")
"""Folders below reports/ that checks write, and that quote values of records."""
UNREACHED = (
    "a colleague's clone and caches: ask for the same purge there",
    "git's history of params.yaml and dvc.lock (`git log -S`), and experiments of `dvc exp`",
    "backups, exported or published copies, and other machines' DVC remotes that are not configured here",
)
"""What no purge of ours can reach."""


@dataclass(frozen=True)
class Item:
    """One thing that goes, and how."""

    where: str
    what: str
    remove: Callable[[], Any] = field(repr=False, compare=False)

    def plain(self) -> dict[str, str]:
        """As a JSON-able line."""
        return {"where": self.where, "what": self.what}


@dataclass
class Plan:
    """All a purge would do."""

    items: list[Item] = field(default_factory=list)
    models: dict[tuple[str, str], str] = field(default_factory=dict)
    """Tainted (name, version) → ``yes`` or ``maybe``."""
    searches: dict[searchable.SearchModel, str] = field(default_factory=dict)
    """Search indexes in MLflow that go → ``yes`` or ``maybe``."""
    yours: list[str] = field(default_factory=list)
    """What a person has to do by hand."""


def current_digests(root: Path) -> set[str]:
    """The digests of the outputs that lie in data/ now."""
    data = root / "data"
    cells = [path for matrix in MATRICES for path in data.glob(f"{matrix}/{CELLS}/*/*/manifest.json")]
    return {sha256_file(path) for path in [*data.glob("*/*/manifest.json"), *cells]}


def make_plan(root: Path, graph: Graph, listed: Takedown, repo: Any) -> tuple[Plan, evidence.Content, Tracker | None]:
    """Look everywhere; returns what would go, what the removed records were, and the tracker, if there is one."""
    flush_or_warn(root)
    plan, state = Plan(), root / ".hearsight"
    removed = evidence.removed_content(root, graph, listed, repo)
    seeker = Seeker(Wanted(listed, digests=removed.digests), frozenset(removed.keys))

    def add(where: str | Path, what: str, remove: Callable[[], Any]) -> None:
        place = where.relative_to(root).as_posix() if isinstance(where, Path) else where
        plan.items.append(Item(place, what, remove))

    current = evidence.current_snapshots(root, graph)
    # The newest first: what stands on another gives up its claim to what lies there.
    for folder in sorted(evidence.snapshots(root), key=lambda one: (-len(read_chain(one)), one.name)):
        also = set() if folder in current else evidence.answers_of(folder, removed.images)
        count = count_affected(folder, listed, also)
        if count or ((folder / "COMPLETE").exists() and seeker.file(folder / "COMPLETE").hits):
            add(folder, f"{count} answers", partial(erase, folder, listed, also))
    for path, keys in caches.annotated(state, seeker):
        add(path, f"{len(keys)} annotations", partial(caches.forget_annotations, path, keys))
    for folder in caches.entries(state, seeker):
        add(folder, "a shard-cache entry", partial(shutil.rmtree, folder))
    for folder in caches.scratch(state):
        add(folder, "scratch of finished runs", partial(shutil.rmtree, folder))
    for path in caches.untold(state, seeker):
        add(path, "a run not told to MLflow yet", partial(path.unlink, missing_ok=True))
    for path in sorted(path for name in CHECKED for path in (root / "reports" / name).rglob("*")):
        if path.is_file() and seeker.file(path).hits:
            add(path, "a page of an older check", partial(path.unlink, missing_ok=True))
    held = _versions(root, repo, seeker, add)
    tracker = Tracker(root) if Tracker.there(root) else None
    if tracker is not None:
        _tracked(root, tracker, seeker, held, plan, add)
    for path in _strays(root, graph):
        if seeker.file(path).hits:
            plan.yours.append(f"{path.relative_to(root).as_posix()} is of no stage that runs: remove it by hand")
    plan.yours += [f"take it out of params.yaml: {place}" for place in named_in_params(graph.params, listed)]
    plan.yours += [f"not reached: {what}" for what in UNREACHED]
    return plan, removed, tracker


def _strays(root: Path, graph: Graph) -> Iterator[Path]:
    """Files below data/ and reports/ that no stage of the chain, no store and no check makes."""
    ours = [graph.output(stage, dataset) for dataset in graph.datasets for stage in graph.stages_of(dataset)]
    ours += [root / "data" / "store", root / "data" / "packages", *(root / "reports" / name for name in CHECKED)]
    for path in sorted([*(root / "data").rglob("*"), *(root / "reports").rglob("*")]):
        if path.is_file() and not any(path.is_relative_to(folder) for folder in ours):
            yield path


def _versions(root: Path, repo: Any, seeker: Seeker, add: Callable[[str | Path, str, Callable[[], Any]], None]) -> set[str]:
    """Plan for DVC's stores; returns the digests of the outputs that held a removed record."""
    held: set[str] = set()
    known: dict[str, Look] = {}
    current: set[str] | None = None
    for objects in versions.stores(repo) if repo else ():
        if current is None:  # the cache comes first
            current = versions.current_objects(root, objects)
        stored = versions.find(objects, seeker, current, known)
        held |= stored.held
        for path, why in sorted(stored.gone.items()):
            add(f"{objects.name}: {path.removeprefix(f'{root}/')}", why, partial(objects.remove, path))
    return held


def _tracked(
    root: Path,
    tracker: Tracker,
    seeker: Seeker,
    held: set[str],
    plan: Plan,
    add: Callable[[str | Path, str, Callable[[], Any]], None],
) -> None:
    maybe = seen_by_snapshot(root, tracker)
    plan.models = tracker.models(held, maybe)
    current = current_digests(root)
    for model, grade in searchable.tainted(tracker, seeker, held, maybe, current).items():
        if not _elsewhere(plan, searchable.foreign(tracker, model)):
            plan.searches[model] = grade
            add(model.name, "an older index, with its pictures and captions", partial(searchable.remove, tracker, model))
    for artefact in tracker.artefacts(seeker, tracker.descendants(held) | maybe, current):
        if _elsewhere(plan, tracker.foreign(artefact.run.info.artifact_uri)):
            continue
        add(
            artefact.name, "addresses in it" if artefact.redact else "an older artefact", partial(tracker.clear, artefact, seeker)
        )
    for place, count in tracker.places(seeker).items():
        if tracker.database is None:
            plan.yours.append(f"the MLflow server names it in {place}: no client can change that, ask its keeper")
        else:
            add(f"mlflow.db: {place}", f"{count} values with addresses", lambda: None)
    if tracker.database is not None and tracker.places(seeker):
        add("mlflow.db", "its free pages, rewritten", partial(tracker.redact, seeker))


def _elsewhere(plan: Plan, folder: Path | None) -> bool:
    """Whether something lies in another project, which is then told."""
    if folder is None:
        return False
    line = f"{folder} lies outside of this project (a copy's runs still name the original): purge where it belongs"
    plan.yours += [] if line in plan.yours else [line]
    return True


def seen_by_snapshot(root: Path, tracker: Tracker) -> set[str]:
    """Digests of outputs made from a snapshot before something was taken out of it."""
    before = evidence.older_digests(root)
    return tracker.descendants(before) - before
