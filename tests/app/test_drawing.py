"""The drawing of the pipeline stays legible: no node covers another, and arrows within a lane lead to the right."""

from __future__ import annotations

import re
from pathlib import Path

from components.app.drawing import HEIGHT, WIDTH, draw, lane_of
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
    for arrow in drawing.edges:
        numbers = [int(number) for number in re.findall(r"-?[0-9]+", arrow)]
        assert numbers[0] < numbers[-2]
    crossing = [arrow for node in drawing.nodes for arrow in node.crossing]
    between = [1 for name, sources in graph.reads.items() for source in sources if lane_of(source) != lane_of(name)]
    assert len(crossing) == 2 * len(between) and len(drawing.edges) == sum(map(len, graph.reads.values())) - len(between)
    assert max(x + WIDTH for x, _ in places) < 1700, "english, the longest lane, has ten columns"
