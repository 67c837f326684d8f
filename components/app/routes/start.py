"""The start page, and the pages that stages wrote."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, Request
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response

from components.app import files
from components.app.access import require_owner
from components.app.drawing import HEIGHT, WIDTH, draw, lane_of
from components.app.figures import figures
from components.app.pages import render_page
from components.core.addresses import docs_folder, stage_address
from components.core.graph import Graph
from components.tracking.states import CHANGED, FAILED, NOT_RUN, STATES, UP_TO_DATE, WARNINGS, OutputState, output_states

router = APIRouter(dependencies=[Depends(require_owner)])
SYMBOLS = {UP_TO_DATE: "✓", WARNINGS: "!", CHANGED: "↻", FAILED: "✗", NOT_RUN: "○"}
"""State → a symbol beside its name, so that colour is not needed."""
TYPES = {".flac": "audio/flac", ".csv": "text/csv", ".txt": "text/plain", ".md": "text/plain"}
"""Media types that Python's table lacks or that a browser would save instead of show."""


@dataclass(frozen=True)
class Link:
    """A page: its name, and where it is."""

    text: str
    address: str


@dataclass(frozen=True)
class Row:
    """An output on the start page."""

    about: OutputState
    pages: list[Link]
    docs: str
    """The address of its Data Docs; empty without a check."""
    reads: list[str]
    """The outputs that its stage reads, those of its own dataset without the dataset."""

    @property
    def target(self) -> str:
        """Where its node leads: its page, or its Data Docs."""
        return self.pages[0].address if self.pages else self.docs


@router.get("/")
def start(request: Request) -> Response:
    """Show the pipeline with the state of each output, the last results, what checks found, and links to every page."""
    graph: Graph = request.app.state.services.graph
    states = output_states(graph)
    reads = graph.reads
    rows = {name: _row(graph, state, reads[name]) for name, state in states.items()}
    groups: dict[str, list[Row]] = {}
    for name, row in rows.items():
        groups.setdefault(lane_of(name), []).append(row)
    started = any(state.state != NOT_RUN for state in states.values())
    return render_page(
        request,
        "start.html",
        drawing=draw(graph),
        size=(WIDTH, HEIGHT),
        rows=rows,
        groups={name: (group, _counts(group)) for name, group in groups.items()},
        started=started,
        found=[row for row in rows.values() if row.about.failures or row.about.warnings],
        docs_of=lambda state, table: _docs(graph, state.dataset, state.stage, f"{table}.html"),
        address=lambda page: files.address(graph.root, page),
        results=figures(graph, states),
        reports=[_link(graph.root, page) for page in files.report_pages(graph.root)],
        repeat=[stage_address(each.dataset, each.stage) for each in states.values() if each.state in (CHANGED, FAILED, NOT_RUN)],
        symbols=SYMBOLS,
        links=request.app.state.settings.links,
    )


@router.api_route("/files/{path:path}", methods=["GET", "HEAD"])
def file(request: Request, path: str) -> Response:
    """Send a page of a stage or of ``reports``, or a file beside it."""
    found = files.served_file(request.app.state.services.graph, path)
    if found is None:
        raise HTTPException(404, "there is no such page")
    kind = TYPES.get(found.suffix) or mimetypes.guess_type(found.name)[0] or "application/octet-stream"
    return FileResponse(found, media_type=kind)


def _row(graph: Graph, state: OutputState, reads: list[str]) -> Row:
    folder = graph.output(state.stage, state.dataset)
    pages = [_link(graph.root, page) for page in files.output_pages(folder)]
    shown = [name.removeprefix(f"{lane_of(state.dataset)}/") for name in reads]
    return Row(state, pages, _docs(graph, state.dataset, state.stage, "index.html"), shown)


def _link(root: Path, page: Path) -> Link:
    return Link(files.title(page) or page.relative_to(root).as_posix(), files.address(root, page))


def _docs(graph: Graph, dataset: str, stage: str, name: str) -> str:
    page = docs_folder(graph.root, dataset, stage) / name
    return files.address(graph.root, page) if page.is_file() else ""


def _counts(group: list[Row]) -> list[tuple[str, int]]:
    """Return how many outputs are in each state, the worst first."""
    states: list[Any] = [row.about.state for row in group]
    return [(state, states.count(state)) for state in reversed(STATES) if state in states]
