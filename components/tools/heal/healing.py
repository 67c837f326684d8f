"""Try dead addresses again, then in web archives, and accept what equals the record's digest or perceptual hash, bit for bit.

Every answer goes to a store of its own beside the snapshots, ``<snapshot>.heal``, through the crawl's client: robots.txt, delays,
budgets, the takedown list and the limits for images hold for archives too. All decisions are read from that store, so that a
second call requests only what the first did not finish, and comes to the same ledger.

A copy in an archive needs the consent of its original: it is judged as the answer of the original address, under the robots.txt
and the reservations that its host has today, with the headers that the archive gives as the original's and with its own. The
newest captures of these files stand in for a host that is gone. What is unknown, as a robots.txt without one, is a refusal.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from components.core.addresses import main_project
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.text_encoding import csv_text
from components.execution.stage import Stage
from components.stages.crawl.image_decoding import decode_results
from components.stages.crawl.snapshot_builder import STORE, make_answers, open_fetcher
from components.tools.heal.archives import Archive, parse_time
from components.tools.release.split_files import read_csv
from components.tools.takedown.evidence import find_answered_urls
from components.web.answers import NotFetched, Outcome
from components.web.consent.image_metadata import read_image_statements
from components.web.consent.reservations import TDMREP_PATH, tdmrep_url
from components.web.erase import erase
from components.web.fetch import Fetcher
from components.web.images.image import DecodeResult
from components.web.request import RETRY_STATUS
from components.web.robots import robots_url
from components.web.snapshot_chain import HEAL
from components.web.store import TRANSIENT, FetchStore
from components.web.takedown_list import RULE, Takedown
from components.web.urls import host_of
from components.web.warc import Entry, index_headers, select_headers

ORIGINAL = "x-archive-orig-"
"""Begins the names of the original's headers where an archive sends its own besides (Wayback Machine, pywb)."""
HEALED_FROM = "X-Hearsight-Healed-From"
"""Header that a healed answer gets in the snapshot: the address that sent it."""
_NOT_KEPT = ("etag", "last-modified", "content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive")
"""Headers that say nothing of the stored bytes, or would make a later crawl ask the dead host whether they have changed."""
_NEVER_SENT = ("retry_later", "host_failing")
_GONE = tuple(f"robots.txt: {failure}" for failure in ("dns", "connection", "timeout"))


class Stated(NamedTuple):
    """What the record of an image states of its content."""

    sha256: frozenset[str] = frozenset()
    phash: frozenset[str] = frozenset()


class Try(NamedTuple):
    """A row of the ledger."""

    address: str
    where: str
    """live, or the archive: its kind and host."""
    asked: str
    outcome: str
    """accepted | differs | failed | refused | listed (an index's answer) | read (what a host stated)."""
    rule: str = ""
    """What was equal (sha256, phash), or why it was not accepted."""
    value: str = ""
    digest: str = ""
    """sha256 of what came."""
    time: str = ""
    """When the answer came, UTC."""

    def mask(self, taken: Takedown) -> Try:
        """Return it without what is listed."""
        listed = taken.url(self.address) or taken.url(self.asked) or taken.within(self.asked)
        return self._replace(address=taken.mask(self.address), asked=taken.mask(self.asked), digest="") if listed else self


class Copy(NamedTuple):
    """An accepted answer."""

    entry: Entry
    """As the answer of the original address."""
    headers: list[tuple[str, str]]
    at: str
    """The address that sent it."""
    rule: str
    """What was equal; '' for what a host that is gone stated."""


class _WithCopies(NamedTuple):
    """The answers of a store, with copies in place of the answers of their originals."""

    store: FetchStore
    copies: Mapping[str, Copy]

    def get(self, url: str) -> Entry | None:
        return self.copies[url].entry if url in self.copies else self.store.get(url)

    def body(self, url: str) -> bytes:
        return self.store.body(self.copies[url].at if url in self.copies else url)


@dataclass
class Healing:
    """One pass over dead addresses."""

    stage: Stage
    fetcher: Fetcher
    taken: Takedown
    stated: Mapping[str, Stated]
    tries: list[Try] = field(default_factory=list)
    copies: dict[str, Copy] = field(default_factory=dict)
    """What was accepted, by address."""
    rules: dict[str, Copy] = field(default_factory=dict)
    """What hosts that are gone stated last, by the address of robots.txt or tdmrep.json."""

    def __post_init__(self) -> None:
        view: Any = _WithCopies(self.fetcher.store, ChainMap(self.copies, self.rules))  # all that the policy reads of a store
        self._policy = make_answers(self.stage.params, view, self.taken)
        self._open, self._unread, self.sought = set[str](), set[str](), set[str]()
        for url, stated in self.stated.items():
            if mark := self.taken.url(url):
                self.tries.append(Try(self.taken.mask(url), "", "", "refused", RULE, mark))
            elif max(map(len, stated)) == 1:
                self._open.add(url)
            else:
                self.tries.append(Try(url, "", "", "refused", "digests_disagree" if any(stated) else "no_digest"))

    def run(self, archives: Iterable[Archive], most: int) -> None:
        """Try every address itself, then at most ``most`` captures of it in each archive, until one is accepted."""
        self._try("live", {url: url for url in sorted(self._open)})
        gone = sorted(url for url in self._open if is_gone(self.fetcher.answers.outcome(url)))
        kinds = (robots_url, tdmrep_url) if self.stage.params.tdmrep else (robots_url,)
        self.sought = {kind(url) for url in gone for kind in kinds}
        for archive in archives:
            self._unread = set(self.sought)
            self._seek(archive, most, self._unread, self._read)
        captured = {row.address for row in self.tries if row.rule != "no_capture" and row.value != "404"}
        # Few archives ever asked for a tdmrep.json: one without captures counts as missing.
        unasked = {url for url in self.sought - captured if url.endswith(TDMREP_PATH)}
        self.rules |= {url: Copy(Entry(url, 404), [], "", "") for url in unasked}
        for url in gone:
            known = robots_url(url) in self.rules
            if refusal := self._refusal(url) if known else ("robots", "no capture of robots.txt can be read"):
                self._open.discard(url)
                self.tries.append(Try(url, "", "", "refused", *refusal))
        for archive in archives:
            self._seek(archive, most, self._open, self._try)

    def _seek(self, archive: Archive, most: int, wanted: Collection[str], attempt: Callable[[str, dict[str, str]], None]) -> None:
        """Make an attempt at one capture after another of what is still wanted."""
        listed = self._list(archive, sorted(wanted))
        for rank in range(most):
            attempt(archive.name, {url: found[rank] for url, found in listed.items() if url in wanted and rank < len(found)})

    def _read(self, where: str, asked: Mapping[str, str]) -> None:
        """Keep the newest capture of each robots.txt and tdmrep.json; only a memento is one, not an archive's own answer."""
        self.fetcher.ensure(asked.values(), "index", desc=f"heal: {where}")
        for url, at in asked.items():
            outcome, store = self.fetcher.answers.outcome(at, page=True), self.fetcher.store
            entry, rule, value = outcome.entry, outcome.rule or "no_memento", outcome.value
            sent = index_headers(store.headers(entry.url)) if entry and entry.status in (200, 404, 410) else {}
            if entry and (moment := parse_time(sent.get("memento-datetime", ""))):
                copy = self._copy(url, outcome, entry, "", moment)
                self.rules[url] = max(self.rules.get(url, copy), copy, key=lambda copy: copy.entry.fetched)
                self._unread.discard(url)
                rule, value = "", f"{entry.status} of {moment}"
            verdict, facts = "failed" if rule else "read", (entry.sha256, entry.fetched) if entry else ()
            self.tries.append(Try(url, where, at, verdict, rule, value, *facts))

    def _list(self, archive: Archive, urls: Sequence[str]) -> dict[str, list[str]]:
        """Return the replay addresses of each address."""
        indexes = {url: archive.index_url(url) for url in urls}
        if archive.kind == "timegate":
            return {url: [index] for url, index in indexes.items()}
        self.fetcher.ensure(indexes.values(), "index", desc=f"heal: index of {archive.name}")
        captures: dict[str, list[str]] = {}
        for url, index in indexes.items():
            outcome, store = self.fetcher.answers.outcome(index, page=True), self.fetcher.store
            entry, rule, value = outcome.entry, outcome.rule, outcome.value
            if not rule and entry:
                try:
                    captures[url] = archive.captures(store.body(entry.url), entry.type, url, newest=url in self._unread)
                    rule, value = "" if captures[url] else "no_capture", f"{len(captures[url])} captures"
                except ValueError as error:
                    rule, value = "not_an_index", str(error)[:80]
            verdict = "failed" if rule else "listed"
            self.tries.append(Try(url, archive.name, index, verdict, rule, value, time=entry.fetched if entry else ""))
        return captures

    def _try(self, where: str, asked: Mapping[str, str]) -> None:
        self.fetcher.ensure(asked.values(), "image", desc=f"heal: {where}", page=where != "live")
        outcomes = {url: self.fetcher.answers.outcome(at, page=where != "live") for url, at in asked.items()}
        hashed = [one for url, one in outcomes.items() if self.stated[url].phash and not self._equals(url, one, {})]
        looks = decode_results(self.stage, self.fetcher.store, hashed, self.stage.params.max_image_bytes)
        for url, outcome in outcomes.items():
            entry, equal = outcome.entry, self._equals(url, outcome, looks)
            verdict, rule, value = "differs", "", ""
            if outcome.rule:
                verdict, value = "failed" if is_dead(outcome) else "refused", outcome.value
                rule = "host_gone" if is_gone(outcome) else outcome.rule
            elif equal and entry:
                verdict, rule, value = self._accept(url, outcome, entry, equal)
            if verdict == "accepted" or (verdict == "refused" and (where == "live" or equal)):
                self._open.discard(url)
            digest, time = (entry.sha256, entry.fetched) if entry else ("", "")
            self.tries.append(Try(url, where, asked[url], verdict, rule, value, "" if outcome.rule else digest, time))

    def _equals(self, url: str, outcome: Outcome, looks: Mapping[str, DecodeResult]) -> str:
        """Return by what a good answer is the recorded image: sha256 | phash; '' where it is not."""
        if outcome.rule or outcome.entry is None:
            return ""
        if outcome.entry.sha256 in self.stated[url].sha256:
            return "sha256"
        look = looks.get(outcome.entry.sha256)
        return "phash" if look and not look.reason and look.phash in self.stated[url].phash else ""

    def _accept(self, url: str, outcome: Outcome, entry: Entry, rule: str) -> tuple[str, str, str]:
        """Keep a copy if the original's consent allows it; return verdict, rule and value for the ledger."""
        self.copies[url] = self._copy(url, outcome, entry, rule, entry.fetched)
        refusal = self._refusal(url) or self._policy.refuse(read_image_statements(self.fetcher.store.body(entry.url)), url)
        if refusal:
            del self.copies[url]
            return "refused", *refusal
        return "accepted", rule, ""

    def _copy(self, url: str, outcome: Outcome, entry: Entry, rule: str, fetched: str) -> Copy:
        """Return an archive's answer as the answer of ``url``."""
        sent = self.fetcher.store.headers(entry.url)
        originals = [(name[len(ORIGINAL) :], value) for name, value in sent if name.lower().startswith(ORIGINAL)]
        own = [(name, value) for name, value in sent if not name.lower().startswith(ORIGINAL)]
        headers = [(name, value) for name, value in [*originals, *own] if name.lower() not in _NOT_KEPT]
        kept = select_headers(index_headers(headers))
        copy = Entry(url, entry.status, sha256=entry.sha256, bytes=entry.bytes, fetched=fetched, **kept)
        return Copy(copy, [*headers, (HEALED_FROM, outcome.final)], entry.url, rule)

    def _refusal(self, url: str) -> tuple[str, str] | None:
        """Return (rule, value) of what refuses an address or its copy, None if nothing does."""
        try:
            judged = self._policy.outcome(url)
        except NotFetched as missing:
            return None if missing.url == url else ("no_consent", f"{missing.url} is not known")
        return (judged.rule, judged.value) if judged.rule else None


def heal(
    stage: Stage,
    stated: Mapping[str, Stated],
    archives: Sequence[Archive],
    ledger: Path,
    *,
    most: int,
    taken: Takedown,
    keep: Callable[[Copy, FetchStore], None],
) -> dict[str, Any]:
    """Heal addresses (normalised) and write a row for every try into ``ledger``, beside those of earlier calls.

    ``keep`` gets each accepted copy and the store that holds it, after what its host stated if that is gone.

    Returns:
        The numbers of addresses, of healed ones, of the others by their last outcome, and of the requests that were sent.
    """
    folder = main_project(stage.project) / STORE / f"{stage.params.snapshot}{HEAL}"
    if taken and folder.exists():
        erase(folder, taken, find_answered_urls(folder, (), taken))
    with FetchStore(folder, writer=True) as store:
        if ledger.is_file() and ledger.read_bytes().splitlines()[:1] != [",".join(Try._fields).encode()]:
            raise HearsightError("is no ledger of heal", where=ledger, hint="give --ledger another name")
        earlier = [Try(**row).mask(taken) for row in read_csv(ledger, Try._fields)] if ledger.exists() else []
        hosts = {host_of(url) for url in stated}
        busy = [entry for entry in store if entry.failure in TRANSIENT or entry.status in RETRY_STATUS]
        # An archive, which is any other host, is asked again, and what was never sent.
        store.forget([entry.url for entry in busy if entry.failure in _NEVER_SENT or host_of(entry.url) not in hosts])
        with open_fetcher(stage, stage.params, store, taken) as fetcher:
            healing = Healing(stage, fetcher, taken, stated)
            healing.run(archives, most)
        publish_bytes(ledger, csv_text(Try._fields, dict.fromkeys([*earlier, *healing.tries])).encode())
        healed = {host_of(url) for url in healing.copies}
        for copy in (*healing.rules.values(), *healing.copies.values()):
            if copy.at and host_of(copy.entry.url) in healed:
                keep(copy, store)
    last = {row.address: f"{row.outcome} {row.rule}".strip() for row in healing.tries if row.address not in healing.sought}
    left = Counter(sorted(outcome for outcome in last.values() if not outcome.startswith("accepted")))
    return {"addresses": len(stated), "healed": len(healing.copies), "left": dict(left), "requests": fetcher.requests}


def is_dead(outcome: Outcome) -> bool:
    """Return whether an address gave no image for another reason than a refusal to give it."""
    return outcome.rule == "redirect" or is_gone(outcome) or (outcome.entry is not None and outcome.entry.status != 200)


def is_gone(outcome: Outcome) -> bool:
    """Return whether the host of an address does not exist or does not answer; one that redirects to such a host does."""
    return outcome.rule == "robots" and outcome.value in _GONE and not outcome.hops
