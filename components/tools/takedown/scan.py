"""Search every file of the project for listed items and report what is left; count what an entry of the list covers now.

The search goes by the list's hashes, or by a plain value, which is searched literally in all bytes. Nothing is changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from components.core.errors import HearsightError
from components.core.graph import Graph, load_graph
from components.core.manifest import NAME as MANIFEST
from components.core.stage_output import StageOutput
from components.tools.takedown import bucket_objects, evidence, ratings, versions
from components.tools.takedown.covered import find_covered
from components.tools.takedown.evidence import list_snapshots
from components.tools.takedown.file_search import ADDRESS_COLUMNS, FileSearch, Matcher, may_hold_crawl_addresses
from components.tools.takedown.listing import normalise
from components.tools.takedown.plan import current_digests, open_repo
from components.tools.takedown.tracked import Tracker
from components.tracking.recorder import flush_or_warn
from components.web.erase import count_affected
from components.web.takedown_journal import JOURNAL
from components.web.takedown_list import NAME, read_takedown

SEARCHED = ("data", "reports", ".hearsight", "mlartifacts", "ratings", "dvc.lock", "params.yaml", "datasets")
"""Paths searched file by file; DVC's cache and remotes are searched by object, ``mlflow.db`` by value."""
SKIPPED = ("data/packages",)
"""The sample's packages stand for the web: they are the source of a crawl, not its result."""


@dataclass
class Report:
    """The result of a scan."""

    files: int = 0
    left: list[dict[str, str]] = field(default_factory=list)
    """Hits: ``where`` and ``what``."""
    models: list[dict[str, str]] = field(default_factory=list)
    """Registered versions trained on a removed record: ``model``, and ``tainted`` (``yes`` or ``maybe``)."""
    remotes: list[str] = field(default_factory=list)
    """DVC's stores and the bucket, if they were searched."""

    def add(self, where: str, hits: Iterable[str]) -> None:
        """Add the hits of one file."""
        self.files += 1
        self.left += [{"where": where, "what": what} for what in sorted(hits)]


def scan(root: Path, plain: Sequence[tuple[str, str]] = ()) -> Report:
    """Search the project's files, DVC's stores and MLflow for listed items.

    Args:
        plain: plain (kind, value) pairs to search for, and what was removed for them; empty to search for the list's hashes.

    Raises:
        HearsightError: nothing is listed and nothing is given, or a remote cannot be reached.
    """
    listed = read_takedown(root / NAME)
    if not listed and not plain:
        raise HearsightError("lists nothing", where=root / NAME, hint="give --host, --url or --owner, or add one")
    flush_or_warn(root)  # so that queued run records are searched in MLflow
    graph = load_graph(root)
    entries = {entry.sha256 for kind, value in plain if (entry := listed.find(kind, normalise(kind, value)))}
    removed = evidence.read_known_removals(root, graph, entries) if entries or not plain else evidence.Content()
    removed -= evidence.collect_current(root, graph)
    matcher = Matcher.from_plain(plain, removed.digests) if plain else Matcher(listed, digests=removed.digests)
    search = FileSearch(matcher, removed.names)
    report = Report()
    for path in _files(root):
        # Journals list the hashes of what was removed, so a hash in them is no hit; an address is.
        digests = path.name not in (JOURNAL, evidence.REMOVED.name)
        relative = path.relative_to(root)
        hits = search.in_file(path, digests=digests, crawl=may_hold_crawl_addresses(relative))
        if ratings.holds_ratings(relative):
            hits |= ratings.find_names(path, search)
        report.add(relative.as_posix(), hits)
    with ExitStack() as locks:
        tainted = _scan_stores(root, open_repo(root, locks), search, report)
    if Tracker.exists(root):
        _scan_mlflow(root, Tracker(root), search, tainted, report)
    return report


def _files(root: Path) -> Iterator[Path]:
    for name in SEARCHED:
        start = root / name
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            if path.is_file() and not path.is_symlink() and not path.relative_to(root).as_posix().startswith(SKIPPED):
                yield path


def _scan_stores(root: Path, repo: Any, search: FileSearch, report: Report) -> set[str]:
    """Search DVC's stores and the bucket; return the digests of the outputs that hold a removed record."""
    tainted: set[str] = set()
    searched: dict[str, set[str]] = {}
    for objects in bucket_objects.open_stores(root, repo):
        tainted |= versions.find_outdated(objects, search, set(), searched)[1]
        report.remotes.append(objects.name)
        for oid in objects.ids():
            if oid in searched:
                report.add(f"{objects.name}: {oid}", searched[oid])
        for path, content in objects.cache_entries():
            report.add(f"{objects.name}: {path.removeprefix(f'{root}/')}", search.matcher.find_in_text(content))
    return tainted


def _scan_mlflow(root: Path, tracker: Tracker, search: FileSearch, tainted: set[str], report: Report) -> None:
    if tracker.database is None:
        places = [f"mlflow: {column}" for column in tracker.count_addresses(search)]
        places += [artefact.name for artefact in tracker.find_artefacts(search, (), current_digests(root))]
        report.left += [{"where": place, "what": "an address"} for place in places]
    else:
        for path in sorted(tracker.database.parent.glob(f"{tracker.database.name}*")):
            report.add(path.name, search.in_file(path))
    models = tracker.find_tainted_models(tainted, tracker.find_maybe_tainted())
    report.models = [{"model": f"{name}/{version}", "tainted": grade} for (name, version), grade in sorted(models.items())]


def count_covered(graph: Graph, kind: str, value: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return dataset → records of its crawl, and snapshot → stored answers, that an entry covers; those with none are left out.

    Raises:
        HearsightError: the value is not of its kind, or an output is damaged.
    """
    matcher = Matcher.from_plain([(kind, value)])
    records: Counter[str] = Counter()
    for stage, dataset, folder in graph.outputs():
        if stage == "crawl" and (folder / MANIFEST).is_file():
            shards = StageOutput(folder).shards
            covered = [find_covered(shard.read(list(ADDRESS_COLUMNS)), matcher) for shard in shards]
            records[dataset] = sum(pc.sum(each).as_py() or 0 for each in covered)
    answers = Counter({folder.name: count_affected(folder, matcher.listed) for folder in list_snapshots(graph.root)})
    return dict(+records), dict(+answers)
