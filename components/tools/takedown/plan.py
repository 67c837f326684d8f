"""List what a purge deletes, every file, object and database value in which older runs left something removed; delete it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from components.core.addresses import CELLS, DRAFT, MATRICES, draft_path, lineage_path
from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.graph import Graph, load_graph
from components.core.stored_files import store_of
from components.execution.runner import lock_all_outputs
from components.tools.takedown import bucket_objects, caches, evidence, ratings, versions
from components.tools.takedown.bucket_objects import fetch_current
from components.tools.takedown.file_search import FileSearch, Matcher
from components.tools.takedown.holders import find_holders
from components.tools.takedown.listing import find_listed_settings
from components.tools.takedown.tracked import Tracker
from components.tracking.recorder import flush_or_warn
from components.web.erase import CONSENT, count_affected, erase
from components.web.snapshot_chain import read_chain
from components.web.stored_snapshots import keep_snapshot
from components.web.takedown_list import NAME, Takedown, read_takedown

UNREACHED = (
    "a colleague's clone and caches: ask for the same purge there",
    "MLflow's artefacts of a project that this one was copied from: purge there",
    "git's history of params.yaml, datasets and dvc.lock (`git log -S`), and experiments of `dvc exp`",
    "backups, exported or published copies, and other machines' DVC remotes that are not configured here",
)
"""Copies that no purge can reach."""


@dataclass(frozen=True)
class Item:
    """One thing to delete."""

    where: str
    what: str
    remove: Callable[[], Any] = field(repr=False, compare=False)

    def plain(self) -> dict[str, str]:
        """Return the item as a JSON-able mapping."""
        return {"where": self.where, "what": self.what}


@dataclass
class Plan:
    """Everything a purge does."""

    root: Path
    items: list[Item] = field(default_factory=list)
    models: dict[tuple[str, str], str] = field(default_factory=dict)
    """Tainted (model, version) → ``yes`` or ``maybe``."""
    manual: list[str] = field(default_factory=list)
    """What a person has to do."""

    def add(self, where: str | Path, what: str, remove: Callable[[], Any]) -> None:
        """Add something to delete, at a path or a place in words."""
        location = where.relative_to(self.root).as_posix() if isinstance(where, Path) else where
        self.items.append(Item(location, what, remove))


def current_digests(root: Path) -> set[str]:
    """Return the digests of the outputs in data/."""
    data = root / "data"
    cells = [path for matrix in MATRICES for path in data.glob(f"{matrix}/{CELLS}/*/*/manifest.json")]
    return {sha256_file(path) for path in [*data.glob("*/*/manifest.json"), *cells] if path.parent.suffix != DRAFT}


def make_plan(root: Path, graph: Graph, listed: Takedown, repo: Any) -> tuple[Plan, evidence.Content, Tracker | None]:
    """Search everywhere; nothing is changed.

    Returns:
        The plan, the removed content, and the MLflow tracker if there is one.
    """
    flush_or_warn(root)
    plan, state = Plan(root), root / ".hearsight"
    removed = evidence.collect_removed(root, graph, listed, repo)
    search = FileSearch(Matcher(listed, digests=removed.digests), removed.names)

    current = evidence.list_current_snapshots(root, graph)
    # The newest first: a snapshot drops its references to its base before the base is erased.
    for folder in sorted(evidence.list_snapshots(root), key=lambda path: (-len(read_chain(path)), path.name)):
        urls = set() if folder in current else evidence.find_answered_urls(folder, removed.images, listed)
        count = count_affected(folder, listed, urls)
        if count or ((folder / "COMPLETE").exists() and search.in_file(folder / "COMPLETE")):
            plan.add(folder, f"{count} answers", partial(_erase, root, folder, listed, urls))
        for path in sorted((folder / CONSENT).glob("*.parquet")):
            if search.in_file(path):
                plan.add(path, "statements about something removed", partial(caches.delete, path))
    for path, keys in caches.find_annotations(state, search):
        plan.add(path, f"{len(keys)} annotations", partial(caches.delete_annotations, path, keys))
    for path, what in caches.find_files(root, search):
        plan.add(path, what, partial(caches.delete, path))
    for path in caches.find_logs(state, search):
        plan.add(path, "lines of a log", partial(caches.clear_log, path, search))
    for _, _, output in graph.outputs():
        if (draft := draft_path(output)).is_dir():
            plan.add(draft, "an output that was not finished", partial(caches.delete, draft))
    # Until ratings/ is cleared, the current import of ratings names removed items, which it drops.
    in_versions = replace(search, keys=frozenset(removed.keys)) if _plan_ratings(plan, search) else search
    tainted = _plan_stores(plan, graph, repo, in_versions)
    tracker = Tracker(root) if Tracker.exists(root) else None
    if tracker is not None:
        _plan_mlflow(plan, tracker, search, tainted)
    plan.manual += [f"remove it from the settings: {setting}" for setting in find_listed_settings(graph.params, listed)]
    plan.manual += [f"not reached: {what}" for what in UNREACHED]
    return plan, removed, tracker


def _plan_ratings(plan: Plan, search: FileSearch) -> bool:
    """Plan for people's ratings; return whether a file that the chain reads names something removed."""
    files = list(ratings.find_files(plan.root, search))
    for path in files:
        plan.add(path, "ratings of something removed", partial(ratings.clear_file, path, search))
    keys, unreached = ratings.find_running_items(plan.root, search)
    if keys:
        forget = partial(ratings.erase_running_items, plan.root, keys)
        plan.add(plan.root / ratings.FILE, f"{len(keys)} items of a running rating", forget)
    if files:
        plan.manual.append("commit ratings/ without them, and run `dvc repro` and this purge again, for what was made of them")
    plan.manual += filter(None, [unreached])
    return bool(files)


def _plan_stores(plan: Plan, graph: Graph, repo: Any, search: FileSearch) -> set[str]:
    """Plan for DVC's stores and the bucket; return the digests of the outputs that hold a removed record."""
    tainted: set[str] = set()
    searched: dict[str, set[str]] = {}
    of_dvc: set[str] | None = None
    for objects in bucket_objects.open_stores(plan.root, repo):
        if isinstance(objects, bucket_objects.BucketObjects):
            current = bucket_objects.find_current(plan.root, graph, objects)
            for copy in bucket_objects.find_copies(objects.store, current):
                plan.add(copy, "a copy of an object that nothing current needs", partial(copy.unlink, missing_ok=True))
            if objects.store.bucket.keeps_versions():
                plan.manual.append(f"{objects.name}: {bucket_objects.VERSIONING}")
        else:
            current = of_dvc = of_dvc or versions.find_current_objects(plan.root, objects)  # of the cache, which comes first
        outdated, holders = versions.find_outdated(objects, search, current, searched)
        tainted |= holders
        for path, why in sorted(outdated.items()):
            plan.add(f"{objects.name}: {path.removeprefix(f'{plan.root}/')}", why, partial(objects.remove, path))
    return tainted


def _erase(root: Path, folder: Path, listed: Takedown, urls: Collection[str]) -> None:
    """Erase answers from a snapshot, and from its copy in the bucket."""
    erase(folder, listed, urls)
    keep_snapshot(folder, store_of(root))


def _plan_mlflow(plan: Plan, tracker: Tracker, search: FileSearch, tainted: set[str]) -> None:
    maybe_tainted = tracker.find_maybe_tainted()
    plan.models = tracker.find_tainted_models(tainted, maybe_tainted)
    older = tracker.add_descendants(tainted) | maybe_tainted
    for artefact in tracker.find_artefacts(search, older, current_digests(plan.root)):
        what = "addresses in it" if artefact.redact else "an older artefact"
        plan.add(artefact.name, what, partial(tracker.clear_artefact, artefact, search))
    counts = tracker.count_addresses(search)
    for column, count in counts.items():
        if tracker.database is None:
            plan.manual.append(f"the MLflow server names it in {column}: no client can change that, ask its administrator")
        else:
            plan.add(f"mlflow.db: {column}", f"{count} values with addresses", lambda: None)
    if tracker.database is not None and counts:
        plan.add("mlflow.db", "its free pages, rewritten", partial(tracker.redact_database, search))


REPRO_FIRST = "run `dvc repro` first: a purge deletes what older runs left"


def purge(root: Path, *, apply: bool) -> Plan:
    """Find, and with ``apply`` delete, what older runs hold of listed items; return the plan.

    Models trained on a removed record are tagged before the evidence is deleted, and its hashes are kept for later scans.

    Raises:
        HearsightError: the list is empty; an output of the current chain still holds a listed item (run ``dvc repro`` first);
            a stage is running; a remote cannot be reached.
    """
    listed = read_takedown(root / NAME)
    if not listed:
        raise HearsightError("lists nothing", where=root / NAME, hint="add an entry with `hearsight takedown add`")
    graph = load_graph(root)
    with lock_all_outputs(graph), ExitStack() as locks:
        repo = open_repo(root, locks)
        fetch_current(graph)
        require_run(root, graph, listed)
        plan, removed, tracker = make_plan(root, graph, listed, repo)
        if apply:
            if tracker is not None:
                for (name, version), grade in plan.models.items():
                    tracker.tag_model(name, version, grade)
            marks = evidence.read_marks(graph)
            holders, _ = find_holders(root, repo, marks)
            of_entries = {digest: {marks[name] for name in names} for digest, names in holders.items()}
            evidence.write_removed(root, removed, of_entries)
            for item in plan.items:
                item.remove()
    return plan


def open_repo(root: Path, locks: ExitStack) -> Any:
    """Open DVC's repository and lock it against `dvc repro`; return None where there is no DVC repository."""
    if not (root / ".dvc").is_dir():
        return None
    # DVC takes a second to import.
    from dvc.exceptions import DvcException
    from dvc.lock import LockError
    from dvc.repo import Repo

    try:
        repo = locks.enter_context(Repo(str(root)))
        locks.enter_context(repo.lock)
    except LockError:  # whose text has a link in terminal codes
        raise HearsightError("is in use by another command", where=root / ".dvc", hint="wait until it ends") from None
    except DvcException as error:
        raise HearsightError(" ".join(str(error).split())[:200], where=root / ".dvc", hint="see `dvc status`") from None
    return repo


def require_run(root: Path, graph: Graph, listed: Takedown) -> None:
    """Raise HearsightError when an output of the chain names something listed or was made from an older input."""
    search = FileSearch(Matcher(listed))
    for stage, _, out in graph.outputs():
        lineage = lineage_path(out)
        for parent in json.loads(lineage.read_bytes())["parents"] if lineage.exists() else ():
            manifest = root / "data" / parent["output"] / "manifest.json" if "output" in parent else None
            if manifest and (not manifest.exists() or sha256_file(manifest) != parent["manifest_sha256"]):
                raise HearsightError(f"was made from an older {parent['output']}", where=out, hint=REPRO_FIRST)
        for path in sorted([*out.glob("shards/*.parquet"), *out.glob("ledger/*.parquet")]):
            if search.in_file(path, crawl=stage == "crawl"):
                raise HearsightError("still holds what is listed", where=path, hint=REPRO_FIRST)
