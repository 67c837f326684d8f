"""The pipeline as a drawing: a lane for each dataset, an output for each stage, and arrows from what a stage reads.

An output is to the right of everything that it reads. The cells of a matrix share the lane of the matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from components.core.addresses import CELLS
from components.core.graph import Graph

WIDTH, HEIGHT = 146, 42
"""Of a node, in px."""
GAP_X, GAP_Y, HEAD, MARGIN = 18, 8, 26, 4
"""Between nodes, above the nodes of a lane, and around the drawing."""


@dataclass(frozen=True)
class Node:
    """An output and its place: the left upper corner."""

    name: str
    label: str
    x: int
    y: int


@dataclass(frozen=True)
class Edge:
    """An arrow from an output to a stage that reads it."""

    path: str
    """As in the attribute ``d`` of an SVG path."""
    crosses: bool
    """Whether it leads to another lane."""


@dataclass(frozen=True)
class Drawing:
    """The drawing of a graph."""

    width: int
    height: int
    lanes: list[tuple[str, int]]
    """Dataset and upper edge of each lane."""
    nodes: list[Node]
    edges: list[Edge]


def draw(graph: Graph) -> Drawing:
    """Return the drawing of a project's pipeline."""
    reads = {f"{dataset}/{stage}": _read_by(graph, stage, dataset) for stage, dataset, _ in graph.outputs()}
    columns = _columns(reads)
    lanes, nodes, y = [], {}, MARGIN
    by_lane: dict[str, list[str]] = {}
    for name in reads:
        by_lane.setdefault(name.partition("/")[0], []).append(name)
    for lane, names in by_lane.items():
        lanes.append((lane, y))
        rows: dict[int, int] = {}
        for name in names:
            column = columns[name]
            rows[column] = rows.get(column, 0) + 1
            top = y + HEAD + (rows[column] - 1) * (HEIGHT + GAP_Y)
            nodes[name] = Node(name, _label(name), MARGIN + column * (WIDTH + GAP_X), top)
        y += HEAD + max(rows.values()) * (HEIGHT + GAP_Y) + GAP_Y
    edges = [_edge(nodes[source], nodes[name]) for name in reads for source in reads[name] if source in nodes]
    width = 2 * MARGIN + (max(columns.values(), default=0) + 1) * (WIDTH + GAP_X) - GAP_X
    return Drawing(width, y, lanes, list(nodes.values()), edges)


def _read_by(graph: Graph, stage: str, dataset: str) -> list[str]:
    data = graph.root / "data"
    return [path.relative_to(data).as_posix() for path in graph.inputs(stage, dataset).values()]


def _columns(reads: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Return the column of each output: the length of the longest way to it. An output that reads itself counts once."""
    columns: dict[str, int] = {}

    def column(name: str, above: tuple[str, ...]) -> int:
        if name not in columns:
            known = [source for source in reads[name] if source in reads and source not in (*above, name)]
            columns[name] = 1 + max((column(source, (*above, name)) for source in known), default=-1)
        return columns[name]

    for name in reads:
        column(name, ())
    return columns


def _label(name: str) -> str:
    """Return the stage; of a cell, the cell, which has one stage."""
    parts = name.split("/")
    return parts[-2] if CELLS in parts else parts[-1]


def _edge(source: Node, target: Node) -> Edge:
    x1, y1, x2, y2 = source.x + WIDTH, source.y + HEIGHT // 2, target.x, target.y + HEIGHT // 2
    bend = max(GAP_X, (x2 - x1) // 3)
    crosses = source.name.partition("/")[0] != target.name.partition("/")[0]
    return Edge(f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}", crosses)
