"""Removing what older runs left of the records that were taken down.

First looks everywhere and says what would go (``plan``); does it only when asked. Models that saw a removed record are tagged
before the evidence goes, and what was removed is noted down by hash, so that a later scan can still tell.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from components.core.addresses import lineage_path, lock_path
from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.graph import Graph, load_graph
from components.execution.process import sole_writer
from components.tools.takedown import evidence, searchable
from components.tools.takedown.file_search import Seeker
from components.tools.takedown.matcher import Wanted
from components.tools.takedown.plan import Plan, make_plan
from components.web.takedown_list import NAME, Takedown, read_takedown


def purge(root: Path, *, apply: bool) -> Plan:
    """Find, and with ``apply`` remove, what older runs hold of anything on the list.

    Raises:
        HearsightError: the list is empty; an output of the current chain still holds something (run ``dvc repro`` first);
            a stage is running; a remote cannot be reached. Nothing was removed then, but by the last one's repetition.
    """
    listed = read_takedown(root / NAME)
    if not listed:
        raise HearsightError("lists nothing", where=root / NAME, hint="add to it with `hearsight takedown add`")
    graph = load_graph(root)
    with ExitStack() as locks:
        for dataset in graph.datasets:
            for stage in graph.stages_of(dataset):
                locks.enter_context(sole_writer(lock_path(root, dataset, stage), f"{dataset}/{stage}"))
        repo = open_repo(root, locks)
        require_run(root, graph, listed)
        plan, removed, tracker = make_plan(root, graph, listed, repo)
        if apply:
            for (name, version), grade in plan.models.items():
                assert tracker is not None
                tracker.mark(name, version, grade)
            for model, grade in plan.searches.items():
                assert tracker is not None
                searchable.mark(tracker, model, grade)
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
            f"is in use ({' '.join(str(error).split())[:200]})", where="dvc", hint="wait for it to end"
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
                if seeker.file(path).settle(stage == "crawl").hits:
                    raise HearsightError(
                        "still holds what is listed",
                        where=path,
                        hint="run `dvc repro` first: a purge clears what older runs left",
                    )


def _require_fresh(root: Path, out: Path) -> None:
    told = lineage_path(out)
    for parent in json.loads(told.read_bytes())["parents"] if told.exists() else ():
        made_from = root / "data" / parent["output"] / "manifest.json" if "output" in parent else None
        if made_from and (not made_from.exists() or sha256_file(made_from) != parent["manifest_sha256"]):
            raise HearsightError(
                f"was made from an older {parent['stage_output']}",
                where=out,
                hint="run `dvc repro` first: a purge clears what older runs left",
            )
