"""`python -m tests.fuzz html robots --runs 100000`: run targets and print one line of JSON each; exit status 1 on a failure."""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz.targets import CORPUS, FOUND, TARGETS, inputs_of


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"one of {', '.join(TARGETS)}; none: all", metavar="TARGET")
    parser.add_argument(
        "--runs",
        type=int,
        default=100_000,
        help="inputs per target; 0: as many as in `make test-long`, without a limit on slow inputs",
    )
    parser.add_argument(
        "--seconds-per-input", type=int, default=20, help="time limit of one input; a slower one ends its process and is saved"
    )
    parser.add_argument("--found", type=Path, default=FOUND, help="folder for failing inputs (default: tests/fuzz/found)")
    parser.add_argument("--grown", type=Path, help="folder for inputs that reach new code; the next run starts from them")
    parser.add_argument("--keep", action="store_true", help="add the smallest inputs that reach new code to the corpus")
    parser.add_argument("--seed", type=int, default=0, help="seed of the inputs; 0: different inputs in each run")
    parser.add_argument("--loud", action="store_true", help="show libFuzzer's progress")
    parser.add_argument("--shrink", type=Path, metavar="FILE", help="minimise a failing input in place")
    arguments = parser.parse_args()
    names = arguments.targets or list(TARGETS)
    if unknown := [name for name in names if name not in TARGETS]:
        parser.error(f"no such target: {', '.join(unknown)}")
    if arguments.shrink:
        # Lazy: it loads the checks before NUMBA_DISABLE_JIT can be set.
        from tests.fuzz.shrink import shrink_file

        print(shrink_file(names[0], arguments.shrink))
        return 0
    # numba decides on import whether it compiles, so compiled and interpreted targets need separate processes.
    plain = [name for name in names if not TARGETS[name].interpreted]
    interpreted = [name for name in names if TARGETS[name].interpreted]
    if plain and interpreted:
        return max(_run_in_subprocess(plain), _run_in_subprocess(interpreted))
    if interpreted:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    return _run(names, arguments)


def _run_in_subprocess(names: list[str]) -> int:
    options = [word for word in sys.argv[1:] if word not in TARGETS]
    return subprocess.run([sys.executable, "-m", "tests.fuzz", *names, *options], check=False).returncode


def _run(names: list[str], arguments: argparse.Namespace) -> int:
    # Lazy: NUMBA_DISABLE_JIT must be set before these imports.
    from tests.fuzz.child import load
    from tests.fuzz.running import SLOW, Settings, keep, run_all

    atheris = load(names)
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        grown = arguments.grown or (Path(scratch) if arguments.keep else None)
        options = {"seed": arguments.seed, "kept": grown, "loud": arguments.loud, "slow": SLOW if arguments.runs else math.inf}
        settings = Settings(arguments.runs, arguments.found.resolve(), arguments.seconds_per_input, **options)
        for result in run_all(atheris, names, settings):
            print(json.dumps(result.plain), flush=True)
            failed |= bool(result.inputs or result.faults)
            if arguments.keep and grown is not None:
                count = keep(grown / inputs_of(result.target), CORPUS / inputs_of(result.target))
                print(f"{count} inputs added to the corpus of {result.target}", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
