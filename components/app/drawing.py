"""The pipeline as a drawing: a lane for each dataset, an output for each stage, and arrows from what a stage reads.

An output is to the right of everything that it reads in its lane. Arrows to the next column of a lane are always shown: they pass
between the outputs. All arrows of an output, also to other lanes, belong to its node, and are shown with one node at a time. The
cells of a matrix share the lane of the matrix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from components.core.addresses import CELLS
from components.core.graph import Graph

WIDTH, HEIGHT = 96, 50
"""Of a node, in px: ten columns, the longest chain of the sample, fit a page."""
GAP_X, GAP_Y, HEAD, MARGIN = 14, 8, 26, 4
"""Between nodes, above the nodes of a lane, and around the drawing."""
LINE = 13
"""Characters of a line of a label."""


@dataclass(frozen=True)
class Node:
    """An output and its place: the left upper corner."""

    name: str
    label: list[str]
    """One or two lines."""
    x: int
    y: int
    arrows: list[str] = field(default_factory=list)
    """All arrows from and to it, each as the attribute ``d`` of an SVG path."""


@dataclass(frozen=True)
class Drawing:
    """The drawing of a graph."""

    width: int
    height: int
    lanes: list[tuple[str, int]]
    """Dataset and upper edge of each lane."""
    nodes: list[Node]
    edges: list[str]
    """Arrows to the next column of a lane, each as the attribute ``d`` of an SVG path."""


def draw(graph: Graph) -> Drawing:
    """Return the drawing of a project's pipeline."""
    reads = graph.reads
    columns = _columns(reads)
    lanes, nodes, y = [], {}, MARGIN
    by_lane: dict[str, list[str]] = {}
    for stage, dataset, _ in graph.outputs():
        by_lane.setdefault(lane_of(dataset), []).append(f"{dataset}/{stage}")
    for lane, names in by_lane.items():
        lanes.append((lane, y))
        rows: dict[int, int] = {}
        for name in names:
            column = columns[name]
            rows[column] = rows.get(column, 0) + 1
            top = y + HEAD + (rows[column] - 1) * (HEIGHT + GAP_Y)
            nodes[name] = Node(name, _label(name), MARGIN + column * (WIDTH + GAP_X), top)
        y += HEAD + max(rows.values()) * (HEIGHT + GAP_Y) + GAP_Y
    edges = []
    for name, sources in reads.items():
        for source in filter(nodes.__contains__, sources):
            arrow = _arrow(nodes[source], nodes[name])
            nodes[source].arrows.append(arrow)
            nodes[name].arrows.append(arrow)
            if lane_of(source) == lane_of(name) and columns[name] == columns[source] + 1:
                edges.append(arrow)
    width = 2 * MARGIN + (max(columns.values(), default=0) + 1) * (WIDTH + GAP_X) - GAP_X
    return Drawing(width, y, lanes, list(nodes.values()), edges)


def lane_of(name: str) -> str:
    """Return the lane of an output or dataset."""
    return name.partition("/")[0]


def _columns(reads: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Return the column of each output: the length of the longest way to it in its lane; ``reads`` has sources first."""
    columns: dict[str, int] = {}
    for name, sources in reads.items():
        before = [columns[source] for source in sources if source in columns and lane_of(source) == lane_of(name)]
        columns[name] = 1 + max(before, default=-1)
    return columns


def _label(name: str) -> list[str]:
    """Return the stage in one or two lines; of a cell, the cell, which has one stage."""
    parts = name.split("/")
    label = parts[-2] if CELLS in parts else parts[-1]
    if len(label) <= LINE:
        return [label]
    first = re.match(rf".{{1,{LINE - 1}}}[-_]|.{{{LINE}}}", label)
    assert first is not None, "the label is longer than a line"
    return [first[0], label[first.end() :]]


def _arrow(source: Node, target: Node) -> str:
    x1, y1, x2, y2 = source.x + WIDTH, source.y + HEIGHT // 2, target.x, target.y + HEIGHT // 2
    bend = max(GAP_X, (x2 - x1) // 3)
    dip = HEIGHT if y1 == y2 and x2 - x1 > GAP_X else 0  # below the nodes of its row, not through them
    return f"M{x1} {y1}C{x1 + bend} {y1 + dip} {x2 - bend} {y2 + dip} {x2} {y2}"
