"""`make audit`: which licences and findings end it, and that a missing network does not. `make lint`: secrets."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support import PROJECT

SPEC = importlib.util.spec_from_file_location("audit", PROJECT / "infra" / "audit.py")
assert SPEC and SPEC.loader
AUDIT = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(AUDIT)
RULES = tomllib.loads((PROJECT / "infra" / "licences.toml").read_text(encoding="utf-8"))
FINDING = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["2"], "description": ""}
REPORT = {"dependencies": [{"name": "x", "version": "1", "vulns": [FINDING]}]}


def test_a_licence_needs_to_be_accepted_or_to_have_a_reason() -> None:
    licences = {
        "a": "MIT", "b": "Apache-2.0 AND (BSD-3-Clause)", "c": "Apache-2.0 OR GPL-2.0-or-later",
        "d": "MPL-2.0 AND (Apache-2.0 OR MIT)",
        "e": "GPL-3.0-or-later", "f": "UNKNOWN", "g": "MIT AND GPL-3.0-only", "h": "Other/Proprietary License", "i": "LGPL-2.1",
        "Nvidia-x": "LicenseRef-NVIDIA", "Krippendorff": "GPL-3.0-or-later",
    }  # fmt: skip
    refused = AUDIT.unaccepted(licences, RULES["accepted"], RULES["packages"])
    assert [line.partition(":")[0] for line in refused] == ["e", "f", "g", "h", "i"]


def test_every_reason_is_given_and_concerns_a_locked_package() -> None:
    locked = {line.split("==")[0] for line in (PROJECT / "requirements-dev.lock").read_text().splitlines() if "==" in line}
    assert {name for name in RULES["packages"] if "*" not in name} <= locked
    assert all(len(text) > 20 for name, text in {**RULES["packages"], **RULES["vulnerabilities"]}.items() if name != "cuda-*")


def test_a_vulnerability_is_a_finding_unless_it_is_named_with_a_reason() -> None:
    report = {"dependencies": [{"name": "x", "version": "1", "vulns": [FINDING]}, {"name": "y", "skip_reason": "not found"}]}
    assert AUDIT.vulnerabilities(report, []) == ["x 1: PYSEC-1 (fixed in 2)"]
    assert AUDIT.vulnerabilities(report, ["CVE-1"]) == []


def tools(folder: Path, audit: str) -> Path:
    """A folder with stand-ins for the three tools; ``audit`` is the shell code of pip-audit, whose last argument is its file."""
    for name, code in {
        "cyclonedx-py": "exit 0",
        "pip-licenses": """echo '[{"Name": "x", "License": "MIT"}]'""",
        "pip-audit": f'for out; do :; done; {audit}',
    }.items():  # fmt: skip
        (folder / name).write_text(f"#!/bin/sh\n{code}\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize(
    "audit, code, said",
    [
        ("echo 'ConnectionError: no route' >&2; exit 1", 0, "the database of advisories cannot be reached"),
        ("""echo '{"dependencies": [{"name": "x", "version": "1", "vulns": []}]}' > $out""", 0, "1 packages, 0 findings"),
        (f"echo '{json.dumps(REPORT)}' > $out; exit 1", 1, "PYSEC-1"),
    ],
)  # fmt: skip
def test_no_network_is_a_warning_and_a_finding_is_an_error(
    tmp_path: Path, audit: str, code: int, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / "infra").mkdir(parents=True)
    (project / "infra" / "licences.toml").write_bytes((PROJECT / "infra" / "licences.toml").read_bytes())
    monkeypatch.setattr(AUDIT, "PROJECT", project)
    assert AUDIT.main([str(tools(tmp_path, audit)), "python"]) == code
    printed = capsys.readouterr()
    assert said in printed.out + printed.err


PLANTED = {
    "key.py": "AWS = 'AKIA" + "Z7QKX4N2M5P3T6WR'\n",
    "token.txt": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n",
    "id_rsa": "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\n",
    "remote.ini": "url = https://user:hunter2hunter2" + "@storage.example/data\n",
    "settings.yaml": "api_" + "key: '3f9Kq7Zt1Lw8Xv2Bn6Rj'\n",
}


def test_a_planted_key_is_found_and_the_hook_that_looks_is_that_of_lint(tmp_path: Path) -> None:
    hook = "detect-secrets-hook --baseline .secrets.baseline"
    for place in ("Makefile", ".pre-commit-config.yaml"):
        assert hook in (PROJECT / place).read_text(encoding="utf-8")
    for name, text in PLANTED.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "clean.py").write_text("token = read_token()\n")
    command = [str(Path(sys.executable).parent / "detect-secrets-hook"), "--baseline", str(PROJECT / ".secrets.baseline")]
    found = subprocess.run([*command, *PLANTED, "clean.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert [name for name in [*PLANTED, "clean.py"] if name not in found.stdout] == ["clean.py"]
    assert subprocess.run([*command, "clean.py"], cwd=tmp_path, capture_output=True, check=False).returncode == 0
