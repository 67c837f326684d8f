"""Snapshots of fetched pages."""

from __future__ import annotations

from pathlib import Path

from components.core.addresses import output_root
from components.core.stored_files import store_of
from components.web.store import FetchStore
from components.web.stored_snapshots import fetch_snapshot, keep_snapshot
from components.web.warc import Entry

PAGE = b"<html><p>a page</p></html>"


def keep(folder: Path) -> None:
    keep_snapshot(folder, store_of(output_root(folder)))


def fetch(folder: Path) -> None:
    fetch_snapshot(folder, store_of(output_root(folder)))


def crawled(folder: Path, *hosts: str) -> str:
    with FetchStore(folder, writer=True) as store:
        for host in hosts:
            store.add(Entry(f"http://{host}/", 200, type="text/html"), PAGE + host.encode())
        return store.finish({"web": "open"})
