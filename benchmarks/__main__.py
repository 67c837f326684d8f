"""Run a benchmark, over this checkout's code alone or in turns with another's: ``python -m benchmarks NAME [--before DIR]``.

With ``--before`` the same measuring program, this checkout's, runs ``--turns`` times over the components of each of the two
folders, each with its own environment (``make .venv/.ready-dev`` in DIR, since some inputs need packages of tests). Inputs below
``data/`` are this checkout's. The table has the medians of every figure and their ratio, before / now. Without a name the
benchmarks are listed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import runpy
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import AS_JSON, ROOT, SPREAD, in_turns, show


def names() -> dict[str, str]:
    """Return the name and the first line of each benchmark."""
    found = {}
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not path.stem.startswith("__") and "def main(" in text:
            found[path.stem] = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    return found


def figures(name: str, words: list[str], folder: Path, own: Path) -> list[dict[str, Any]]:
    """Return the rows that a benchmark prints over the components of ``folder``; ``own`` holds nothing but ``benchmarks``."""
    python = folder / ".venv" / "bin" / "python"
    if not python.exists():
        raise SystemExit(f"{folder}: has no environment in .venv; `make .venv/.ready-dev` there makes it")
    # Benchmarks of this checkout, components of the other. Without the safe path the working folder would come before both.
    paths = {"PYTHONPATH": f"{own}{os.pathsep}{folder}", "PYTHONSAFEPATH": "1", AS_JSON: "1"}
    done = subprocess.run(
        [python, "-m", f"benchmarks.{name}", *words],
        cwd=folder, env={**os.environ, **paths}, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"benchmarks.{name} failed in {folder}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def compared(turns: Mapping[str, list[list[dict[str, Any]]]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each figure that both sides printed in every turn: medians, and their ratio, before / now."""
    values: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: {"now": [], "before": []})
    for side, runs in turns.items():
        for rows in runs:
            for number, row in enumerate(rows):
                named = (value for name, value in row.items() if isinstance(value, str) and not name.startswith(SPREAD))
                words = " ".join(named)
                for name, value in row.items():
                    if isinstance(value, int | float) and not isinstance(value, bool):
                        values[words or str(number), name][side].append(value)
    for (words, name), found in values.items():
        if all(len(found[side]) == len(runs) for side, runs in turns.items()):
            now, before = (statistics.median(found[side]) for side in ("now", "before"))
            ratio = round(before / now, 3) if now else ""
            yield {"of": words, "figure": name, "now": now, "before": before, "before / now": ratio}


def main() -> None:
    """Run what is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__, add_help=False)
    parser.add_argument("name", nargs="?", choices=names(), metavar="NAME")
    parser.add_argument("--before", type=Path, metavar="DIR", help="another checkout of this project with its environment")
    parser.add_argument("--turns", type=int, default=3, help="runs of the benchmark over each checkout")
    options, words = parser.parse_known_args()
    if not options.name:
        parser.print_usage()
        for name, line in names().items():
            print(f"  {name:22} {line}")
    elif options.before:
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "benchmarks").symlink_to(ROOT / "benchmarks")
            sides = {"now": ROOT, "before": options.before.resolve()}
            ways = {side: partial(figures, options.name, words, folder, Path(scratch)) for side, folder in sides.items()}
            for row in compared(in_turns(ways, options.turns)):
                show(row)
    else:
        sys.argv = [f"python -m benchmarks.{options.name}", *words]
        runpy.run_module(f"benchmarks.{options.name}", run_name="__main__")


if __name__ == "__main__":
    main()
