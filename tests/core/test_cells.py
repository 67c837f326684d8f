"""The cells of a matrix are datasets of their own, with the settings of their set and of their network."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest

from components.core.addresses import draft_path, parse_output_name, parse_output_path, stage_address
from components.core.errors import HearsightError
from components.core.graph import Graph

PARAMS = {
    "captioners": {"sets": ["english", "posts"], "tests": ["coco"], "networks": ["rnn", "t2t"]},
    "chain": {
        "extract_features": {
            "english": {"input": "english/split"},
            "posts": {"input": "posts/split"},
            "coco": {"input": "coco/split"},
        },
        "evaluate_captioners": {"captioners": {"captioners": "captioners/cells"}},
    },
    "english": {"train_captioner": {"training": {"seeds": [0]}, "networks": {"rnn": {"width": 8}, "t2t": {"width": 16}}}},
    "posts": {"train_captioner": {"training": {"seeds": [1]}, "networks": {"rnn": {"width": 4}}}},
}
CELLS = [f"captioners/cells/{name}" for name in ("english-rnn", "english-t2t", "posts-rnn", "posts-t2t")]


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return Graph(tmp_path, ["extract_features", "train_captioner", "evaluate_captioners"], deepcopy(PARAMS))


def test_every_network_on_every_set_is_a_dataset_that_reads_its_set(graph: Graph) -> None:
    assert list(graph.chain["train_captioner"]) == CELLS
    assert graph.inputs("train_captioner", CELLS[2]) == {"input": graph.root / "data" / "posts" / "extract_features"}


def test_a_stage_after_the_matrix_reads_every_cell_by_its_name(graph: Graph) -> None:
    inputs = graph.inputs("evaluate_captioners", "captioners")
    assert list(inputs) == ["english", "posts", "coco", "english-rnn", "english-t2t", "posts-rnn", "posts-t2t"]
    assert inputs["posts"] == graph.output("extract_features", "posts")
    assert inputs["coco"] == graph.output("extract_features", "coco")
    assert inputs["posts-t2t"] == graph.output("train_captioner", CELLS[3])


def test_a_cell_has_the_settings_of_its_set_and_its_network(graph: Graph) -> None:
    content, dataset = graph.block("train_captioner", CELLS[1])
    assert content[dataset]["train_captioner"] == {"training": {"seeds": [0]}, "name": "t2t", "network": {"width": 16}}


def test_the_stage_of_a_set_names_the_cells_to_choose_from(graph: Graph) -> None:
    with pytest.raises(HearsightError, match=f"for each network on 'posts' — name one of {CELLS[2]}, {CELLS[3]}"):
        graph.require("train_captioner", "posts")


def test_a_network_without_settings_gives_a_one_line_error(graph: Graph) -> None:
    with pytest.raises(HearsightError, match=r"posts.train_captioner.networks: network .t2t. has no settings — known are: rnn"):
        graph.block("train_captioner", CELLS[3])


def test_settings_of_other_datasets_are_read_without_validation(graph: Graph) -> None:
    assert graph.block("extract_features", "english") == (graph.params, "english")


def test_an_input_set_to_none_is_left_out(tmp_path: Path) -> None:
    chain = {"report": {"english": {"input": "english/split", "evaluate_speech": "none"}}, "split": {"english": {}}}
    graph = Graph(tmp_path, ["split", "report"], {"chain": chain})
    assert list(graph.inputs("report", "english")) == ["input"]


@pytest.mark.parametrize(
    ("folder", "name", "made_by"),
    [
        ("data/english/split", "english/split", "split@english"),
        ("data/captioners/evaluate_captioners", "captioners/evaluate_captioners", "evaluate_captioners@captioners"),
        ("data/captioners/cells/a-b/train_captioner", "captioners/cells/a-b/train_captioner", "train_captioner@a-b"),
    ],
)
def test_an_output_and_its_draft_are_named_by_their_paths(folder: str, name: str, made_by: str) -> None:
    dataset, stage = parse_output_path(path := Path("/anywhere") / folder)
    assert f"{dataset}/{stage}" == name and parse_output_name(name) == (dataset, stage)
    assert parse_output_path(draft_path(path)) == (dataset, stage)
    assert stage_address(dataset, stage) == made_by
