"""The files that the application serves below ``/files``: the stages' pages with their images and sounds, and ``reports``."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import quote

from fastapi import Request
from starlette.responses import Response

from components.core.graph import Graph

CACHED = "private, max-age=86400, immutable"
"""For addresses that name their content."""
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def media_response(request: Request, data: bytes, media_type: str) -> Response:
    """Return the bytes, or the range of them that the request asks for (some players refuse servers without ranges)."""
    headers = {"cache-control": CACHED, "accept-ranges": "bytes"}
    found = _RANGE.fullmatch(request.headers.get("range", ""))
    if found is None or found[0] == "bytes=-":
        return Response(data, media_type=media_type, headers=headers)
    first, last = found[1], found[2]
    start = int(first) if first else max(0, len(data) - int(last))
    end = min(int(last), len(data) - 1) if first and last else len(data) - 1
    if start > end:
        return Response(status_code=416, headers={"content-range": f"bytes */{len(data)}"})
    headers["content-range"] = f"bytes {start}-{end}/{len(data)}"
    return Response(data[start : end + 1], 206, media_type=media_type, headers=headers)


TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL | re.IGNORECASE)
HEAD = 4096
"""Bytes of a page that are searched for its title."""


def output_pages(folder: Path) -> list[Path]:
    """Return the HTML pages of an output."""
    return sorted(folder.glob("*.html"))


def report_pages(root: Path) -> list[Path]:
    """Return the pages of ``reports`` that are no Data Docs."""
    return [path for path in sorted(root.glob("reports/*/index.html")) if path.parent.name != "data_docs"]


def served_file(graph: Graph, path: str) -> Path | None:
    """Return the file of a URL's path; None if there is none, or it is outside the served folders."""
    folders = [graph.root / "reports", *(folder for _, _, folder in graph.outputs() if output_pages(folder))]
    try:
        file = (graph.root / path).resolve()
        if file.is_file() and any(file.is_relative_to(folder.resolve()) for folder in folders):
            return file
    except (OSError, ValueError):  # too long, or with a NUL
        pass
    return None


def address(root: Path, file: Path) -> str:
    """Return the URL of a served file."""
    return f"/files/{quote(file.relative_to(root).as_posix())}"


def title(page: Path) -> str:
    """Return a page's title; empty if it has none."""
    with page.open("rb") as handle:
        match = TITLE.search(handle.read(HEAD).decode("utf-8", "replace"))
    return html.unescape(" ".join(match[1].split())) if match else ""
