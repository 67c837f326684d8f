"""The drawing of the pipeline stays legible: no node covers another, and arrows within a lane lead to the right."""

from __future__ import annotations

import re
from pathlib import Path

from components.app.drawing import GAP_X, HEIGHT, LINE, MARGIN, WIDTH, draw
from components.core.graph import load_graph
from tests.support.app.project import new_project
from tests.support.settings_files import edit_settings

OWN = ("mine", "holidays", "museum")


def test_eleven_datasets_have_a_lane_each_whose_arrows_lead_right_and_no_node_covers_another(tmp_path: Path) -> None:
    root = new_project(tmp_path)

    def add(content: dict) -> None:
        for name in OWN:
            content["chain"]["crawl"][name] = {}
            content["chain"]["split"][name] = {"input": f"{name}/crawl", "ratings": "none"}
            content["chain"]["extract_features"][name] = {"input": f"{name}/split", "media": f"{name}/crawl"}

    edit_settings(root, add)
    graph = load_graph(root)
    drawing = draw(graph)
    assert len(drawing.lanes) == 11
    places = {(node.x, node.y) for node in drawing.nodes}
    assert len(places) == len(drawing.nodes) == sum(1 for _ in graph.outputs())
    assert all(abs(x - a) >= WIDTH or abs(y - b) >= HEIGHT for x, y in places for a, b in places if (x, y) != (a, b))
    ends = [[int(number) for number in re.findall(r"-?[0-9]+", arrow)] for arrow in drawing.edges]
    assert all(x2 - x1 == GAP_X for x1, *_, x2, _ in ends), "they pass between two columns, behind no node"
    assert {(x, y) for *_, x, y in ends} == {(x, y + HEIGHT // 2) for x, y in places if x > MARGIN}, "one leads to each node"
    arrows = [arrow for node in drawing.nodes for arrow in node.arrows]
    assert len(arrows) == 2 * sum(map(len, graph.reads.values())) and set(drawing.edges) <= set(arrows)
    assert max(x + WIDTH for x, _ in places) < 1100, "english, the longest lane, has ten columns"


def test_a_label_is_in_two_lines_at_most_that_fit_its_node(tmp_path: Path) -> None:
    for node in draw(load_graph(new_project(tmp_path))).nodes:
        assert "".join(node.label) in node.name and len(node.label) <= 2 and max(map(len, node.label)) <= LINE
