"""Answer a request: everything that came from an address, when it is removed, and what must be trained again.

Records are found by their addresses in the current outputs and in everything older; whatever was made of them, by their keys.
After a purge, the list of outputs that it wrote says which models and releases had the records. Nothing is changed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import date as day
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from components.core.addresses import lineage_path, parse_output_name, stage_address
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import Graph, load_graph
from components.core.manifest import NAME as MANIFEST
from components.core.records import MODEL_STAGES, OUTPUT_SCHEMAS, SEARCH_STAGE
from components.core.stage_output import StageOutput
from components.reporting.pages import render
from components.tools.release.publish import describe_release, list_releases
from components.tools.takedown import caches, evidence, ratings
from components.tools.takedown.bucket_objects import fetch_current
from components.tools.takedown.covered import count_naming
from components.tools.takedown.file_search import LEDGER_COLUMNS, FileSearch, Matcher
from components.tools.takedown.holders import NAMING, find_holders, find_names
from components.tools.takedown.listing import normalise
from components.tools.takedown.plan import UNREACHED, current_digests, open_repo
from components.tools.takedown.tracked import MAYBE, TAINTED, YES, Tracker
from components.tracking.record import TAG
from components.tracking.recorder import flush_or_warn
from components.web.erase import CONSENT, count_affected
from components.web.takedown_list import NAME, read_takedown

WORDS = {
    "UTTERANCE": "spoken captions", "RECOGNITION": "recognised speech", "FEATURES": "image features", "RATING": "ratings",
    "SEARCH_ITEM": "entries of a search index", "RATING_ITEM": "items to rate", "RATED_ITEM": "rated items",
    "GENERATED_CAPTION": "captions that models wrote", "RETRIEVAL_RANK": "results of a test", "CLUSTERED": "points of a map",
}  # fmt: skip
"""Schema → what its rows are to a person; others are captioned images."""
NOT_SEARCHED = "settings, reports, ledgers of older runs, files of training runs, and work that was not finished"
"""Where an answer does not look, since that takes long; ``hearsight takedown scan`` does."""


@dataclass
class Answer:
    """What a project holds of an address. The attribute names are the keys of the JSON receipt."""

    kind: str
    """url | host | owner."""
    value: str
    """As it was asked for."""
    date: str
    """The day of the request, ISO 8601: as given, or that of the list's entry; empty without both."""
    listed: bool
    """Whether the list has it."""
    found: list[dict[str, Any]] = field(default_factory=list)
    """Of each present output: ``dataset``, ``stage``, ``what``, ``count``, ``removed`` and the ``keys`` of its rows."""
    copies: list[dict[str, Any]] = field(default_factory=list)
    """Of each further place: ``where``, ``what``, ``count`` and ``removed`` (``purge``, ``next run`` or ``by hand``)."""
    releases: list[dict[str, Any]] = field(default_factory=list)
    """As :func:`describe_release` returns them, with ``held`` (``yes`` or ``maybe``)."""
    models: list[dict[str, Any]] = field(default_factory=list)
    """``model`` (name/version), ``run``, ``run_name``, ``saw`` (``yes`` or ``maybe``), ``current`` (whether its output is the
    present one), ``latest``, ``aliases``."""
    again: list[str] = field(default_factory=list)
    """Commands that train or build again what saw it."""
    unreached: list[str] = field(default_factory=lambda: list(UNREACHED))
    not_searched: str = NOT_SEARCHED
    not_compared: int = 0
    """Purged entries of other addresses: their hashes do not tell whether they are of a host or page that was asked about."""

    def plain(self) -> dict[str, Any]:
        """Return the receipt as JSON values."""
        return asdict(self)

    def page(self) -> str:
        """Return the receipt as a page to print, without keys of records."""
        return render(Path(__file__).parent / "data", "receipt.html", width="52rem", **self.plain())

    def write(self, path: Path) -> None:
        """Write the receipt: JSON, or a page to print where the name ends in ``.html``."""
        text = self.page() if path.suffix == ".html" else json.dumps(self.plain(), ensure_ascii=False, indent=1) + "\n"
        publish_bytes(path, text.encode())


def answer(root: Path, kind: str, value: str, date: str = "", folders: Collection[Path] = ()) -> Answer:
    """Return what came from an address, whether or not it is listed.

    Args:
        kind: url | host | owner.
        date: day of the request, ISO 8601.
        folders: releases besides those of the project's list.

    Raises:
        HearsightError: the value is not of its kind, the date is none, a folder is no release, or a remote cannot be reached.
    """
    try:
        date = date and day.fromisoformat(date).isoformat()
    except ValueError:
        raise HearsightError(f"'{date}' is no day", where="takedown", hint="give it as 2026-11-30") from None
    flush_or_warn(root)
    graph, listed, matcher = load_graph(root), read_takedown(root / NAME), Matcher.from_plain([(kind, value)])
    entry = listed.find(kind, normalise(kind, value))
    result = Answer(kind, value.strip(), date or (entry.date if entry else ""), bool(entry))
    with ExitStack() as locks:
        repo = open_repo(root, locks)
        fetch_current(graph)
        marks = evidence.read_marks(graph)
        content, images = _content(graph, matcher, {key for key in marks if entry and marks[key] == entry.sha256}, repo)
        older, files = find_holders(root, repo, content.names | content.images)
    holders = set(older) | _add_found(result, graph, content, images)
    for place, count in sorted(files.items()):
        result.copies.append({"where": place, "what": "data files", "count": count, "removed": "purge"})
    tracker = Tracker(root) if Tracker.exists(root) else None
    matcher = Matcher.from_plain([(kind, value)], content.images | content.features)
    _add_copies(result, graph, matcher, content, tracker)
    purged = evidence.read_holders(root)
    holders |= {digest for digest, entries in purged.items() if entry and entry.sha256 in entries}
    # The entry that covers it: the same, or that of its host.
    wider = getattr(listed, kind)(value if kind == "url" else normalise(kind, value))
    maybe = {digest for digest, entries in purged.items() if wider in entries}
    result.not_compared = len(set().union(*purged.values()) - {entry.sha256 if entry else "", wider})
    releases = {json.dumps(each): each for each in [*list_releases(root), *map(describe_release, folders)]}.values()
    graded = [(each, YES if each["split"] in holders else MAYBE if each["split"] in maybe else "") for each in releases]
    result.releases = [each | {"held": grade} for each, grade in graded if grade]
    if tracker is not None:
        # An earlier purge, or one in another clone, left a tag alone: it may be of another item.
        result.models = list(_models(tracker, root, holders, maybe, tagged=bool(wider) and not purged))
    result.again = list(_again(graph, holders))
    return result


def _content(graph: Graph, matcher: Matcher, keys: set[str], repo: Any) -> tuple[evidence.Content, dict[str, set[str]]]:
    """Return the keys of all records that came from the address, and their images that no other current record shows.

    The second value is output → the images that no other record in it, or in what it was made of, shows.
    """
    rated: list[evidence.Opener] = []
    paths = (path for _, _, folder in graph.outputs() for path in sorted(folder.glob("shards/*.parquet")))
    current: list[evidence.Opener] = [partial(evidence.open_file, path) for path in paths]
    older = (opener for _, _, opener in evidence.list_shards(graph.root, repo))
    content = evidence.collect_content(chain(current, older), matcher, evidence.Content(keys), rated)
    shared: dict[str, set[str]] = {}
    records = {output.name: output for _, output in _outputs(graph, {"page_url", "centre"})}  # crawl to split, and features
    for name, inputs in graph.reads.items() if content.images else ():
        if name in records:
            shown = records[name].table(["key", "image_sha256"])
            others = shown.filter(pc.invert(pc.is_in(shown["key"], value_set=pa.array(sorted(content.keys), pa.string()))))
            shared[name] = content.images.intersection(others["image_sha256"].to_pylist())
        elif parse_output_name(name)[1] not in MODEL_STAGES:
            shared[name] = set().union(*(shared.get(each, ()) for each in inputs))
    images = {name: content.images - shown for name, shown in shared.items()}
    content.images.difference_update(*shared.values())
    content.audio.clear()  # equal words of one voice are equal bytes, whoever wrote them
    content.items |= evidence.find_items(rated, content)
    return content, images


def _outputs(graph: Graph, columns: set[str]) -> Iterator[tuple[str, StageOutput]]:
    """Yield (stage, output) of the finished outputs with one of the columns."""
    for stage, _, folder in graph.outputs():
        if (folder / MANIFEST).is_file() and columns & set(OUTPUT_SCHEMAS[stage][1].names):
            yield stage, StageOutput(folder)


def _add_found(result: Answer, graph: Graph, content: evidence.Content, images: dict[str, set[str]]) -> set[str]:
    """Add what the current outputs hold; return their digests."""
    digests: set[str] = set()
    for stage, output in _outputs(graph, set(NAMING)) if content.keys else ():
        schema, columns = OUTPUT_SCHEMAS[stage]
        names = content.names | images.get(output.name, set())
        rows, _ = find_names(output.table([name for name in NAMING if name in columns.names]), names)
        if rows.num_rows:
            dataset, _ = parse_output_name(output.name)
            about = {"dataset": dataset, "stage": stage, "what": WORDS.get(schema, "captioned images"), "count": rows.num_rows}
            result.found.append(about | {"removed": "next run", "keys": rows["key"].to_pylist()})
            digests.add(output.digest)
    return digests


def _add_copies(result: Answer, graph: Graph, matcher: Matcher, content: evidence.Content, tracker: Tracker | None) -> None:
    """Add what is kept besides the outputs' rows: ledgers, stored answers, results, ratings, logs, values of training runs."""
    root, state, search = graph.root, graph.root / ".hearsight", FileSearch(matcher, content.names)

    def add(where: str, what: str, count: int, removed: str = "purge") -> None:
        result.copies += [{"where": where, "what": what, "count": count, "removed": removed}] if count else []

    for dataset in graph.datasets:  # ledgers of later stages have keys, and quote captions
        paths = graph.output("crawl", dataset).glob("ledger/*.parquet")
        rows = count_naming(paths, ["key", *LEDGER_COLUMNS], matcher)
        add(f"data set {dataset}, step crawl", "notes on pages and images", rows, "next run")
    for folder in evidence.list_snapshots(root):
        add(f"snapshot {folder.name}", "fetched files", count_affected(folder, matcher.listed))
        statements = count_naming((folder / CONSENT).glob("*.parquet"), ["address", "final"], matcher)
        add(f"snapshot {folder.name}", "statements about use", statements)
    add("logs", "files with lines on it", sum(1 for _ in caches.find_logs(state, search)))
    if tracker is not None:
        values = sum(tracker.count_addresses(search).values())
        add("records of training runs", "values that name it", values, "purge" if tracker.database else "by hand")
    if search.keys:
        add("result caches", "computed results", sum(len(keys) for _, keys in caches.find_annotations(state, search)))
        for path in ratings.find_files(root, search):
            add(path.relative_to(root).as_posix(), "files of ratings", 1)
        items, unreached = ratings.find_running_items(root, search)
        add("the database of a running rating", "items to rate", len(items))
        result.unreached += ["the database of a running rating, which could not be opened"] if unreached else []


def _models(tracker: Tracker, root: Path, holders: set[str], maybe: set[str], *, tagged: bool) -> Iterator[dict[str, Any]]:
    """Yield the registered versions whose training data held it."""
    current, names = current_digests(root), {run.info.run_id: run.info.run_name for run in tracker.runs}
    versions = list(tracker.list_versions())
    for version in versions:
        if grade := tracker.grade(version, holders, maybe) or (MAYBE if tagged and version.tags.get(TAINTED) else ""):
            aliases = tracker.client.get_registered_model(version.name).aliases
            yield {
                "model": f"{version.name}/{version.version}",
                "run": version.run_id,
                "run_name": names.get(version.run_id, ""),
                "saw": grade,
                "current": version.tags.get(f"{TAG}output_digest") in current,
                "latest": int(version.version) == max(int(each.version) for each in versions if each.name == version.name),
                "aliases": sorted(alias for alias, number in aliases.items() if str(number) == str(version.version)),
            }


def _again(graph: Graph, holders: set[str]) -> Iterator[str]:
    """Yield the commands that make present models and indexes anew which were made of outputs that held it."""
    seen = set(holders)
    for name in graph.reads:
        dataset, stage = parse_output_name(name)
        lineage = lineage_path(graph.output(stage, dataset))
        if stage in (*MODEL_STAGES, SEARCH_STAGE) and lineage.exists():
            made = json.loads(lineage.read_bytes())
            if seen & {parent.get("manifest_sha256", "") for parent in made["parents"]}:
                seen.add(made["manifest_sha256"])
                yield f"dvc repro {stage_address(dataset, stage)}"
