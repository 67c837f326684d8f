"""The proof: every file of ours is looked into for what was taken down, and what is left is named.

Goes by the list's hashes, or by a plain value, whose very spelling is then searched in all bytes. Read only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.tools.takedown import evidence, searchable, versions
from components.tools.takedown.file_search import Look, Seeker, of_the_crawl
from components.tools.takedown.matcher import Wanted
from components.tools.takedown.plan import current_digests, seen_by_snapshot
from components.tools.takedown.purge import open_repo
from components.tools.takedown.tracked import Tracker
from components.tracking.recorder import flush_or_warn
from components.web.takedown_journal import JOURNAL
from components.web.takedown_list import NAME, read_takedown

PLACES = ("data", "reports", ".hearsight", "mlartifacts", "dvc.lock", "params.yaml")
"""Looked through file by file; DVC's cache and remotes follow by object, ``mlflow.db`` by value."""
SKIPPED = ("data/packages",)
"""The sample's packages stand for the web itself: they are what is crawled, not what was made of it."""


@dataclass
class Report:
    """What a scan saw."""

    files: int = 0
    bytes: int = 0
    mentions: int = 0
    """Listed addresses that pages or captions of others name in their own words: those records stay."""
    left: list[dict[str, Any]] = field(default_factory=list)
    """Places that hold something listed: where, what, how often."""
    models: list[dict[str, str]] = field(default_factory=list)
    """Registered versions that saw a removed record."""
    remotes: list[str] = field(default_factory=list)
    """DVC's stores that were looked through."""

    def take(self, where: str, look: Look) -> None:
        """Count one file."""
        self.files += 1
        self.bytes += look.bytes
        self.mentions += look.mentions
        self.left += [{"where": where, "what": what, "times": times} for what, times in sorted(look.hits.items())]


def scan(root: Path, plain: Sequence[tuple[str, str]] = ()) -> Report:
    """Look everywhere.

    Args:
        root: the project's root.
        plain: (kind, value) pairs in plain; none goes by the list's hashes, over every address found.

    Raises:
        HearsightError: nothing is listed and nothing is given, or a remote cannot be reached.
    """
    listed = read_takedown(root / NAME)
    if not listed and not plain:
        raise HearsightError("lists nothing", where=root / NAME, hint="give --host, --url or --owner, or add one")
    flush_or_warn(root)  # what waits to be logged lies in MLflow then, where it is found
    graph = load_graph(root)
    removed = evidence.known_before(root, graph)
    removed -= evidence.current(root, graph)
    wanted = Wanted.of_plain(plain, removed.digests) if plain else Wanted(listed, digests=removed.digests)
    seeker = Seeker(wanted, frozenset(removed.keys))
    report = Report()
    for path in _files(root):
        # The journals hold the hashes of what was removed: addresses in them would be a hit, hashes are not.
        hashes = path.name not in (JOURNAL, evidence.NOTES.name)
        where = path.relative_to(root)
        report.take(where.as_posix(), seeker.file(path, digests=hashes).settle(of_the_crawl(where)))
    with ExitStack() as locks:
        held = _stored(root, open_repo(root, locks), seeker, report)
    if Tracker.there(root):
        _tracked(root, Tracker(root), seeker, held, report)
    return report


def _files(root: Path) -> Iterator[Path]:
    for place in PLACES:
        start = root / place
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_file() and not path.is_symlink() and not name.startswith(SKIPPED):
                yield path


def _stored(root: Path, repo: Any, seeker: Seeker, report: Report) -> set[str]:
    held: set[str] = set()
    known: dict[str, Look] = {}
    for objects in versions.stores(repo) if repo else ():
        stored = versions.find(objects, seeker, set(), known)
        held |= stored.held
        report.remotes.append(objects.name)
        for oid in objects.ids():
            if oid in known:
                report.take(f"{objects.name}: {oid}", known[oid])
        for path, content in objects.run_files():
            look = Look(bytes=len(content))
            look.hits = dict.fromkeys(seeker.wanted.in_text(content), 1)
            report.take(f"{objects.name}: {path.removeprefix(f'{root}/')}", look)
    return held


def _tracked(root: Path, tracker: Tracker, seeker: Seeker, held: set[str], report: Report) -> None:
    current, maybe = current_digests(root), seen_by_snapshot(root, tracker)
    if tracker.database is None:
        for place, times in tracker.places(seeker).items():
            report.left.append({"where": f"mlflow: {place}", "what": "an address", "times": times})
        for artefact in tracker.artefacts(seeker, (), current):
            report.left.append({"where": artefact.name, "what": "an address", "times": 1})
    else:
        for path in sorted(tracker.database.parent.glob(f"{tracker.database.name}*")):
            report.take(path.name, seeker.file(path))
    for model in searchable.tainted(tracker, seeker, held, maybe, current):
        report.left.append({"where": model.name, "what": "a search index made of it", "times": 1})
    models = tracker.models(held, maybe)
    report.models = [{"model": f"{name}/{version}", "tainted": grade} for (name, version), grade in sorted(models.items())]
