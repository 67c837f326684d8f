"""`hearsight doctor` in working and in broken environments."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from components.tools.doctor import machine, material, speech
from components.tools.doctor.checks import CHECKS, examine
from components.tools.doctor.finding import MISSING, OK, WARNING
from flows.settings import ADDRESS
from tests.support import PROJECT
from tests.support.settings_files import copy_settings


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A project as a fresh clone has it, in a path with a space and a letter that is not ASCII."""
    root = tmp_path / "my próject"
    (root / ".dvc").mkdir(parents=True)
    copy_settings(root)
    shutil.copy(PROJECT / ".dvc/config", root / ".dvc/config")
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    return root


def tools(folder: Path, **scripts: str) -> str:
    """A PATH that holds these shell scripts alone."""
    folder.mkdir()
    for name, script in scripts.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    return str(folder)


def test_without_a_terminal_findings_are_json_lines_and_the_exit_code_tells_missing_requirements(
    clone: Path, tmp_path: Path
) -> None:
    path = tools(tmp_path / "bin", git=f'exec {shutil.which("git")} "$@"')  # no apt-get, no compiler
    done = subprocess.run(
        [sys.executable, "-c", "from components.cli.main import main; main()", "doctor"],
        cwd=clone,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(PROJECT), "LANG": "C", "LC_ALL": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(set(line) == {"state", "name", "found", "fix"} for line in lines), done.stderr
    states = {line["name"]: line["state"] for line in lines}
    assert states["git"] == states["python"] == OK
    assert states["apt"] == MISSING and states["sample packages"] == WARNING
    assert done.returncode == 2 and "apt" in done.stderr and len(done.stderr.splitlines()) == 1
    assert all(line["fix"] for line in lines if line["state"] != OK)


def test_fetched_packages_need_no_apt_and_no_network(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = clone / "data/packages"
    for name in material.PACKAGES:
        (home / "unpacked" / name).mkdir(parents=True)
        (home / "unpacked" / name / material.MARK).write_text("digest")
    (home / "checksums.json").write_text(json.dumps({name: {} for name in material.PACKAGES}))
    monkeypatch.setenv("PATH", tools(tmp_path / "bin"))
    states = {finding.name: finding.state for finding in material.packages(clone)}
    assert states == {"dictionary": WARNING, "sample packages": OK, "apt": OK, "network": OK}


def test_an_unreachable_package_server_is_named_with_apts_proxy(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]  # bound and not listening: connections are refused
        uris = f"echo \"'http://archive.invalid:{port}/wordnet.deb' w.deb 1\""
        scripts = {"dpkg": "true", "dpkg_deb": "true", "apt_get": uris}
        proxy = f"echo \"PROXY='http://127.0.0.1:{port}/'\""
        monkeypatch.setenv("PATH", tools(tmp_path / "bin", **scripts, apt_config=proxy))
        last = material.packages(clone)[-1]
        assert (last.state, last.name) == (MISSING, "network") and "127.0.0.1" in last.found
        closed.listen()
        assert material.packages(clone)[-1].state == OK


def test_without_package_lists_only_root_can_continue(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", tools(tmp_path / "bin", dpkg="true", dpkg_deb="true", apt_get="exit 100"))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert [f.fix for f in material.packages(clone) if f.state == MISSING] == ["sudo apt-get update"]
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert not [f for f in material.packages(clone) if f.state == MISSING]


def test_an_engine_that_does_not_load_is_missing_and_says_why(tmp_path: Path) -> None:
    result = speech._probed([("module", "whole", "json"), ("module", "broken", "no_such_library")])
    assert result["whole"] == "" and "no_such_library" in result["broken"]


def test_an_engine_that_ends_its_process_is_reported_and_earlier_results_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "crashing.py").write_text("import os; os.abort()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = speech._probed([("module", "whole", "json"), ("module", "crashes", "crashing")])
    assert result == {"whole": "", "crashes": "the process ended with -6"}


def test_an_unknown_voice_of_the_parameters_is_reported_missing(clone: Path) -> None:
    path = clone / "datasets" / "stamps_synthetic.yaml"
    path.write_text(path.read_text().replace("[nanotts-fr-fr,", "[no-such-voice,"))
    findings = [finding for check in CHECKS if check[0] == "voices" for finding in examine_one(clone, check)]
    assert [f for f in findings if f.state == MISSING and "no-such-voice" in f.found]


def examine_one(root: Path, check: tuple) -> list:
    import components.tools.doctor.checks as checks

    kept = checks.CHECKS
    checks.CHECKS = (check,)
    try:
        return examine(root)
    finally:
        checks.CHECKS = kept


def test_a_port_in_use_is_a_warning_with_a_command_that_takes_another(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(machine, "PORTS", {"mlflow": port})
        (finding,) = machine.ports(clone)
    assert finding.state == WARNING and finding.fix == f"python -m flows.ui --mlflow {port + 1}"


def test_a_missing_name_or_address_of_commits_is_a_warning_whose_commands_set_it(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (finding,) = machine.git_identity(clone)
    assert finding.state == WARNING and finding.found.startswith("user.name and user.email not set: `dvc exp run` ")
    subprocess.run(["sh", "-c", finding.fix.partition(" && ")[0]], check=True)
    (finding,) = machine.git_identity(clone)
    assert finding.state == WARNING and finding.found.startswith("user.email not set: ")
    subprocess.run(["sh", "-c", finding.fix], check=True)
    (finding,) = machine.git_identity(clone)
    assert (finding.state, finding.found) == (OK, "Your Name <you@example.com>")
    assert (tmp_path / ".gitconfig").is_file(), "of this test alone"


def test_the_prefect_server_of_this_project_needs_no_other_port(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clone / ADDRESS).parent.mkdir()
    with socket.socket() as taken, (clone / ADDRESS).open("w") as address:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setattr(machine, "PORTS", {"prefect": taken.getsockname()[1]})
        assert machine.ports(clone)[0].state == WARNING, "somebody else's"
        address.write("http://127.0.0.1:4200/api")
        address.flush()
        fcntl.flock(address, fcntl.LOCK_EX)
        assert machine.ports(clone)[0].state == OK


@pytest.mark.parametrize("damage", ["no git", "no repository", "no settings of dvc"])
def test_a_project_in_which_dvc_cannot_work_is_reported(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    if damage == "no git":
        monkeypatch.setenv("PATH", tools(tmp_path / "bin"))
    elif damage == "no repository":
        shutil.rmtree(clone / ".git")
    else:
        (clone / ".dvc/config").unlink()
    result = [finding for check in (machine.git, machine.dvc) for finding in check(clone) if finding.state == MISSING]
    assert len(result) == 1 and result[0].fix
