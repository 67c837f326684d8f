"""Explain what is stated about the use of one address, and apply a changed policy to a finished snapshot without a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import pyarrow.compute as pc
import pyarrow.parquet as pq

from components.core.addresses import main_project
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import load_graph
from components.core.printing import json_line
from components.execution.runner import stage_settings
from components.stages.crawl import Params
from components.stages.crawl.consent_ledger import HOST, ledger_path
from components.stages.crawl.snapshot_builder import STORE, make_policy, open_proxy
from components.web.answers import HOSTS_IN_MEMORY, Answers
from components.web.charset import parse_charset
from components.web.consent.image_metadata import read_image_statements
from components.web.consent.policy import Policy
from components.web.consent.readings import read_statement
from components.web.consent.reservations import Reservations, tdmrep_url
from components.web.consent.statements import RSL, Statement
from components.web.fetch import Fetcher
from components.web.html.page_limits import Source, read_pages_within
from components.web.images.head import FORMATS, detect_format
from components.web.robots import Rules, robots_url
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.urls import make_absolute, normalise


def check(root: Path, url: str, dataset: str) -> dict[str, Any]:
    """Request what is stated about ``url`` as the crawl of ``dataset`` would, into no snapshot, and :func:`explain` it.

    Raises:
        HearsightError: it is no http address, the dataset takes no crawl, its settings are not valid, or the network is lost.
    """
    params: Params = stage_settings(load_graph(root), "crawl", dataset)
    target = normalise(url)
    if target is None:
        raise HearsightError(f"'{url}' is not an http address", where="consent check", hint="give it as http://host/path")
    params.require_contact(f"datasets/{dataset}.yaml: crawl")
    settings = FetchSettings(**{name: getattr(params, name) for name in FetchSettings.model_fields})
    with (
        TemporaryDirectory() as folder,
        open_proxy(main_project(root), params.web) as proxy,
        FetchStore(Path(folder), writer=True) as store,
        Fetcher(store, settings, proxy=proxy, consent=make_policy(params)) as fetcher,
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
    if not outcome.rule and outcome.entry is not None:
        own = answers.read_statements(outcome.entry)
        body = answers.store.body(outcome.final)
        if detect_format(body) in FORMATS:
            own += read_image_statements(body)
        else:
            source = Source(body, outcome.final, parse_charset(outcome.entry.type), answers.agent)
            (page,) = read_pages_within([source], answers.budget)
            own += [] if isinstance(page, Exception) else page.statements
    stated = [*answers.rules(url).statements(outcome.final), *own]
    refusal = (outcome.rule, outcome.value) if outcome.rule else answers.refuse_host(outcome.final)
    refusal = refusal or answers.refuse(own, outcome.final)
    permitted = not refusal and (answers.consents(own, outcome.final) or answers.host_agrees(outcome.final))
    decision = "refused" if refusal else "permitted" if permitted else "unstated"
    rule, shown = refusal[:2] if refusal else ("", "")
    if decision == "unstated" and answers.consent.opt_in:
        decision, rule, shown = "refused", "no_consent", "said nothing"
    statements = []
    for each in stated:
        linked = each.signal == RSL and not each.text.lstrip().startswith("<")
        licence = make_absolute(each.text, outcome.final) if linked else None
        readings = read_statement(each, outcome.final, answers.agent, partial(answers.stored_licence, outcome.final))
        says = {word: sorted(uses) for reading in readings for word, uses in (("no", reading.no), ("yes", reading.yes)) if uses}
        statements.append({"place": each.place, "text": each.text[:500], "says": says, "licence": licence})
    common = {"url": url, "final": outcome.final, "decision": decision, "rule": rule, "statement": shown}
    return {**common, "statements": statements}


@dataclass
class _Hosts:
    """What the hosts of a ledger state, by the address of the file."""

    policy: Policy
    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Address → HTTP status and text."""
    _parsed: dict[str, Any] = field(default_factory=dict)

    def refuse(self, url: str) -> tuple[str, str] | None:
        """Return (rule, statement) of what the host of ``url`` refuses, or None."""
        if self.policy.tdmrep and self._reserved(url):
            return "tdm_reserved", "tdmrep.json: 1"
        statements = self.statements(url)
        return self.policy.find_refusal(statements, url, partial(self.licence, url)) if statements else None

    def agrees(self, url: str) -> bool:
        """Return whether the host of ``url`` gives consent: see ``Answers.host_agrees``."""
        rules = self._rules(url)
        known = urlsplit(url).netloc in self.policy.hosts or (rules is not None and rules.named and rules.allow(url))
        known = known or (self.policy.tdmrep and self._reserved(url) is False)
        return known or self.policy.gives_consent(self.statements(url), url, partial(self.licence, url))

    def statements(self, url: str) -> list[Statement]:
        """Return what robots.txt states about ``url``."""
        rules = self._rules(url)
        return rules.statements(url) if rules is not None else []

    def licence(self, url: str, address: str) -> str | None:
        """Return the text of a licence that is stated for ``url``."""
        status, text = self.files.get(make_absolute(address, url) or "", ("0", ""))
        return text if status.startswith("2") else None

    def _reserved(self, url: str) -> bool | None:
        reservations = self._parse(tdmrep_url(url), lambda _, text: Reservations.of(text.encode()))
        return reservations.reserved(url) if reservations else None

    def _rules(self, url: str) -> Rules | None:
        found: Rules | None = self._parse(
            robots_url(url), lambda status, text: Rules.of(int(status), text.encode(), self.policy.agent)
        )
        return found

    def _parse(self, url: str, parse: Callable[[str, str], Any]) -> Any:
        if url not in self._parsed:
            if len(self._parsed) >= HOSTS_IN_MEMORY:
                del self._parsed[next(iter(self._parsed))]
            self._parsed[url] = parse(*self.files[url]) if url in self.files else None
        return self._parsed[url]


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
    if not path.exists():
        raise HearsightError("there is no consent ledger", where=path, hint=f"run `dvc repro --force -s crawl@{dataset}`")
    counts: Counter[str] = Counter()
    lines: list[str] = []
    decided = 0
    for change in decide_again(path, make_policy(params)):
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


def decide_again(path: Path, policy: Policy) -> Iterator[dict[str, str]]:
    """Yield every item of a ledger with its old and its new decision; memory: the files of the hosts, and a row group."""
    hosts = _Hosts(policy)
    with pq.ParquetFile(path) as file:
        columns = ["kind", "address", "signal", "place", "statement"]
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns, use_threads=False)
            for row in table.filter(pc.equal(table["kind"], HOST)).to_pylist():
                hosts.files[row["address"]] = (row["place"], row["statement"])
        for item in _items(file):
            yield _decide(item, hosts)


def _items(file: pq.ParquetFile) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of each page and image; they are next to each other, in one row group or in two."""
    names = ["kind", "address", "final", "rule", "signal", "place", "statement", "granted"]

    def rows() -> Iterator[dict[str, Any]]:
        for group in range(file.num_row_groups):
            yield from file.read_row_group(group, names, use_threads=False).to_pylist()

    for (kind, _), item in groupby(rows(), lambda row: (row["kind"], row["address"])):
        if kind != HOST:
            yield list(item)


def _decide(item: list[dict[str, Any]], hosts: _Hosts) -> dict[str, str]:
    first, policy = item[0], hosts.policy
    url, final, old = first["address"], first["final"], first["rule"]
    result = {"address": url, "kind": first["kind"], "old": old, "new": old, "statement": ""}
    if old == "robots":  # what robots.txt forbids was not requested, whatever the policy
        return result
    statements = [Statement(row["signal"], row["place"], row["statement"]) for row in item if row["signal"]]
    read = partial(hosts.licence, final)
    refusal = hosts.refuse(final) or (hosts.refuse(url) if url != final else None)
    refusal = refusal or (policy.find_refusal(statements, final, read) if statements else None)
    if not refusal and policy.opt_in and not first["granted"]:
        agrees = (statements and policy.gives_consent(statements, final, read)) or hosts.agrees(final)
        refusal = None if agrees else ("no_consent", "said nothing")
    result["new"], result["statement"] = refusal or ("", "")
    return result
