"""``python -m tests.gold``: all of it judged; with ``--fails`` every case that went wrong."""

from __future__ import annotations

import sys

from components.tools.trial import Trial
from tests.gold.judging import FOLDER, HALVES, judge, shares
from tests.support import PROJECT


def main() -> None:
    """Print the shares of each half, and the failures if asked."""
    trial = Trial(PROJECT, "paper")
    for half in HALVES:
        if not (FOLDER / f"{half}.jsonl").exists():
            continue
        judged = judge(trial, half)
        print(f"{half}: {len(judged)} cases")
        for name, (right, count) in shares(judged).items():
            print(f"  {name}: {right}/{count} = {right / max(count, 1):.3f}")
        if "--fails" not in sys.argv:
            continue
        for each in judged:
            case, result = each.case, each.result
            if each.leaks or not (each.acceptable or each.rule_right):
                print(f"- {case['id']}: {case['alt']}")
                wanted = case.get("captions") or case.get("rules")
                print(f"    wanted {case['verdict']}: {wanted}")
                print(f"    got {result['verdict']}: {result['caption'] or result['rule']} ({result['value']})")
                if each.leaks:
                    print(f"    LEAKS {each.leaks}")


main()
