"""The consent ledger of a crawl: every statement about the use of a page, an image or a host, and what was decided by it.

It stands beside the answers that it is read from (``data/store/<snapshot>/consent/<dataset>.parquet``), since its times are those
of requests, on which no output depends. It keeps statements that decide nothing too. Equal answers give equal bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.digests import sha256_bytes
from components.core.files import publish
from components.core.text_encoding import decode_text
from components.stages.crawl.sources.source_pages import SourcePage, redact_statements
from components.web.answers import Answers, Outcome
from components.web.consent.policy import RULES
from components.web.consent.reservations import TDMREP_PATH
from components.web.consent.statements import LONGEST, RSL, Statement
from components.web.images.image import DecodeResult

FOLDER = "consent"
HOST, PAGE, IMAGE, ROBOTS_TXT = "host", "page", "image", "robots.txt"
DECIDED = (*RULES, "robots", "")
"""Rules of the items in the ledger; what another rule drops has no decision."""
_BATCH = 50_000
"""Rows of a batch and of a row group."""
SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("kind", "address", "final", "rule", "signal", "place", "statement", "digest", "time")]
    + [("granted", pa.bool_())]
)
"""``final``: the address that answered, after redirects. ``rule``: the decision about the address, '' for none that refuses.
``digest``: the sha256 of the statement. ``time``: when the host sent or last confirmed the answer it stood in; '' for archives.
``granted``: whether an image's page gives consent for it. An item that states nothing has one row without a statement.
"""


def ledger_path(snapshot: Path, dataset: str) -> Path:
    """Return the path of the ledger of a dataset made of the snapshot at ``snapshot``."""
    return snapshot / FOLDER / f"{dataset}.parquet"


class ConsentLedger:
    """Collects rows in the order of the crawl; memory: the rows, and 8 bytes per address."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._seen: set[bytes] = set()
        self._rows: list[dict[str, Any]] = []
        self._batches: list[pa.RecordBatch] = []

    def add_page(self, page: SourcePage) -> None:
        """Add what a page states about its use; a row of a table is no page."""
        if page.url and page.row is not None:
            self._add(PAGE, page.url, page.url, page.row["rule"], page.statements)

    def add_image(self, outcome: Outcome, result: DecodeResult | None) -> None:
        """Add what the answers to the request of an image, and its file, state about its use."""
        statements = self._answers.read_statements(outcome.entry) if outcome.entry is not None else []
        rule = outcome.rule
        if result is not None and (in_file := [Statement(*each) for each in result.statements]):
            refusal = self._answers.refuse(in_file, outcome.final) if not rule else None
            rule, statements = refusal[0] if refusal else rule, statements + in_file
        granted = self._answers.is_granted(outcome.url, outcome.final)
        self._add(IMAGE, outcome.url, outcome.final, rule, statements, granted=granted)

    def _add(self, kind: str, url: str, final: str, rule: str, statements: Sequence[Statement], *, granted: bool = False) -> None:
        taken = self._answers.taken
        digest = hashlib.blake2b(f"{kind}\n{url}".encode(), digest_size=8).digest()
        if rule not in DECIDED or digest in self._seen or taken.url(url) or taken.url(final):
            return
        self._seen.add(digest)
        entry = self._answers.store.get(final) or self._answers.store.get(url)
        common = {"kind": kind, "address": url, "final": final, "rule": rule, "granted": granted}
        time = entry.fetched if entry is not None else ""
        for each in redact_statements(statements, taken) or [Statement("", "", "")]:
            self._append(common, each, time)

    def _append(self, common: Mapping[str, Any], each: Statement, time: str) -> None:
        digest = sha256_bytes(each.text.encode("utf-8", "replace")) if each.signal else ""
        text = each.text.encode("utf-8", "replace").decode()
        stated = {"signal": each.signal, "place": each.place, "statement": text, "digest": digest, "time": time}
        self._rows.append({**common, **stated})
        if len(self._rows) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._batches.append(pa.RecordBatch.from_pylist(self._rows, schema=SCHEMA))
        self._rows.clear()

    def write(self, path: Path) -> None:
        """Write the ledger, with what hosts state at its end: each robots.txt, tdmrep.json and licence, with its HTTP status."""
        for url, signal in self._host_files():
            status, body = self._answers.well_known(url)
            text = decode_text(body[:LONGEST], "replace") if 200 <= status < 300 else ""
            (each,) = redact_statements([Statement(signal, str(status), text)], self._answers.taken)
            entry = self._answers.store.get(url)
            common = {"kind": HOST, "address": url, "final": url, "rule": "", "granted": False}
            self._append(common, each, entry.fetched if entry is not None else "")
        self._flush()

        def fill(temporary: Path) -> None:
            with pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as writer:
                for batch in self._batches:
                    writer.write_batch(batch)

        publish(path, fill)

    def _host_files(self) -> Iterable[tuple[str, str]]:
        signals = {"/robots.txt": ROBOTS_TXT, TDMREP_PATH: TDMREP_PATH}
        for entry in self._answers.store:
            signal = signals.get(urlsplit(entry.url).path) or (RSL if entry.url in self._answers.licence_urls else "")
            if signal and not self._answers.taken.url(entry.url):
                yield entry.url, signal
