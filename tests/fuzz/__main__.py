"""`python -m tests.fuzz html robots --runs 100000`: run targets; a line of JSON each. Ends with 1 when something was found."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from pathlib import Path

from tests.fuzz.targets import CORPUS, FOUND, TARGETS, inputs_of


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of: {', '.join(TARGETS)}; none: all", metavar="TARGET")
    parser.add_argument(
        "--runs", type=int, default=100_000, help="inputs of each target; 0: as few as `make test`, where none is too slow"
    )
    parser.add_argument(
        "--seconds-per-input", type=int, default=20, help="an input that takes longer ends its process and is kept"
    )
    parser.add_argument("--found", type=Path, default=FOUND, help="folder for inputs at fault (tests/fuzz/found)")
    parser.add_argument("--grown", type=Path, help="folder for inputs that reach something new, used again by the next run")
    parser.add_argument("--keep", action="store_true", help="add to the corpus the smallest inputs that reach something new")
    parser.add_argument("--seed", type=int, default=0, help="the same inputs each time; 0: others each time")
    parser.add_argument("--loud", action="store_true", help="show libFuzzer's progress")
    parser.add_argument("--shrink", type=Path, metavar="FILE", help="make a found input as small as its fault allows")
    given = parser.parse_args()
    names = given.targets or list(TARGETS)
    if unknown := [name for name in names if name not in TARGETS]:
        parser.error(f"no such target: {', '.join(unknown)}")
    if given.shrink:
        from tests.fuzz.shrink import shrink_file

        print(shrink_file(names[0], given.shrink))
        return 0
    # numba decides at its import whether it compiles, so targets of both kinds need two processes.
    plain = [name for name in names if not TARGETS[name].interpreted]
    interpreted = [name for name in names if TARGETS[name].interpreted]
    if plain and interpreted:
        return max(_again(plain), _again(interpreted))
    if interpreted:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    return _run(names, given)


def _again(names: list[str]) -> int:
    import subprocess

    options = [word for word in sys.argv[1:] if word not in TARGETS]
    return subprocess.run([sys.executable, "-m", "tests.fuzz", *names, *options], check=False).returncode


def _run(names: list[str], given: argparse.Namespace) -> int:
    from tests.fuzz.child import load
    from tests.fuzz.running import SLOW, Settings, keep, run_all

    atheris = load(names)
    bad = False
    with tempfile.TemporaryDirectory() as scratch:
        grown = given.grown or (Path(scratch) if given.keep else None)
        how = {"seed": given.seed, "kept": grown, "loud": given.loud, "slow": SLOW if given.runs else math.inf}
        settings = Settings(given.runs, given.found.resolve(), given.seconds_per_input, **how)
        for result in run_all(atheris, names, settings):
            print(json.dumps(result.plain), flush=True)
            bad |= bool(result.inputs or result.faults)
            if given.keep and grown is not None:
                count = keep(grown / inputs_of(result.target), CORPUS / inputs_of(result.target))
                print(f"{count} inputs added to the corpus of {result.target}", file=sys.stderr)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
