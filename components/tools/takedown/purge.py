"""Delete what older runs left of listed records; ``plan`` lists it.

Models trained on a removed record are tagged before the evidence is deleted, and its hashes are kept for later scans.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from components.core.addresses import lineage_path
from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.graph import Graph, load_graph
from components.execution.runner import lock_all_outputs
from components.tools.takedown import evidence, searchable
from components.tools.takedown.file_search import FileSearch
from components.tools.takedown.matcher import Matcher
from components.tools.takedown.plan import Plan, make_plan
from components.tools.takedown.stored import fetch_current
from components.web.takedown_list import NAME, Takedown, read_takedown

REPRO_FIRST = "run `dvc repro` first: a purge deletes what older runs left"


def purge(root: Path, *, apply: bool) -> Plan:
    """Find, and with ``apply`` delete, what older runs hold of listed items; return the plan.

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
            for (name, version), grade in plan.models.items():
                assert tracker is not None
                tracker.tag_model(name, version, grade)
            for model, grade in plan.searches.items():
                assert tracker is not None
                searchable.tag_search_model(tracker, model, grade)
            evidence.write_removed(root, removed)
            for item in plan.items:
                item.remove()
    return plan


def open_repo(root: Path, locks: ExitStack) -> Any:
    """Open DVC's repository and lock it against `dvc repro`; return None where there is no DVC repository."""
    if not (root / ".dvc").is_dir():
        return None
    # DVC takes a second to import.
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        repo = locks.enter_context(Repo(str(root)))
        locks.enter_context(repo.lock)
    except DvcException as error:
        raise HearsightError(
            f"is in use ({' '.join(str(error).split())[:200]})", where="dvc", hint="wait until the other command ends"
        ) from None
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
