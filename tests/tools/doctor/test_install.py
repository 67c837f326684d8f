"""What `make setup` installs with: the newest usable Python, and packages from where the user's settings point."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import PROJECT

SPEC = importlib.util.spec_from_file_location("install", PROJECT / "infra/install.py")
assert SPEC is not None and SPEC.loader is not None
INSTALL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(INSTALL)

UV = """#!/bin/sh
echo "$@ | $UV_FIND_LINKS $UV_DEFAULT_INDEX" >> "$CALLS"
case "$*" in *--torch-backend*) exit $AUTO;; esac
"""
CHOICE = "print-python:\n\t$(info $(PYTHON))@:\n"


def pythons(folder: Path, versions: dict[str, tuple[int, int]], without_venv: tuple[str, ...] = ()) -> Path:
    """Make programs in ``folder`` that answer the question of the Makefile as Pythons of these versions would."""
    folder.mkdir()
    for program in ("expr", "nproc"):
        (folder / program).symlink_to(f"/usr/bin/{program}")
    for name, version in versions.items():
        # The real interpreter runs the question, with another version, and without venv where that is a package of its own.
        lacks = "sys.modules['ensurepip'] = None; " if name in without_venv else ""
        code = f"import sys, venv, ensurepip; sys.version_info = ({version[0]}, {version[1]}, 0); {lacks}exec(sys.argv[1])"
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{code}" "$2"\n')
        (folder / name).chmod(0o755)
    return folder


def make(tmp_path: Path, path: Path, target: str) -> subprocess.CompletedProcess[str]:
    """Run a target of the Makefile in an empty folder, with ``path`` as the only folder of programs."""
    project = tmp_path / "project"
    (project / "infra").mkdir(parents=True)
    (project / "Makefile").write_text((PROJECT / "Makefile").read_text() + CHOICE)
    for name in ("requirements.lock", "requirements-torch.lock", "infra/uv.lock", "pyproject.toml", "infra/install.py",
                 "infra/trim.py"):  # fmt: skip
        (project / name).touch()
    command = ["/usr/bin/make", "--no-print-directory", "-C", str(project), target]
    return subprocess.run(command, env={"PATH": str(path)}, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("there", "chosen"),
    [
        ({"python3.11": (3, 11), "python3.13": (3, 13), "python3": (3, 11)}, "python3.13"),
        ({"python3": (3, 13)}, "python3"),
        ({"python3.12": (3, 12), "python3": (3, 14)}, "python3.12"),
        ({"python3.11": (3, 11), "python3": (3, 9)}, "python3.11"),
    ],
)
def test_make_takes_the_newest_python_that_the_packages_support(tmp_path, there, chosen):
    assert make(tmp_path, pythons(tmp_path / "bin", there), "print-python").stdout.strip() == chosen


@pytest.mark.parametrize(("there", "lacking"), [({}, ()), ({"python3": (3, 14)}, ()), ({"python3": (3, 13)}, ("python3",))])
def test_without_a_usable_python_make_names_the_packages_in_one_line(tmp_path, there, lacking):
    done = make(tmp_path, pythons(tmp_path / "bin", there, lacking), "setup")
    assert done.returncode == 2 and not (tmp_path / "project/.venv").exists()
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert len(lines) == 1 and "apt-get install python3 python3-venv" in lines[0]


def test_settings_of_pip_stand_in_for_those_of_uv_that_are_not_set():
    listed = "\n".join(
        [
            ":env:.find-links='/wheels /more wheels'",
            "global.cert='/certificates.crt'",
            "global.find-links='/other'",
            "global.index-url='https://mirror.example/simple'",
            "site.extra-index-url='\\nhttps://a.example/\\nhttps://b.example/'",
            "a line that is no setting",
        ]
    )
    pip = INSTALL.pip_settings(listed)
    result = INSTALL.uv_environment({"UV_INDEX": "https://ours.example/", "HOME": "/h"}, pip)
    assert result["UV_FIND_LINKS"] == "/wheels,/more,wheels" and result["UV_DEFAULT_INDEX"] == "https://mirror.example/simple"
    assert result["UV_INDEX"] == "https://ours.example/" and result["SSL_CERT_FILE"] == "/certificates.crt"
    extra = "https://a.example/ https://b.example/"
    assert INSTALL.uv_environment({"UV_DEFAULT_INDEX": "https://d.example/"}, pip)["UV_INDEX"] == extra


def test_the_main_index_of_pip_is_asked_before_further_ones():
    further = {"extra-index-url": "https://a.example/"}
    assert INSTALL.uv_environment({}, further, "https://main.example/")["UV_INDEX"] == "https://main.example/ https://a.example/"
    named = further | {"index-url": "https://mirror.example/"}
    assert INSTALL.uv_environment({}, named, "https://main.example/")["UV_INDEX"] == "https://mirror.example/ https://a.example/"
    assert "UV_INDEX" not in INSTALL.uv_environment({}, {}, "https://main.example/")
    assert INSTALL.pip_default_index().startswith("https://")


@pytest.mark.parametrize(
    "settings", ["", "[pip]\nindex-url = 'https://mirror.example/'", "[[index]]\nurl = 'https://m.example/'"]
)
def test_files_of_uv_that_name_an_index_are_seen(tmp_path, settings):
    (tmp_path / "uv").mkdir()
    (tmp_path / "uv/uv.toml").write_text(settings)
    files = INSTALL.settings_files({"XDG_CONFIG_HOME": str(tmp_path)})[:2]
    assert INSTALL.names_a_source({}, files) == bool(settings)


@pytest.mark.parametrize(
    ("environment", "auto", "calls"),
    [
        ({"UV_FIND_LINKS": "/wheels"}, "0", ["| /wheels"]),
        ({}, "0", ["--torch-backend auto |"]),
        ({}, "2", ["--torch-backend auto |", "requirements.lock |"]),
    ],
)
def test_torch_comes_from_the_named_source_or_from_its_own_index_or_else_from_the_default_one(
    tmp_path, monkeypatch, environment, auto, calls
):
    (tmp_path / "uv").write_text(UV)
    (tmp_path / "uv").chmod(0o755)
    monkeypatch.setattr(INSTALL.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(INSTALL, "settings_files", lambda environment: [])
    done = INSTALL.install_torch({"PATH": "/usr/bin:/bin", "CALLS": str(tmp_path / "calls"), "AUTO": auto, **environment})
    asked = (tmp_path / "calls").read_text().splitlines()
    assert done == 0 and len(asked) == len(calls)
    assert all(part in line for part, line in zip(calls, asked, strict=True))
