"""Removing what older runs left of the records that were taken down.

First looks everywhere and says what would go; does it only when asked. Models that saw a removed record are tagged before the
evidence goes, and what was removed is noted down by hash, so that a later scan can still tell.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.graph import Graph, load_graph
from components.core.process import sole_writer
from components.crawl.takedown import NAME, Takedown, read_takedown
from components.crawl.web.forget import JOURNAL, forget, journal, target_of
from components.crawl.web.store import FetchStore
from components.takedown import caches, evidence, versions
from components.takedown.listing import named_in_params
from components.takedown.looking import Look, Seeker
from components.takedown.matcher import Wanted
from components.takedown.tracked import Tracker

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
    yours: list[str] = field(default_factory=list)
    """What a person has to do by hand."""


def purge(root: Path, *, apply: bool) -> Plan:
    """Find, and with ``apply`` remove, what older runs hold of anything on the list.

    Raises:
        HearsightError: the list is empty; an output of the current chain still holds something (run ``dvc repro`` first);
            a stage is running; a remote cannot be reached. Nothing was removed then, but by the last one's repetition.
    """
    listed = read_takedown(root / NAME)
    if not listed:
        raise HearsightError("lists nothing", where=root / NAME, mend="add to it with `hearsight takedown add`")
    graph = load_graph(root)
    with ExitStack() as locks:
        for dataset in graph.datasets:
            for stage in graph.stages_of(dataset):
                path = root / ".hearsight" / "locks" / f"{dataset}.{stage}.lock"
                locks.enter_context(sole_writer(path, f"{dataset}/{stage}"))
        repo = open_repo(root, locks)
        require_run(root, graph, listed)
        plan, removed, tracker = _plan(root, graph, listed, repo)
        if apply:
            for (name, version), grade in plan.models.items():
                assert tracker is not None
                tracker.mark(name, version, grade)
            evidence.note_down(root, removed)
            for item in plan.items:
                item.remove()
    return plan


def open_repo(root: Path, locks: ExitStack) -> Any:
    """DVC's repository, locked against a `dvc repro`; None in a folder that is none."""
    if not (root / ".dvc").is_dir():
        return None
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        repo = locks.enter_context(Repo(str(root)))
        locks.enter_context(repo.lock)
    except DvcException as error:
        raise HearsightError(
            f"is in use ({' '.join(str(error).split())[:200]})", where="dvc", mend="wait for it to end"
        ) from None
    return repo


def require_run(root: Path, graph: Graph, listed: Takedown) -> None:
    """Refuse while an output of the chain names something listed or is of an older input: it would be taken for current."""
    seeker = Seeker(Wanted(listed))
    for dataset in graph.datasets:
        for stage in graph.stages_of(dataset):
            out = graph.output(stage, dataset)
            _require_fresh(root, out)
            for path in sorted([*out.glob("shards/*.parquet"), *out.glob("ledger/*.parquet")]):
                if seeker.file(path).hits:
                    raise HearsightError(
                        "still holds what is listed",
                        where=path,
                        mend="run `dvc repro` first: a purge clears what older runs left",
                    )


def _require_fresh(root: Path, out: Path) -> None:
    told = out / "lineage.json"
    for parent in json.loads(told.read_bytes())["parents"] if told.exists() else ():
        made_from = root / "data" / parent["boundary"] / "manifest.json" if "boundary" in parent else None
        if made_from and (not made_from.exists() or sha256_file(made_from) != parent["manifest_sha256"]):
            raise HearsightError(
                f"was made from an older {parent['boundary']}",
                where=out,
                mend="run `dvc repro` first: a purge clears what older runs left",
            )


def removed_content(root: Path, graph: Graph, listed: Takedown, repo: Any) -> evidence.Content:
    """The removed records' content that nothing current refers to, from every shard there is."""
    wanted = Wanted(listed)
    found = evidence.gather(_shards(root, repo), wanted, evidence.known_before(root, graph))
    found -= evidence.current(root, graph)
    return found


def _shards(root: Path, repo: Any) -> Iterator[evidence.Opener]:
    for path in sorted((root / ".hearsight" / "cache").glob("*/*/*.parquet")):
        yield partial(_open, path)
    seen: set[str] = set()
    for objects in versions.stores(repo) if repo else ():
        for oid in objects.ids():
            if oid not in seen and not oid.endswith(".dir"):
                seen.add(oid)
                yield partial(objects.odb.fs.open, objects.path(oid), "rb")


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def current_digests(root: Path) -> set[str]:
    """The digests of the outputs that lie in data/ now."""
    return {sha256_file(path) for path in (root / "data").glob("*/*/manifest.json")}


def _plan(root: Path, graph: Graph, listed: Takedown, repo: Any) -> tuple[Plan, evidence.Content, Tracker | None]:
    plan, state = Plan(), root / ".hearsight"
    removed = removed_content(root, graph, listed, repo)
    seeker = Seeker(Wanted(listed, digests=removed.digests), frozenset(removed.keys))

    def add(where: str | Path, what: str, remove: Callable[[], Any]) -> None:
        place = where.relative_to(root).as_posix() if isinstance(where, Path) else where
        plan.items.append(Item(place, what, remove))

    for folder in evidence.snapshots(root):
        with FetchStore(folder) as store:
            count = sum(bool(listed.url(entry.url) or listed.url(target_of(entry))) for entry in store)
        if count or ((folder / "COMPLETE").exists() and seeker.file(folder / "COMPLETE").hits):
            add(folder, f"{count} answers", partial(forget, folder, listed))
    for path, keys in caches.annotated(state, seeker):
        add(path, f"{len(keys)} annotations", partial(caches.forget_annotations, path, keys))
    for folder in caches.entries(state, seeker):
        add(folder, "a shard-cache entry", partial(shutil.rmtree, folder))
    for folder in caches.scratch(state):
        add(folder, "scratch of finished runs", partial(shutil.rmtree, folder))
    for path in caches.untold(state, seeker):
        add(path, "a run not told to MLflow yet", partial(path.unlink, missing_ok=True))
    for path in sorted((root / "reports" / "data_docs").rglob("*")):
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
    ours += [root / "data" / "store", root / "data" / "packages", root / "reports" / "data_docs"]
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
    for artefact in tracker.artefacts(seeker, tracker.descendants(held) | maybe, current_digests(root)):
        if folder := tracker.foreign(artefact.run):
            line = f"{folder} lies outside of this project (a copy's runs still name the original): purge where it belongs"
            plan.yours += [] if line in plan.yours else [line]
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


def seen_by_snapshot(root: Path, tracker: Tracker) -> set[str]:
    """Digests of outputs made from a snapshot before something was taken out of it."""
    before = {note["before"] for folder in evidence.snapshots(root) if (folder / JOURNAL).exists() for note in journal(folder)}
    return tracker.descendants(before) - before
