"""What is healed: the images that a snapshot failed to fetch, or the addresses of a table."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.addresses import main_project
from components.core.errors import HearsightError
from components.execution.stage import Stage
from components.stages.crawl.records import Judge, select_image_urls
from components.stages.crawl.snapshot_builder import STORE, apply_takedown_list, make_answers, missing_answers_as_errors, replay
from components.stages.crawl.source_kinds import create_source
from components.stages.crawl.sources.source_pages import chunk_pages
from components.tools.heal.archives import Archive
from components.tools.heal.healing import Copy, Stated, heal, is_dead
from components.tools.image_tables import ImageTable, read_image_table, writer_of
from components.tools.snapshots import require_changeable, run_anew
from components.web.erase import COUNTED
from components.web.images.contrast import EXACT
from components.web.store import BaseStore, FetchStore
from components.web.takedown_list import NAME, Takedown, read_takedown
from components.web.urls import host_of, normalise
from components.web.warc import Entry

_FORMS = re.compile("[0-9a-f]{64}"), re.compile(f"[{EXACT}0-9a-f][0-9a-f]{{15}}")
"""Of a sha256 and a perceptual hash; other values state nothing."""


class _Healed(FetchStore):
    """A snapshot that gets the rules of hosts that are gone: what these allow and was never asked for is then a failure."""

    gone: frozenset[str] = frozenset()

    def get(self, url: str) -> Entry | None:
        return super().get(url) or (self.add(Entry(url, 0, "not_fetched")) if host_of(url) in self.gone else None)


def heal_snapshot(stage: Stage, archives: Sequence[Archive], digests: Sequence[str], ledger: Path, most: int) -> dict[str, Any]:
    """Heal the images that the crawl's complete snapshot failed to fetch; accepted copies become answers of their addresses.

    ``digests``: tables and earlier snapshots that state the images' content; the first that states anything of an address
    counts. None: the snapshots that this one builds on.

    Raises:
        HearsightError: as ``hearsight retry``, or what states digests cannot be read. The snapshot is then unchanged.
    """
    params, folder = stage.params, require_changeable(stage)
    taken = apply_takedown_list(stage, params, folder)
    source = create_source(stage, params, main_project(stage.project), folder, taken)
    with _Healed(folder, writer=True, base=params.base) as store:
        digest, facts = store.verified_digest(), store.complete or {}
        answers, judge, urls = make_answers(params, store, taken), Judge(params, taken), set[str]()
        with missing_answers_as_errors(params, folder):
            for chunk in chunk_pages(source.pages(answers, None)):
                urls.update(url for url in select_image_urls(judge.check(chunk)) if is_dead(answers.outcome(url)))

        def keep(copy: Copy, healed: FetchStore) -> None:
            store.add(copy.entry, healed.body(copy.at), copy.headers, "OK")
            store.gone |= set() if copy.rule else {host_of(copy.entry.url)}

        stated = _stated(stage, urls, digests or [base.snapshot for base in reversed(store.bases)], taken)
        done = heal(stage, stated, archives, ledger, most=most, taken=taken, keep=keep)
        if done["healed"]:
            if store.gone:
                replay(params, store, source, taken)
            digest = store.finish({name: value for name, value in facts.items() if name not in COUNTED})
    return done | {"digest": digest, "next": run_anew(stage.dataset) if done["healed"] else ""}


def heal_table(
    stage: Stage, table: ImageTable, archives: Sequence[Archive], digests: Sequence[str], ledger: Path, most: int, out: Path
) -> dict[str, Any]:
    """Heal the addresses of a table and write it to ``out`` with the columns ``healed_url``, ``healed_sha256``, ``healed_by``.

    The table's own digests come first. The rows of an address that state different ones are not healed.
    """
    write, taken, healed = writer_of(out), read_takedown(stage.project / NAME), dict[str, Copy]()
    urls = [normalise(url) or "" for url in table.strings("url").to_pylist()]
    stated = _stated(stage, {*urls} - {""}, [table, *digests], taken)

    def keep(copy: Copy, _: FetchStore) -> None:
        healed[copy.entry.url] = copy

    done = heal(stage, stated, archives, ledger, most=most, taken=taken, keep=keep)
    facts = {url: (copy.at, copy.entry.sha256, copy.rule) for url, copy in healed.items()}
    for number, name in enumerate(("healed_url", "healed_sha256", "healed_by")):
        values = [facts[url][number] if url in facts else None for url in urls]
        table = table.with_column(name, pa.array(values, pa.string()))
    write(table.table)
    return done | {"rows": len(urls), "no_address": urls.count(""), "out": str(out)}


def _stated(stage: Stage, urls: Collection[str], sources: Sequence[str | ImageTable], taken: Takedown) -> Mapping[str, Stated]:
    """Return what the first source that states anything of an address states of it; nothing where none does."""
    stated = dict.fromkeys(sorted(urls), Stated())
    for source in sources:
        found: defaultdict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
        for url, *digests in _digests(stage, source, urls, taken):
            for known, digest, form in zip(found[url], digests, _FORMS, strict=True):
                known.update({digest} if form.fullmatch(digest) else ())
        for url, (sha256, phash) in found.items():
            if url in stated and not any(stated[url]):
                stated[url] = Stated(frozenset(sha256), frozenset(phash))
    return stated


def _digests(stage: Stage, source: str | ImageTable, urls: Collection[str], taken: Takedown) -> Iterator[tuple[str, str, str]]:
    """Yield (address, sha256, phash) of a table or of an earlier snapshot."""
    snapshot = main_project(stage.project) / STORE / str(source)
    if isinstance(source, str) and (snapshot / "index.jsonl").is_file():
        with BaseStore(snapshot) as store:
            store.verified_digest()
            answers = make_answers(stage.params, store, taken)
            for url in urls:
                outcome = answers.outcome(url)
                if not outcome.rule and outcome.entry:
                    yield url, outcome.entry.sha256, ""
        return
    table = read_image_table(Path(source)) if isinstance(source, str) else source
    if "url" not in table.names:
        hint = "name a table with addresses, or a snapshot of data/store"
        raise HearsightError("has no column of addresses", where=str(source), hint=hint)
    columns = (table.strings(role).to_pylist() for role in ("url", "sha256", "phash"))
    yield from ((normalise(url) or "", sha256, phash) for url, sha256, phash in zip(*columns, strict=True))
