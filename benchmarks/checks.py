"""CPU time of a check after the import of Great Expectations: `python -m benchmarks.checks [--records 40000]`.

Outputs are synthetic, of every stage, and pass. A check is what a forked child of a process that has already imported does.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
from pathlib import Path

from components.core.records import OUTPUT_SCHEMAS
from components.stages.check import check, warm
from tests.support.check.boundaries import make

PROJECT = Path(__file__).resolve().parents[1]


def cpu(children: bool = False) -> float:
    """CPU seconds of this process, or of its ended children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print a row a stage: records, CPU seconds of the check in a forked child."""
    parser = argparse.ArgumentParser(description="CPU time of a check after the import of Great Expectations.")
    parser.add_argument("--records", type=int, default=40, help="records of each output")
    parser.add_argument("--stage", action="append", choices=list(OUTPUT_SCHEMAS), help="again for another; all without")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(PROJECT / "expectations", root / "expectations")
        started = cpu()
        warm()
        print(f"import: {cpu() - started:.2f} s\n\n| stage | records | check, CPU s |\n|---|--:|--:|")
        for stage in chosen.stage or OUTPUT_SCHEMAS:
            make(root, stage, records=max(1, chosen.records // 2))
            before = cpu(children=True)
            child = os.fork()
            if child == 0:
                check(root, "english", stage)
                os._exit(0)
            if os.waitpid(child, 0)[1]:
                raise SystemExit(f"the check of {stage} failed")
            print(f"| {stage} | {chosen.records} | {cpu(children=True) - before:.2f} |", flush=True)
            shutil.rmtree(root / "data" / "english")


if __name__ == "__main__":
    main()
