"""What infra/ says of clusters agrees with itself, the lock and the settings that docs/cluster.md shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.core.params import parse_settings
from components.execution.runner import RaySettings
from components.training.settings import Hardware
from tests.support import PROJECT

INFRA = PROJECT / "infra"


@pytest.fixture(scope="module")
def manifests() -> list[dict[str, Any]]:
    """The cluster and the job of kuberay.yaml."""
    return list(yaml.safe_load_all((INFRA / "kuberay.yaml").read_text()))


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """The settings that docs/cluster.md shows for several nodes with GPUs."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", (PROJECT / "docs" / "cluster.md").read_text(), re.DOTALL | re.MULTILINE)
    (block,) = [yaml.safe_load(block) for block in blocks if "nodes:" in block]
    return dict(block)


@pytest.fixture(scope="module")
def hardware(example: dict[str, Any]) -> Hardware:
    """The example's hardware, which the settings' class accepts."""
    found = parse_settings(Hardware, example["english"]["train_captioner"]["training"]["hardware"], "docs/cluster.md")
    assert isinstance(found, Hardware)
    return found


@pytest.fixture(scope="module")
def sbatch() -> dict[str, str]:
    """Option of sbatch → value, of slurm.sh."""
    options = re.findall(r"^#SBATCH --([a-z-]+)(?:=(\S+))?$", (INFRA / "slurm.sh").read_text(), re.MULTILINE)
    return dict(options)


def test_no_work_runs_on_the_head_and_all_see_the_project(manifests: list[dict[str, Any]]) -> None:
    cluster, job = manifests
    assert cluster["spec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    groups = [cluster["spec"]["headGroupSpec"], *cluster["spec"]["workerGroupSpecs"], job["spec"]]
    pods = [group["template"]["spec"] for group in groups]
    assert len({str(pod["volumes"]) for pod in pods}) == 1
    assert len({str(container["volumeMounts"]) for pod in pods for container in pod["containers"]}) == 1
    assert f"value': '{cluster['metadata']['name']}-head-svc:6379'" in str(job)


def test_the_gpu_group_is_what_the_settings_ask_for(manifests: list[dict[str, Any]], hardware: Hardware) -> None:
    (gpu,) = [group for group in manifests[0]["spec"]["workerGroupSpecs"] if group["groupName"] == "gpu"]
    (container,) = gpu["template"]["spec"]["containers"]
    assert gpu["replicas"] == hardware.nodes
    assert int(container["resources"]["limits"]["nvidia.com/gpu"]) == hardware.devices
    assert int(container["resources"]["limits"]["cpu"]) >= hardware.devices * hardware.threads


def test_the_allocation_is_what_the_settings_ask_for(sbatch: dict[str, str], hardware: Hardware) -> None:
    assert (int(sbatch["nodes"]), int(sbatch["gpus-per-node"])) == (hardware.nodes, hardware.devices)
    assert int(sbatch["cpus-per-task"]) >= hardware.devices * hardware.threads and sbatch["ntasks-per-node"] == "1"


def test_the_job_is_told_of_its_end_and_may_be_queued_again(sbatch: dict[str, str]) -> None:
    assert re.fullmatch(r"B:USR1@\d+", sbatch["signal"]) and "requeue" in sbatch and sbatch["open-mode"] == "append"


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_script_has_no_error_of_syntax() -> None:
    subprocess.run(["bash", "-n", INFRA / "slurm.sh"], check=True)


def test_the_example_chooses_the_ray_engine(example: dict[str, Any]) -> None:
    assert parse_settings(RaySettings, example["engine"], "docs/cluster.md").model_dump()["kind"] == "ray"


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_images_are_built_from_the_locks_as_make_setup_is(kind: str) -> None:
    content = (INFRA / f"Containerfile.{kind}").read_text().replace("/build/", "")
    setup = "".join((PROJECT / name).read_text() for name in ("Makefile", "infra/install.py")).replace("infra/", "")
    for options in (
        "--require-hashes --requirement uv.lock",
        "--require-hashes --no-deps --requirements requirements.lock",
        "--requirements requirements-torch.lock --constraints requirements.lock",
    ):
        assert options in content and all(word in setup for word in options.split()), options
    assert "--no-deps --requirements requirements.lock" in content and "--constraints requirements-dev.lock" in content
    assert "UV_TORCH_BACKEND=cpu" in content if kind == "cpu" else re.search(r"UV_TORCH_BACKEND=cu\d+", content)
    for line in re.findall(r"^COPY (.+) \S+$", content, re.MULTILINE):
        assert all((PROJECT / name).exists() for name in line.split()), line


def test_both_images_differ_in_the_torch_build_alone() -> None:
    def steps(kind: str) -> list[str]:
        lines = (INFRA / f"Containerfile.{kind}").read_text().splitlines()
        return [line for line in lines if not line.startswith(("#", "ENV UV_TORCH_BACKEND"))]

    assert steps("cpu") == steps("cuda")


def test_the_rays_of_manifest_and_lock_are_one_version(manifests: list[dict[str, Any]]) -> None:
    locked = re.search(r"^ray(?:\[[^]]*\])?==([\d.]+)", (PROJECT / "requirements-dev.lock").read_text(), re.MULTILINE)
    assert locked and manifests[0]["spec"]["rayVersion"] == locked[1]


def test_commands_of_the_manifest_and_script_are_entry_points(manifests: list[dict[str, Any]]) -> None:
    scripts = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["hearsight"] == "components.cli.entry:main"
    for program in ("ray", "dvc", "hearsight"):
        assert Path(shutil.which(program) or "").name == program
    assert "exec dvc repro" in str(manifests[1]) and "set -- dvc repro" in (INFRA / "slurm.sh").read_text()
