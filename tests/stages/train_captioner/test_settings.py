"""A captioner is a line in the table of networks; a class of settings that names it gives its defaults."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import parse_settings
from components.execution.runner import stage_settings
from components.models.captioners import NETWORKS
from components.stages.train_captioner import CELLS, AoANetSettings, NetworkSettings, Params, RecurrentSettings
from components.stages.train_captioner.run import run
from tests.support import make_stage
from tests.support.settings_files import copy_settings


@pytest.mark.parametrize("network", NETWORKS)
def test_a_network_has_the_defaults_of_the_class_that_names_it(network: str) -> None:
    kinds = {"rnn1x1": RecurrentSettings, "rnn8x8": RecurrentSettings, "aoanet": AoANetSettings}
    read = parse_settings(Params, {"name": network, "network": {"epochs": 7}}, "params.yaml: english.train_captioner")
    assert isinstance(read, Params)
    assert read.network == kinds.get(network, NetworkSettings)(epochs=7) and type(read.network) is kinds.get(
        network, NetworkSettings
    )


def test_settings_name_networks_of_the_table_only() -> None:
    assert set(CELLS) <= set(NETWORKS)


def test_a_network_that_is_not_in_the_table_is_one_line_that_says_how_to_add_it(tmp_path: Path) -> None:
    with pytest.raises(HearsightError) as error:
        run(make_stage(tmp_path, "train_captioner", params=Params(name="mine")))
    said = str(error.value)
    known = ", ".join(NETWORKS)
    assert said.startswith(f"datasets/captioners.yaml: networks: 'mine' is not a captioning network — choose one of {known}")
    assert "\n" not in said and said.endswith("or add a line to NETWORKS of components/models/captioners/__init__.py")


@pytest.mark.parametrize(("value", "said"), [("0", "epochs: 0 is too small"), ("many", "epochs: input should be")])
def test_an_error_names_the_setting_as_the_file_does(tmp_path: Path, value: str, said: str) -> None:
    copy_settings(tmp_path)
    path = tmp_path / "datasets" / "captioners.yaml"
    changed, times = re.subn(r"epochs: \d+", f"epochs: {value}", path.read_text(encoding="utf-8"), count=1)
    assert times == 1
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(HearsightError) as error:
        stage_settings(load_graph(tmp_path), "train_captioner", "captioners/cells/english-rnn1x1")
    assert f"datasets/english.yaml: train_captioner.networks.rnn1x1.{said}" in str(error.value)
