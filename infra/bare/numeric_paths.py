"""Run the pipeline with other numeric code paths, and say which outputs come out otherwise.

    python infra/bare/numeric_paths.py                       # every stage, three times: about 25 min on 2 cores
    python infra/bare/numeric_paths.py crawl@english         # what these targets of dvc.yaml need, and no more
    python infra/bare/numeric_paths.py --variant baseline    # one variant; results of earlier ones are kept and compared

Each variant is a clone of HEAD with empty caches, and the environment that runs this script. What was fetched for this
project (``data/packages``) is linked into the clones, and what ``default`` crawled is copied into the others. A variant
passes when ``hearsight demo`` does. Its outputs are compared by the digests of their manifests with those of the variant
``default``. Exit code 1 when a variant failed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
NAMES = ("ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS", "ATEN_CPU_CAPABILITY")
"""What chooses the code paths of oneDNN, MKL and PyTorch; none takes more than the processor has."""
VARIANTS = {"default": ("", "", ""), "baseline": ("SSE41", "SSE4_2", "default"), "avx2": ("AVX2", "AVX2", "avx2")}
"""Variant → a value for each of ``NAMES``; empty leaves it unset."""


def main() -> int:
    """Run the chosen variants and print the table."""
    parser = argparse.ArgumentParser(description="Run the pipeline with other numeric code paths and compare the outputs.")
    parser.add_argument("targets", nargs="*", help="of dvc repro; everything without")
    parser.add_argument("--variant", action="append", choices=list(VARIANTS), help="again for another; all without")
    parser.add_argument("--work", type=Path, default=Path("/var/tmp/hearsight-numeric"), help="for clones, logs and results")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    results = {}
    for name in chosen.variant or VARIANTS:
        (chosen.work / f"{name}.json").write_text(json.dumps(run(name, chosen.work, chosen.targets), indent=1, sort_keys=True))
    for name in VARIANTS:
        if (path := chosen.work / f"{name}.json").is_file():
            results[name] = json.loads(path.read_text())
    print(table(results))
    return 0 if all(result["passed"] for result in results.values()) else 1


def run(name: str, work: Path, targets: list[str]) -> dict[str, object]:
    """Run one variant in a clone of its own; returns whether it passed, its seconds, warnings and outputs' digests."""
    clone, log = work / name, work / f"{name}.log"
    shutil.rmtree(clone, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", "--shared", str(PROJECT), str(clone)], check=True)
    if (packages := PROJECT / "data" / "packages").is_dir():
        shutil.copytree(packages, clone / "data" / "packages", copy_function=_link)
    store = work / "default" / "data" / "store"
    if name != "default" and store.is_dir():  # the same answers of the web: those of posts hold the time
        shutil.copytree(store, clone / "data" / "store")
    env = {key: value for key, value in os.environ.items() if key not in NAMES and not key.startswith("HEARSIGHT_")}
    env |= {key: value for key, value in zip(NAMES, VARIANTS[name], strict=True) if value}
    env |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{env.get('PATH', '')}", "PYTHONPATH": str(clone)}
    env |= {"DVC_NO_ANALYTICS": "1", "HEARSIGHT_ROOT": str(clone)}
    started = time.monotonic()
    with log.open("wb") as out:
        command = ["dvc", "repro", *targets] if targets else ["hearsight", "demo"]
        code = subprocess.run(command, cwd=clone, env=env, stdout=out, stderr=subprocess.STDOUT).returncode
    warnings = [len(json.loads(path.read_bytes())) for path in clone.glob("data/**/warnings.json")]
    found = {path.parent.relative_to(clone / "data").as_posix(): _digest(path) for path in clone.glob("data/**/manifest.json")}
    return {"passed": code == 0, "seconds": round(time.monotonic() - started), "warnings": sum(warnings), "digests": found}


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def table(results: dict[str, dict[str, object]]) -> str:
    """Return the results as Markdown: a row a variant, and the outputs that are not those of ``default``."""
    rows = [
        f"| variant | {' | '.join(NAMES)} | passed | min | warnings | outputs | differing |",
        "|---|---|---|---|---|--:|--:|--:|---|",
    ]
    base = results.get("default", {}).get("digests")
    for name, result in results.items():
        digests = result["digests"]
        assert isinstance(digests, dict)
        other = "not compared"
        if isinstance(base, dict):
            other = ", ".join(key for key in sorted(base.keys() | digests) if base.get(key) != digests.get(key)) or "none"
        values = " | ".join(value or "unset" for value in VARIANTS[name])
        minutes = f"{float(str(result['seconds'])) / 60:.1f}"
        passed = "yes" if result["passed"] else "NO"
        rows.append(f"| {name} | {values} | {passed} | {minutes} | {result['warnings']} | {len(digests)} | {other} |")
    return "\n".join(rows)


if __name__ == "__main__":
    raise SystemExit(main())
