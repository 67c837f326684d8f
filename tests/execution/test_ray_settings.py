"""The Ray engine's settings and addresses, checked without a cluster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.params import read_params_file
from components.execution import process
from components.execution.engine import LocalEngine
from components.execution.ray_engine import RayEngine
from components.execution.runner import make_engine
from tests.support import PROJECT
from tests.support.execution.ray_support import free_port, refusal


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nonsense", "not an address"),
        ("http://127.0.0.1:1", "not an address"),
        ("127.0.0.1:99999999", "not an address"),
        ("127.0.0.1:{port}", "nothing answers"),
        ("ray://127.0.0.1:{port}", "nothing answers"),
    ],
)
def test_an_address_without_a_cluster_gives_a_one_line_error(tmp_path, address, message):
    assert message in refusal(RayEngine(address.format(port=free_port())), tmp_path / "lock", [tmp_path])


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"kind": "ray", "workers": 0, "address": "auto", "cpus": 0.0}, r"engine\.cpus: 0\.0 is too small — give more than 0"),
        ({"kind": "ray", "workers": -1, "address": "auto", "cpus": 1.0}, r"engine\.workers: -1 is too small"),
        ({"kind": "local", "workers": 0, "address": "auto"}, r"engine\.address: is not a setting"),
        ({"kind": "spark", "workers": 0}, r"engine\.kind: input should be 'local' or 'ray', not 'spark'"),
        (None, "engine: should hold settings"),
    ],
)
def test_invalid_engine_settings_give_a_one_line_error(block, message):
    with pytest.raises(HearsightError, match=message):
        make_engine(Path("params.yaml"), {"engine": block})


def test_settings_choose_the_engine():
    engine = make_engine(Path("p"), {"engine": {"kind": "ray", "workers": 3, "address": "ray://h:1", "cpus": 2}})
    assert isinstance(engine, RayEngine) and (engine.address, engine.workers, engine.cpus) == ("ray://h:1", 3, 2)
    shown = read_params_file(PROJECT / "params.yaml")
    assert isinstance(make_engine(Path("p"), shown), LocalEngine)


def test_ray_is_imported_only_when_a_run_takes_it():
    modules = "components.cli.main, components.execution.runner, components.execution.ray_engine"
    code = f"import sys, {modules}; print('ray' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True, cwd=PROJECT) == "False\n"


def test_a_missing_ray_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    line = refusal(RayEngine("auto"), tmp_path / "lock", [tmp_path])
    assert line.endswith("ray is not installed — pip install --editable '.[ray]'")


def test_the_lock_timeout_is_longer_than_rays_reconnect_time():
    from components.execution.ray_cluster import RECONNECT

    assert float(RECONNECT) < process.LOCK_PATIENCE
