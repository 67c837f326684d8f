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
    # These limit the memory of a forked child, and a worker that other tests have filled has free memory that no limit counts.
    "tests/web/images/test_inspection.py": 100,
    "tests/web/html/test_page_limits.py": 100,
    "tests/stages/crawl/test_image_budget.py": 100,
    "whole": 66,
    "server": 35,
    "tests/tools/takedown/test_end_to_end.py": 32,
    "tests/tools/takedown/test_search_model.py": 30,
    "tests/execution/test_ray_engine.py": 24,
    "tests/tools/calibrate/test_calibrate.py": 23,
    "tests/stages/crawl/test_hostile_web.py": 60,
    "tests/fuzz/test_fuzz.py": 20,
    "tests/speech/voices/test_voices.py": 22,
    "tests/stages/check/test_check.py": 20,
    "tests/speech/voices/test_hosts.py": 19,
    "tests/pipeline/test_corruption.py": 15,
    "tests/knowledge/test_remote.py": 14,
    "tests/web/archives/test_archives.py": 13,
    "tests/execution/test_warm.py": 13,
    "tests/google/test_client.py": 13,
    "tests/stages/crawl/test_sources_archives.py": 12,
    "tests/core/test_code_reach.py": 12,
    "tests/tracking/test_lineage.py": 12,
    "tests/stages/crawl/test_sources_table.py": 10,
    "tests/retrieval/test_training.py": 10,
    "tests/stages/crawl/test_daily.py": 10,
    "tests/training/test_ranks.py": 10,
    "tests/stages/crawl/test_retry.py": 10,
    "tests/stages/extract_descriptions/test_extract.py": 10,
    "tests/stages/filter/test_google_stage.py": 10,
}
"""What the longest groups of `make test` take of a processor (s); only their order matters. ``pytest --durations=0`` tells it."""


def group(nodeid: str) -> str:
    """The group of a test, by the id that pytest gives it."""
    file = nodeid.partition("::")[0]
    return TOGETHER.get(file, file)


def weight(name: str) -> float:
    """How long a group is known to take (s); 0 for the short ones, which keep their order."""
    return SECONDS.get(name, 0)
