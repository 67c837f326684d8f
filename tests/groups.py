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
    "whole": 404,
    "server": 293,
    "tests/core/test_engine_ray.py": 284,
    "tests/pipeline/test_corruption.py": 200,
    "tests/crawl/test_sources_archives.py": 195,
    "tests/check/test_check.py": 193,
    "tests/takedown/test_days.py": 185,
    "tests/models/test_mfcc.py": 174,
    "tests/synthesize/test_robust.py": 143,
    "tests/calibrate/test_calibrate.py": 127,
    "tests/crawl/test_sources_table.py": 125,
    "tests/cluster/test_cluster.py": 119,
    "tests/voices/test_voices.py": 116,
    "tests/crawl/test_daily.py": 111,
    "tests/crawl/test_retry.py": 104,
    "tests/takedown/test_end_to_end.py": 100,
    "tests/core/test_contract.py": 85,
    "tests/synthesize/test_synthesize.py": 82,
    "tests/hypernymize/test_asking.py": 78,
    "tests/index/test_index.py": 60,
    "tests/training/test_ranks.py": 50,
    "tests/takedown/test_search_model.py": 50,
    "tests/index/test_serving.py": 45,
    "tests/tune/test_tune.py": 45,
    "tests/evaluate/test_evaluate.py": 40,
    "tests/compare/test_compare.py": 45,
    "tests/caption/test_training.py": 40,
}
"""What the longest groups took (s), by a whole run on a busy machine of two cores; only their order matters."""


def group(nodeid: str) -> str:
    """The group of a test, by the id that pytest gives it."""
    file = nodeid.partition("::")[0]
    return TOGETHER.get(file, file)


def weight(name: str) -> float:
    """How long a group is known to take (s); 0 for the short ones, which keep their order."""
    return SECONDS.get(name, 0)
