"""Which tests one worker takes whole when several share them, and which groups begin first (`make test`, CONTRIBUTING.md).

A group is a file, so that its fixtures are built once, or one of :data:`TOGETHER`: files that share a session's fixture.
The longest begin first, so that no worker is left with a long one when the others are done.
"""

from __future__ import annotations

TOGETHER = {
    # One uninterrupted run of the chain, `whole`.
    "tests/pipeline/test_kill.py": "whole",
    "tests/pipeline/test_repro.py": "whole",
    "tests/pipeline/test_documented_commands.py": "whole",
    # One Prefect server.
    "tests/flows/test_pipeline.py": "server",
    "tests/flows/test_snapshots.py": "server",
}

SECONDS = {
    "whole": 150,
    "tests/core/test_engine_ray.py": 100,
    "tests/check/test_check.py": 80,
    "tests/voices/test_voices.py": 70,
    "tests/pipeline/test_corruption.py": 70,
    "server": 60,
    "tests/cluster/test_cluster.py": 50,
    "tests/takedown/test_end_to_end.py": 45,
    "tests/crawl/test_daily.py": 40,
    "tests/calibrate/test_calibrate.py": 35,
    "tests/crawl/test_sources_archives.py": 35,
    "tests/synthesize/test_robust.py": 30,
    "tests/crawl/test_sources_table.py": 30,
    "tests/models/test_mfcc.py": 30,
    "tests/takedown/test_days.py": 30,
    "tests/index/test_index.py": 25,
    "tests/hypernymize/test_asking.py": 25,
    "tests/takedown/test_search_model.py": 20,
    "tests/index/test_serving.py": 20,
    "tests/training/test_ranks.py": 20,
    "tests/crawl/test_posts_calls.py": 20,
    "tests/crawl/test_retry.py": 15,
    "tests/caption/test_training.py": 15,
    "tests/evaluate/test_evaluate.py": 15,
    "tests/compare/test_compare.py": 15,
    "tests/tune/test_tune.py": 15,
    "tests/synthesize/test_synthesize.py": 13,
    "tests/core/test_contract.py": 12,
}
"""What the longest groups of `make test` take of a processor (s); only their order matters. ``pytest --durations=0`` tells it."""


def group(nodeid: str) -> str:
    """The group of a test, by the id that pytest gives it."""
    file = nodeid.partition("::")[0]
    return TOGETHER.get(file, file)


def weight(name: str) -> float:
    """How long a group is known to take (s); 0 for the short ones, which keep their order."""
    return SECONDS.get(name, 0)
