"""``make audit``: list the packages of an environment (SBOM), check their licences, and look up known vulnerabilities.

Writes ``build/audit/sbom.json`` (CycloneDX) and ``licences.csv``. Exit code 1 for a licence that ``infra/licences.toml`` does not
accept and for a vulnerability that it does not name; without a network the look-up is left out with a warning.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
SECONDS = 300.0
"""Limit of each tool."""


def unaccepted(licences: Mapping[str, str], accepted: Collection[str], reasons: Mapping[str, str]) -> list[str]:
    """Return ``package: licence`` for packages whose licence is neither accepted nor has a reason."""

    def is_accepted(text: str) -> bool:
        if " OR " in text:
            return any(is_accepted(part) for part in text.split(" OR "))
        parts = [part.strip(" ()") for part in re.split(r" AND |;", text)]
        return all(part.startswith(tuple(accepted)) for part in parts)

    return [f"{name}: {text}" for name, text in sorted(licences.items()) if not reason(name, reasons) and not is_accepted(text)]


def reason(package: str, reasons: Mapping[str, str]) -> str:
    """Return the reason for a package's licence; a name in ``reasons`` may end in ``*``."""
    return next((text for name, text in reasons.items() if fnmatch(package.lower(), name)), "")


def vulnerabilities(report: Mapping[str, Any], ignored: Collection[str]) -> list[str]:
    """Return ``package version: ID (fixed in …)`` for each finding of pip-audit's report that is not ignored."""
    found = []
    for package in report["dependencies"]:
        for finding in package.get("vulns", []):
            if not {finding["id"], *finding.get("aliases", [])} & set(ignored):
                fixed = ", ".join(finding.get("fix_versions") or []) or "no version yet"
                found.append(f"{package['name']} {package['version']}: {finding['id']} (fixed in {fixed})")
    return found


def run(tools: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run one of the tools and return what it said."""
    return subprocess.run(
        [str(tools / command[0]), *command[1:]], cwd=PROJECT, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def read_licences(tools: Path, python: str) -> dict[str, str]:
    """Return package → licence of an environment."""
    done = run(tools, "pip-licenses", "--python", python, "--from=mixed", "--format=json")
    done.check_returncode()
    return {entry["Name"]: entry["License"] for entry in json.loads(done.stdout) if entry["Name"] != "hearsight"}


def look_up(tools: Path, locks: Iterable[str], out: Path) -> dict[str, Any] | None:
    """Return pip-audit's report of the locks; None when the database of advisories cannot be reached."""
    dependencies: list[dict[str, Any]] = []
    for lock in locks:
        report = out / f"{lock}.json"
        report.unlink(missing_ok=True)
        command = (
            "pip-audit",
            "-r",
            lock,
            "--no-deps",
            "--disable-pip",
            "--progress-spinner=off",
            "-f",
            "json",
            "-o",
            str(report),
        )
        try:
            done = run(tools, *command)
        except subprocess.TimeoutExpired:
            return None
        if not report.is_file() or not report.stat().st_size:
            print(f"audit: {(done.stderr.strip().splitlines() or ['no answer'])[-1]}", file=sys.stderr)
            return None
        dependencies += json.loads(report.read_text(encoding="utf-8"))["dependencies"]
    return {"dependencies": dependencies}


def main(arguments: list[str]) -> int:
    """Audit the environment of a Python, the second argument, with the tools in a folder, the first; return the exit code."""
    tools, python = Path(arguments[0]), arguments[1]
    out = PROJECT / "build" / "audit"
    out.mkdir(parents=True, exist_ok=True)
    rules = tomllib.loads((PROJECT / "infra" / "licences.toml").read_text(encoding="utf-8"))
    # Its validation of the file takes a minute.
    run(
        tools, "cyclonedx-py", "environment", python, "--of", "JSON", "--no-validate", "--pyproject", "pyproject.toml",
        "-o", str(out / "sbom.json"),
    ).check_returncode()  # fmt: skip
    licences = read_licences(tools, python)
    with (out / "licences.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["package", "licence", "reason"])
        rows.writerows([name, text, reason(name, rules["packages"])] for name, text in sorted(licences.items()))
    refused = [f"licence of {line}" for line in unaccepted(licences, rules["accepted"], rules["packages"])]
    report = look_up(tools, ("requirements-dev.lock", "requirements-torch.lock"), out)
    if report is None:
        print("audit: warning: the database of advisories cannot be reached; vulnerabilities were not looked up", file=sys.stderr)
    else:
        refused += vulnerabilities(report, rules["vulnerabilities"])
    for line in refused:
        print(f"audit: {line}", file=sys.stderr)
    print(f"audit: {len(licences)} packages, {len(refused)} findings; see {out.relative_to(PROJECT)}")
    return 1 if refused else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
