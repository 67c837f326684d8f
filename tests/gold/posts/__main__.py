"""``python -m tests.gold.posts``: the share of exact descriptions in each file; with ``--fails`` every case that went wrong."""

from __future__ import annotations

import sys

from components.tools.trial import PostTrial
from tests.gold.posts.judging import FILES, judge
from tests.support import PROJECT


def main() -> None:
    """Print the shares, and the failures if asked."""
    trial = PostTrial(PROJECT, "portuguese")
    for name in FILES:
        judged = judge(trial, name)
        right = sum(each.exact for each in judged)
        print(f"{name}: {right}/{len(judged)} exact = {right / max(len(judged), 1):.3f}")
        for each in judged if "--fails" in sys.argv else ():
            if not each.exact:
                print(f"- ({each.case.get('note', '')}) {each.case['caption']!r}")
                print(f"    wanted {each.case['description']!r}")
                print(f"    got    {each.result['description']!r} ({each.result['reason']})")


main()
