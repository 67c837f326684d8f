"""Explain what is stated about the use of one address, and apply a changed policy to a finished snapshot without a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from components.core.addresses import main_project
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import load_graph
from components.core.ledger import kept
from components.core.printing import json_line
from components.execution.runner import stage_settings
from components.stages.crawl import Params
from components.stages.crawl.consent_ledger import DECIDED, HOST, IMAGE, PAGE, POST, SCHEMA, ledger_path
from components.stages.crawl.snapshot_builder import STORE, make_policy, open_fetcher
from components.stages.crawl.sources.consent import read_consent, require_consent
from components.stages.crawl.sources.source_pages import SourcePage
from components.tools.snapshots import crawl_stage
from components.web.answers import Answers, NotFetched
from components.web.charset import parse_charset
from components.web.consent.image_metadata import read_image_statements
from components.web.consent.policy import Policy
from components.web.consent.readings import read_statement
from components.web.consent.statements import C2PA, PLUS, RSL, Statement
from components.web.consent.uses import ALL
from components.web.html.page_limits import Source, read_pages_within
from components.web.images.head import FORMATS, detect_format
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.takedown_list import EMPTY_LIST
from components.web.urls import host_of, make_absolute, normalise
from components.web.warc import Entry

COLUMNS = ["kind", "address", "final", "rule", "signal", "place", "statement", "time", "hops", "pages"]
"""What decisions need of a ledger."""
IN_FILES = (PLUS, C2PA)


def check(root: Path, url: str, dataset: str) -> dict[str, Any]:
    """Request what is stated about ``url`` as the crawl of ``dataset`` would, into no snapshot, and :func:`explain` it.

    Raises:
        HearsightError: it is no http address, the dataset takes no crawl, its settings are not valid, or the network is lost.
    """
    stage = crawl_stage(root, dataset)
    target = normalise(url)
    if target is None:
        raise HearsightError(f"'{url}' is not an http address", where="consent check", hint="give it as http://host/path")
    stage.params.require_contact(f"datasets/{dataset}.yaml: crawl")
    with (
        TemporaryDirectory() as folder,
        FetchStore(Path(folder), writer=True) as store,
        open_fetcher(stage, stage.params, store, EMPTY_LIST) as fetcher,
    ):
        fetcher.ensure([target], "page")
        explained = explain(fetcher.answers, target)
        if linked := [url for each in explained["statements"] if (url := each["licence"]) and url not in store]:
            fetcher.ensure(linked, "sitemap")  # the role that reads XML
            explained = explain(fetcher.answers, target)
        return explained


def explain(answers: Answers, url: str) -> dict[str, Any]:
    """Return what the stored answers state about ``url``, each statement with what it says, and the decision."""
    outcome = answers.outcome(url, page=True)
    own: list[Statement] = []
    if not outcome.rule and (entry := outcome.entry) is not None:
        own = answers.read_statements(entry)
        body = answers.store.body(outcome.final)
        if detect_format(body) in FORMATS:
            outcome = answers.outcome(url)
            own += read_image_statements(body)
        else:
            source = Source(body, outcome.final, parse_charset(entry.type), answers.agent)
            (page,) = read_pages_within([source], answers.budget)
            own += [] if isinstance(page, Exception) else page.statements
    stated, reserved, text = own, None, ""
    with suppress(NotFetched):  # of a host, or a file of one, that was not asked
        stated = [*answers.rules(outcome.final).statements(outcome.final), *own]
        reserved, text = answers.reservation(outcome.final)
    refusal = (outcome.rule, outcome.value) if outcome.rule else answers.refuse_host(outcome.final)
    refusal = refusal or answers.find_opt_out(url, outcome.final, own)
    permitted = not refusal and (answers.consents(own, outcome.final) or answers.host_agrees(outcome.final))
    is_read = outcome.rule in (*DECIDED, "crawl_delay")
    decision = "not_read" if not is_read else "refused" if refusal else "permitted" if permitted else "unstated"
    rule, shown = refusal[:2] if refusal else ("", "")
    if rule == "robots" and (file := answers.store.get(outcome.threshold)):  # a host that cannot be reached forbids everything
        status, _ = answers.well_known(outcome.threshold)
        why = f"{file.failure}: {file.detail}" if file.failure else status
        shown = f"{outcome.threshold} " + (f"({status}): {shown}" if 200 <= status < 300 else f"cannot be read ({why})")
    says = {"no" if reserved else "yes": sorted(ALL)}
    statements = [{"place": "tdmrep.json", "text": text, "says": says, "licence": None}] if text else []
    for each in stated:
        linked = each.signal == RSL and not each.text.lstrip().startswith("<")
        licence = make_absolute(each.text, outcome.final) if linked else None
        readings = read_statement(each, outcome.final, answers.agent, partial(answers.stored_licence, outcome.final))
        says = {word: sorted(uses) for reading in readings for word, uses in (("no", reading.no), ("yes", reading.yes)) if uses}
        statements.append({"place": each.place, "text": each.text[:500], "says": says, "licence": licence})
    common = {"url": url, "final": outcome.final, "decision": decision, "rule": rule, "statement": shown}
    return {**common, "statements": statements}


class _HostFiles:
    """The files of hosts in a ledger, read as a store's answers; one that it lacks is missing (404), so that nothing is asked."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[int, str]] = {}

    def add(self, row: dict[str, Any]) -> None:
        """Take the row of a file."""
        self._files[row["address"]] = (int(row["place"]), row["statement"])

    def get(self, url: str) -> Entry:
        """Return the entry of a file without its position."""
        return Entry(url, self._files.get(url, (404, ""))[0])

    def body(self, url: str) -> bytes:
        """Return a file's text in UTF-8."""
        return self._files[url][1].encode()


def redecide(root: Path, dataset: str, out: Path | None = None) -> dict[str, Any]:
    """Decide each item in the consent ledger of ``dataset`` anew, by the settings as they are now; no request is sent.

    Args:
        out: a file for the changes, one JSON line each: address, kind, old and new rule, and the statement.

    Returns:
        ``decided``, ``changed``, ``changes`` (old → new rule, with their numbers), ``next`` (the command to run).

    Raises:
        HearsightError: the dataset has no crawl, or no finished ledger.
    """
    params: Params = stage_settings(load_graph(root), "crawl", dataset)
    path = ledger_path(main_project(root) / STORE / params.snapshot, dataset)
    counts: Counter[str] = Counter()
    lines: list[str] = []
    decided = 0
    for change in decide_again(path, make_policy(params), params):
        decided += 1
        if change["old"] != change["new"]:
            counts[f"{change['old'] or 'kept'} → {change['new'] or 'kept'}"] += 1
            if out is not None:
                lines.append(json_line(change))
    if out is not None:
        publish_bytes(out, "".join(f"{line}\n" for line in lines).encode())
    newly = any(name.endswith("→ kept") for name in counts)
    after = f"hearsight snapshot next --dataset {dataset}, since what was refused was not fetched, then dvc repro"
    then = after if newly else "dvc repro" if counts else ""
    return {"decided": decided, "changed": counts.total(), "changes": dict(sorted(counts.items())), "next": then}


def decide_again(path: Path, policy: Policy, settings: FetchSettings) -> Iterator[dict[str, str]]:
    """Yield every item of a ledger with its old and its new decision, the pages first, as a rerun of the crawl would decide.

    Memory: the files of the hosts, the addresses of pages that refuse or agree, and a row group.
    """
    files: Any = _HostFiles()
    answers = Answers(files, settings, consent=policy)
    refused = dict[str, tuple[str, str]]()
    agree = dict[str, str]()
    """Page → the host whose images its yes is for, '' for any."""
    with _open_ledger(path) as ledger:
        for row in _rows(ledger, HOST):
            files.add(row)
        for page, stated in _items(ledger, PAGE):
            change = _change(page, stated, _refuse_page(page, stated, answers))
            yield change
            if change["new"]:
                refused[change["address"]] = change["new"], change["statement"]
            elif answers.consents(stated, page["address"]):
                agree[page["address"]] = host_of(page["address"])
        if policy.opt_in:
            agree |= {row["address"]: "" for row in _rows(ledger, POST)}
            for row in _rows(ledger, IMAGE) if agree else ():
                if any(agree.get(page) in ("", host_of(row["address"])) for page in row["pages"]):
                    answers.grant([row["address"]])
        for image, stated in _items(ledger, IMAGE):
            yield _change(image, stated, _refuse_image(image, stated, answers, refused))


def _open_ledger(path: Path) -> pq.ParquetFile:
    with suppress(pa.ArrowException, OSError):
        ledger = pq.ParquetFile(path)
        if ledger.schema_arrow.equals(SCHEMA):
            return ledger
    raise HearsightError(
        "there is no consent ledger of this version", where=path, hint=f"run `dvc repro --force -s crawl@{path.stem}`"
    )


def _rows(ledger: pq.ParquetFile, kind: str) -> Iterator[dict[str, Any]]:
    for group in range(ledger.num_row_groups):
        rows = ledger.read_row_group(group, COLUMNS, use_threads=False)
        yield from rows.filter(pc.equal(rows["kind"], kind)).to_pylist()


def _items(ledger: pq.ParquetFile, kind: str) -> Iterator[tuple[dict[str, Any], list[Statement]]]:
    """Yield the first row of each item, and its statements."""
    for _, group in groupby(_rows(ledger, kind), lambda row: row["address"]):
        rows = list(group)
        yield rows[0], [Statement(row["signal"], row["place"], row["statement"]) for row in rows if row["signal"]]


def _refuse_page(row: dict[str, Any], stated: Sequence[Statement], answers: Answers) -> Sequence[str] | None:
    url = row["address"]
    host = answers.refuse_host(url)
    if host and host[0] == "tdm_reserved" and row["time"]:  # so that it is not even asked for
        return host
    page = SourcePage(kept(url, kind="page"), url=url, statements=stated)
    decided = require_consent(answers, read_consent(answers, page)).row
    return (decided["rule"], decided["value"]) if decided and decided["rule"] else None


def _refuse_image(
    row: dict[str, Any], stated: Sequence[Statement], answers: Answers, refused: Mapping[str, tuple[str, str]]
) -> Sequence[str] | None:
    url, final, pages = row["address"], row["final"], row["pages"]
    if pages and all(page in refused for page in pages):
        return refused[pages[0]]
    sent, in_file = ([each for each in stated if (each.signal in IN_FILES) is held] for held in (False, True))
    if not url.startswith("file:"):  # which is of no host
        hosts = map(answers.refuse_host, dict.fromkeys([url, *row["hops"], final]))
        if refusal := next(filter(None, hosts), None) or answers.find_opt_out(url, final, sent):
            return refusal
    return answers.refuse(in_file, final)


def _change(row: dict[str, Any], stated: Sequence[Statement], refusal: Sequence[str] | None) -> dict[str, str]:
    new, said = refusal[:2] if refusal else ("", f"{stated[0].place}: {stated[0].text[:200]}" if stated else "")
    if row["rule"] == "robots":  # what robots.txt forbids was not requested, whatever the policy
        new, said = "robots", ""
    return {"address": row["address"], "kind": row["kind"], "old": row["rule"], "new": new, "statement": said}
