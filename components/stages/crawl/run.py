"""Run crawl: fetch the snapshot and write its records."""

from __future__ import annotations

from components.core.addresses import main_project
from components.core.stored_files import store_of
from components.execution.stage import Stage
from components.stages.crawl.consent_ledger import ConsentLedger, ledger_path
from components.stages.crawl.records import write_records
from components.stages.crawl.snapshot_builder import (
    STORE,
    append_records,
    apply_takedown_list,
    complete_snapshot,
    erase_orphans,
    make_answers,
    missing_answers_as_errors,
)
from components.stages.crawl.source_kinds import create_source
from components.web.snapshot_chain import read_chain, require_base
from components.web.store import FetchStore
from components.web.stored_snapshots import fetch_snapshot, keep_snapshot


def run(stage: Stage) -> None:
    """Complete the snapshot if it is incomplete, then write its candidate records and ledger.

    Raises:
        HearsightError: the sample packages are missing, the network or the disk is unavailable, another
            process writes the snapshot, a complete snapshot lacks an answer that the parameters need, or the takedown list
            cannot be read.
    """
    params = stage.params
    folder = main_project(stage.project) / STORE / params.snapshot
    bucket = store_of(stage.project)
    for name in filter(None, (params.snapshot, params.base)):
        fetch_snapshot(folder.with_name(name), bucket)
    taken = apply_takedown_list(stage, params, folder)
    source = create_source(stage, params, main_project(stage.project), folder, taken)
    if not (folder / "COMPLETE").exists():
        complete_snapshot(stage, params, folder, source, taken)
    erase_orphans(stage, params, folder, taken)
    for held in read_chain(folder):
        keep_snapshot(held, bucket)
    with FetchStore(folder) as store:
        require_base(store.bases, params.base, folder)
        snapshot = store.verified_digest()
        answers = make_answers(params, store, taken)
        consent = ConsentLedger(answers)
        with missing_answers_as_errors(params, folder):
            if store.bases:
                append_records(stage, params, answers, source, consent)
            else:
                write_records(stage, answers, source, consent=consent)
        consent.write(ledger_path(folder, stage.dataset))
        stage.note_parent("snapshot", source.digest(snapshot))
