"""The consent ledger of a crawl: every statement about the use of a page, an image or a host, and what was decided by it.

It is written to ``data/store/<snapshot>/consent/<dataset>.parquet``, not into the crawl's output, since its times are those
of requests, on which no output depends. It keeps statements that decide nothing too. Equal answers give equal bytes.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.digests import sha256_bytes
from components.core.files import publish
from components.core.text_encoding import decode_text
from components.stages.crawl.sources.source_pages import SourcePage, redact_statements
from components.web.answers import Answers, NotFetched, Outcome
from components.web.consent.policy import RULES
from components.web.consent.reservations import TDMREP_PATH
from components.web.consent.statements import LONGEST, RSL, Statement
from components.web.erase import CONSENT
from components.web.images.image import DecodeResult
from components.web.robots import MAX_BYTES

HOST, PAGE, IMAGE, POST = "host", "page", "image", "post"
DECIDED = (*RULES, "robots", "")
"""Rules of the items in the ledger; what another rule drops has no decision."""
_BATCH = 50_000
"""Rows of a batch and of a row group."""
SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("kind", "address", "final", "rule", "signal", "place", "statement", "digest", "time")]
    + [(name, pa.list_(pa.string())) for name in ("hops", "pages")]
)
"""``final``: the address that answered, after redirects. ``rule``: the decision about the address, '' for none that refuses.
``digest``: the sha256 of the statement. ``time``: when the host sent or last confirmed the answer it stood in; '' for archives.
``hops``: the addresses between ``address`` and ``final``. ``pages``: those that show an image. An item that
states nothing has one row without a statement.
"""


def ledger_path(snapshot: Path, dataset: str) -> Path:
    """Return the path of the ledger of a dataset made of the snapshot at ``snapshot``."""
    return snapshot / CONSENT / f"{dataset}.parquet"


class ConsentLedger:
    """Collects rows in the order of the crawl; memory: the rows, the addresses of pages, and 8 bytes per other address."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._seen: set[bytes] = set()
        self._pages: defaultdict[bytes, list[str]] = defaultdict(list)
        self._rows: list[dict[str, Any]] = []
        self._batches: list[pa.RecordBatch] = []

    def add(
        self,
        pages: Iterable[SourcePage],
        shown: Iterable[tuple[str, str, str]],
        outcomes: Iterable[Outcome],
        results: Mapping[str, DecodeResult],
    ) -> None:
        """Add what pages, the answers to requests of images, and their files (by sha256) state; a row of a table is no page.

        ``shown``: addresses of an image and of a page that shows it, and the rule that drops the image, or ''.
        """
        for page in pages:
            if page.url and page.row is not None:
                self._add(POST if page.post else PAGE, page.url, page.url, page.row["rule"], page.statements)
        rules = dict[str, str]()
        for image, url, rule in shown:
            rules[image], known = rule, self._pages[_digest(IMAGE, image)]
            known += [url] if url and url not in known[-1:] else []
        for outcome in outcomes:
            entry = outcome.entry
            result = results.get(entry.sha256) if entry is not None else None
            in_file = [Statement(*each) for each in result.statements] if result is not None else []
            statements = (self._answers.read_statements(entry) if entry is not None else []) + in_file
            hops = [hop.partition(" ")[2] for hop in outcome.hops[:-1]]
            self._add(IMAGE, outcome.url, outcome.final, rules[outcome.url], statements, hops)

    def _add(self, kind: str, url: str, final: str, rule: str, statements: Sequence[Statement], hops: Sequence[str] = ()) -> None:
        answers, digest = self._answers, _digest(kind, url)
        if rule not in DECIDED or digest in self._seen:  # what is taken down has its own rule
            return
        self._seen.add(digest)
        entry = answers.store.get(final) or answers.store.get(url)
        common = {"kind": kind, "address": url, "final": final, "rule": rule, "hops": hops}
        for each in redact_statements(statements, answers.taken) or [Statement("", "", "")]:
            raw = each.text.encode("utf-8", "replace")
            stated = {"signal": each.signal, "place": each.place, "statement": raw.decode()}
            said = {"digest": sha256_bytes(raw) if each.signal else "", "time": entry.fetched if entry is not None else ""}
            self._rows.append({**common, **stated, **said})
        if len(self._rows) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._batches.append(pa.RecordBatch.from_pylist(self._rows, schema=SCHEMA.remove(len(SCHEMA) - 1)))
        self._rows.clear()

    def write(self, path: Path) -> None:
        """Write the ledger, with what hosts state at its end: each robots.txt, tdmrep.json and licence, with its HTTP status."""
        signals = {"/robots.txt": "robots.txt", TDMREP_PATH: "tdmrep.json"}
        for entry in self._answers.store:
            if signal := signals.get(urlsplit(entry.url).path) or (RSL if entry.url in self._answers.licence_urls else ""):
                with suppress(NotFetched):  # a redirect that was followed for no item
                    status, body = self._answers.well_known(entry.url)
                    most = LONGEST + 1 if signal == RSL else MAX_BYTES  # as much as decides; a longer licence stays too long
                    text = decode_text(body[:most], "replace") if 200 <= status < 300 else ""
                    self._add(HOST, entry.url, entry.url, "", [Statement(signal, str(status), text)])
        self._flush()

        def fill(temporary: Path) -> None:
            with pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as writer:
                for batch in self._batches:
                    items = zip(batch["kind"].to_pylist(), batch["address"].to_pylist(), strict=True)
                    pages = [self._pages.get(_digest(*item), []) for item in items]  # later chunks may show an earlier image
                    writer.write_batch(batch.append_column("pages", pa.array(pages, pa.list_(pa.string()))))

        publish(path, fill)


def _digest(kind: str, url: str) -> bytes:
    return hashlib.blake2b(f"{kind}\n{url}".encode(), digest_size=8).digest()
