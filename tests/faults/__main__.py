"""``python -m tests.faults --count 200``: run drawn faults, print a table; exit status 1 on a broken promise."""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from components.execution.engine import limit_threads
from tests.faults.scenario import KINDS, Outcome, draw_kind, run_fault
from tests.faults.world import build_world


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--count", type=int, default=1, help="how many faults, with seeds that follow each other")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--kind", choices=KINDS, help="this kind alone; without it kinds take turns")
    parser.add_argument("--quick", action="store_true", help="runs end at the stage that is struck, as in `make test-long`")
    parser.add_argument("--loud", action="store_true", help="print what every command said")
    chosen = parser.parse_args()
    limit_threads()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers and folders are removed
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="hearsight-faults-") as folder, ExitStack() as stack:
        world = build_world(Path(folder), quick=chosen.quick)
        stack.callback(world.close)
        print(f"the uninterrupted run took {cpu_seconds():.1f} s of a processor", flush=True)
        for seed in range(chosen.seed, chosen.seed + chosen.count):
            begun, used = time.monotonic(), cpu_seconds()
            outcome = run_fault(world, chosen.kind or draw_kind(seed), seed)
            outcomes.append(outcome)
            verdict = "; ".join(outcome.problems) or "holds"
            remedies = f" [{', '.join(outcome.remedies)}]" if outcome.remedies else ""
            took = f"{time.monotonic() - begun:.1f} s, {cpu_seconds() - used:.1f} s of a processor"
            print(f"{outcome.command}: {outcome.about}: {outcome.result}{remedies}: {verdict} ({took})", flush=True)
            if outcome.problems or chosen.count == 1 or chosen.loud:
                print("    " + outcome.log.replace("\n", "\n    "), flush=True)
    print(table(outcomes))
    return int(any(outcome.problems for outcome in outcomes))


def cpu_seconds() -> float:
    """Return the processor time of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(outcomes: list[Outcome]) -> str:
    """Return kinds × outcomes as a Markdown table."""
    columns = ("absorbed", "named", "named by its check", "named in its ledger", "killed", "missed")
    lines = [f"| kind | faults | {' | '.join(columns)} | followed hints | broken promises |", "|---" * (len(columns) + 4) + "|"]
    for kind in [*KINDS, "all"]:
        chosen = [outcome for outcome in outcomes if kind in (outcome.kind, "all")]
        if chosen:
            counts = Counter(outcome.result for outcome in chosen)
            cells = [len(chosen), *(counts[name] for name in columns)]
            cells += [sum(bool(outcome.remedies) for outcome in chosen), sum(bool(outcome.problems) for outcome in chosen)]
            lines.append(f"| {kind} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
