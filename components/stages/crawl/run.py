"""Run crawl: check the settings, fetch the snapshot, and write its records."""

from __future__ import annotations

from components.core.errors import HearsightError
from components.core.params import tags_of
from components.execution.stage import Stage
from components.stages.crawl import Params
from components.stages.crawl.records import write_records
from components.stages.crawl.snapshot_builder import (
    STORE,
    append_records,
    apply_takedown_list,
    complete_snapshot,
    erase_orphans,
    make_answers,
    missing_answers_as_errors,
    project_root,
)
from components.stages.crawl.source_kinds import SOURCES, create_source
from components.web.snapshot_chain import require_base
from components.web.store import FetchStore

NOT_NEGATIVE = ("delay", "retries", "backoff", "min_alt", "fresh_for", "max_retry_after", "min_side", "max_aspect")
LIMITS = ("shard_size", "per_host", "connections", "max_page_bytes", "max_image_bytes", "connect_timeout", "timeout")


def sound(params: Params) -> Params:
    """Return ``params`` if they pass the checks beyond types; raise HearsightError for the first that fails."""

    def wrong(name: str, what: str, hint: str) -> HearsightError:
        return HearsightError(what, where=f"params.yaml: crawl.{name}", hint=hint)

    for name in LIMITS:
        if getattr(params, name) <= 0:
            raise wrong(name, "must be more than 0", "give a positive number")
    for name in NOT_NEGATIVE:
        if getattr(params, name) < 0:
            raise wrong(name, "must not be negative", "give 0 or more")
    source = params.source
    for name, least in (("max_pages", 1), ("depth", 0), ("sample", 0)):
        if getattr(source, name, least) < least:
            raise wrong(f"source.{name}", f"must be {least} or more", "raise it")
    for name, value in params.budget:
        if value <= 0:
            raise wrong(f"budget.{name}", "must be more than 0", "give a positive number, or leave it out for the default")
    for name in ("snapshot", "base"):
        folder = getattr(params, name)
        named = all(char.isalnum() or char in "-_." for char in folder) and folder[:1] != "."
        if not named or (not folder and name == "snapshot"):
            raise wrong(name, f"'{folder}' cannot name a folder", "use letters, digits, '-', '_' and '.'")
    if params.base and not source.takes_base:
        again = dict.fromkeys(tags_of(kind)["kind"] for kind in SOURCES if kind.takes_base)
        raise wrong("base", f"is set, but only sources of kind {' and '.join(again)} are crawled again", "empty it")
    source.check(params, wrong)
    if params.web.kind == "open" and not params.contact and not source.is_local:
        raise wrong("contact", "is empty; a crawl of the open web must give a contact", "give a URL or a mail address")
    if params.web.kind == "folder" and not params.web.root:
        raise wrong("web.root", "is empty", "name the folder of <host>/ folders")
    return params


def run(stage: Stage) -> None:
    """Complete the snapshot if it is incomplete, then write its candidate records and ledger.

    Raises:
        HearsightError: a parameter is invalid, the sample packages are missing, the network or the disk is unavailable, another
            process writes the snapshot, a complete snapshot lacks an answer that the parameters need, or the takedown list
            cannot be read.
    """
    params = sound(stage.params)
    folder = project_root(stage) / STORE / params.snapshot
    taken = apply_takedown_list(stage, params, folder)
    source = create_source(stage, params, project_root(stage), folder, taken)
    if not (folder / "COMPLETE").exists():
        complete_snapshot(stage, params, folder, source, taken)
    erase_orphans(stage, params, folder, taken)
    with FetchStore(folder) as store:
        require_base(store.bases, params.base, folder)
        snapshot = store.verified_digest()
        answers = make_answers(params, store, taken)
        with missing_answers_as_errors(params, folder):
            if store.bases:
                append_records(stage, params, answers, source)
            else:
                write_records(stage, answers, source.pages(answers, None))
        stage.note_parent("snapshot", source.digest(snapshot))
