"""The history of a record, read from the ledgers: every stage it entered, what the stage decided, and why.

Records are looked up by key, text, page URL, or image (URL, sha256 or file). Not in scope: the values of rules that a record
passed, which are in no ledger (see ``components.stages.filter.measured_values``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.stage_output import StageOutput
from components.tracking.history import Event, RecordHistory, setting_of
from components.tracking.listings import RECORDS, TEXTS, finished_outputs, verdict_in_words

URL_COLUMNS = ("page_url", "image_url")
TEXT_COLUMNS = ("alt", "text", "caption", "split", "group", "voice", "output")
MOST = 50
"""Records shown at most; a page can hold thousands, and a text be in as many."""
_KEY = re.compile("[0-9a-f]{1,16}")
_DIGEST = re.compile("[0-9a-f]{17,64}")
"""The sha256 of an image, or its beginning, longer than any key."""


def explain(graph: Graph, what: str, dataset: str = "", report: Callable[[str], object] = lambda _: None) -> list[RecordHistory]:
    """Return the history of every record that ``what`` names, of the first :data:`MOST` if it names more.

    Args:
        graph: the project's stages and chain.
        what: a key, the beginning of one (at least six digits), a page's or image's address, an image's path in a
            table, its sha256 or the prefix of it (more than 16 digits), or an image file, which is looked up by its sha256;
            an alt-text or caption, or a part of one where no whole text is equal; case and white space are ignored.
        dataset: only this one's stages; '' for all.
        report: receives a line on how many records are not shown.

    Raises:
        HearsightError: no finished stage has a row for it, or there is no such dataset.
    """
    digest = _digest_of(what)
    histories, more = _collect(graph, dataset, partial(_rows_named, what, digest))
    if not histories and not digest:
        for keys in _keys_of_text(graph, what):
            if not histories:
                histories, more = _collect(graph, dataset, partial(_rows_with_keys, _strings(keys)))
    if not histories and digest:
        raise HearsightError(
            f"no record has an image with the sha256 {digest}",
            where=graph.root / "data",
            hint="give its URL: an image that the crawl dropped is recorded only by URL",
        )
    if not histories:
        raise HearsightError(
            f"no finished stage has a record of '{what}'",
            where=graph.root / "data",
            hint="give a key of a ledger, a text, an address that was crawled, or an image's file or sha256",
        )
    if more:
        report(
            f"{len(histories)} of {len(histories) + len(more)} records shown: name one by its key or by its page's or image's "
            "address, or one dataset by --dataset ('hearsight explain --kept' and '--rule RULE' list keys)"
        )
    return list(histories.values())


def _collect(
    graph: Graph, dataset: str, choose: Callable[[StageOutput, pa.Table], Any]
) -> tuple[dict[str, RecordHistory], set[str]]:
    """Return key → history of the records that ``choose`` selects, and the keys of those beyond :data:`MOST`.

    Args:
        choose: returns a mask of an output's ledger. Records that were selected in an earlier output are followed by their key.
    """
    histories: dict[str, RecordHistory] = {}
    more: set[str] = set()
    for stage_output in finished_outputs(graph, dataset):
        ledger = stage_output.ledger()
        known = pc.is_in(ledger["key"], value_set=_strings(list(histories)))
        rows = ledger.filter(pc.or_(choose(stage_output, ledger), known)).to_pylist()
        for row in rows:
            if row["key"] not in histories and len(histories) < MOST:
                histories[row["key"]] = RecordHistory(row["key"], row["kind"])
        more.update(row["key"] for row in rows if row["key"] not in histories)
        rows = [row for row in rows if row["key"] in histories]
        facts = _facts(stage_output, {row["key"] for row in rows})
        for row in rows:
            histories[row["key"]].events.append(
                Event(
                    output=stage_output.name,
                    verdict=verdict_in_words(row["verdict"], row["rule"]),
                    rule=row["rule"],
                    value=row["value"],
                    threshold=row["threshold"],
                    detail=row["detail"],
                    facts=facts.get(row["key"], {}),
                    setting=setting_of(stage_output.name, row["rule"]),
                )
            )
    return histories, more


def _rows_named(what: str, digest: str, stage_output: StageOutput, ledger: pa.Table) -> Any:
    """Return the mask of ledger rows of an image's digest, an address or a key; see :func:`explain`."""
    keys = ledger["key"]
    if digest:
        return pc.is_in(keys, value_set=_keys_of_image(stage_output, digest))
    # No key has a dot or a slash: that is the path of an image as a table writes it.
    if "://" in what or what.startswith("file:") or re.search(r"[./]", what):
        address = what if "://" in what or what.startswith("file:") else f"file:{quote(what, safe='/-._~')}"
        named = pc.is_in(keys, value_set=pc.unique(_keys_of_url(stage_output, address)))
        # The ledger also holds addresses of what never became a record, in its details among other words.
        whole = rf"(^|\s){re.escape(address)}(\s|$)"
        return pc.or_(named, pc.or_(pc.equal(keys, what), pc.match_substring_regex(ledger["detail"], whole)))
    return pc.starts_with(keys, what) if len(what) >= 6 else pc.equal(keys, what)


def _rows_with_keys(keys: Any, stage_output: StageOutput, ledger: pa.Table) -> Any:
    return pc.is_in(ledger["key"], value_set=keys)


def _strings(values: list[str]) -> Any:
    return pa.array(values, pa.string())


def _digest_of(what: str) -> str:
    """Return the sha256 (or a prefix of it) of the image that ``what`` identifies; '' for anything else."""
    if _DIGEST.fullmatch(what.lower()):
        return what.lower()
    if _KEY.fullmatch(what) or "://" in what:
        return ""
    # os.path.isfile answers False where Path.is_file raises: for a name that is too long.
    return sha256_file(Path(what)) if os.path.isfile(what) else ""  # noqa: PTH113


def _keys_of_image(stage_output: StageOutput, digest: str) -> Any:
    if stage_output.manifest.record not in RECORDS:
        return _strings([])
    table = stage_output.table(["key", "image_sha256"])
    return table.filter(pc.starts_with(table["image_sha256"], digest))["key"].combine_chunks()


def _keys_of_url(stage_output: StageOutput, url: str) -> Any:
    found: list[str] = []
    if stage_output.manifest.record in RECORDS:
        table = stage_output.table(["key", *URL_COLUMNS])
        for column in URL_COLUMNS:
            found += table.filter(pc.equal(table[column], url))["key"].to_pylist()
    return _strings(found)


def _keys_of_text(graph: Graph, text: str) -> tuple[list[str], list[str]]:
    """Return the keys of records whose alt-text or caption equals ``text``, and of those where it contains ``text``."""
    wanted = " ".join(text.lower().split())
    equal, containing = set[str](), set[str]()
    for stage_output in finished_outputs(graph):  # also other datasets: a stage's records may be of another one's crawl
        if not wanted or stage_output.manifest.record not in RECORDS:
            continue
        table = stage_output.table()
        for column in (name for name in TEXTS if name in table.column_names):
            for key, value in zip(table["key"].to_pylist(), table[column].to_pylist(), strict=True):
                written = " ".join(value.lower().split())
                if wanted in written:
                    (equal if written == wanted else containing).add(key)
    return sorted(equal), sorted(containing)


def _facts(stage_output: StageOutput, keys: set[str]) -> dict[str, dict[str, Any]]:
    """Return key → the columns to show of a kept record, with its rewriting steps if there are any."""
    if not keys or not stage_output.shards:
        return {}
    table = stage_output.table()
    if "key" not in table.column_names:
        return {}
    rows = table.filter(pc.is_in(table["key"], value_set=_strings(sorted(keys)))).to_pylist()
    facts_by_key: dict[str, dict[str, Any]] = {}
    for row in rows:
        facts = {name: row[name] for name in (*URL_COLUMNS, *TEXT_COLUMNS) if row.get(name)}
        for step in row.get("steps") or []:
            facts.setdefault("steps", []).append(f"{step['step']}: {step['before']!r} → {step['after']!r} ({step['reason']})")
        facts_by_key[row["key"]] = facts
    return facts_by_key
