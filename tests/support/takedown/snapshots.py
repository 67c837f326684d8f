"""Snapshots of fetched pages."""

from __future__ import annotations

from pathlib import Path

from components.web.store import FetchStore
from components.web.warc import Entry

PAGE = b"<html><p>a page</p></html>"


def crawled(folder: Path, *hosts: str) -> str:
    with FetchStore(folder, writer=True) as store:
        for host in hosts:
            store.add(Entry(f"http://{host}/", 200, type="text/html"), PAGE + host.encode())
        return store.finish({"web": "open"})
