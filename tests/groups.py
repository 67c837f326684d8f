"""Which tests one worker takes whole when several share them, and which groups begin first (CONTRIBUTING.md).

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
    # One Ray cluster.
    "tests/execution/test_ray_engine.py": "cluster",
    "tests/execution/test_ray_groups.py": "cluster",
    "tests/execution/test_ray_training.py": "cluster",
    # One project with captioners and an index.
    "tests/tools/describe/test_command.py": "described",
    "tests/tools/describe/test_compare.py": "described",
    "tests/tools/describe/test_describer.py": "described",
    "tests/tools/describe/test_model_archive.py": "described",
    "tests/tools/describe/test_page.py": "described",
}

SECONDS = {
    # These limit the memory of a forked child, and a worker that other tests have filled has free memory that no limit counts.
    "tests/web/images/test_inspection.py": 100,
    "tests/web/html/test_page_limits.py": 100,
    "tests/stages/crawl/test_image_budget.py": 100,
    # These wait more than they compute: for answers that never come, and for a cluster.
    "tests/stages/crawl/test_hostile_web.py": 60,
    "cluster": 40,
    "whole": 51,
    "described": 24,
    # A browser each, which is heavy beside others: after those whose pages have a limit of processor time.
    "tests/documents/test_contributing.py": 70,
    "tests/app/test_search.py": 23,
    "tests/app/test_describe.py": 23,
    "tests/app/test_rating.py": 21,
    "tests/app/test_rating_access.py": 15,
    "tests/app/test_start.py": 15,
    "tests/tracking/test_captioner_model.py": 18,
    "tests/tools/takedown/test_end_to_end.py": 24,
    "tests/tools/takedown/test_search_index.py": 12,
    "tests/tools/takedown/test_answer.py": 20,
    "server": 22,
    "tests/stages/check/test_check.py": 18,
    "tests/fuzz/test_fuzz.py": 16,
    "tests/stages/filter/test_long_texts.py": 15,
    "tests/speech/voices/test_hosts.py": 14,
    "tests/stages/crawl/test_sources_archives.py": 14,
    "tests/pipeline/test_corruption.py": 13,
    "tests/tools/calibrate/test_calibrate.py": 13,
    "tests/stages/extract_descriptions/test_extract.py": 13,
    "tests/speech/voices/test_voices.py": 11,
    "tests/web/archives/test_hostile.py": 10,
    "tests/tracking/test_lineage.py": 10,
    "tests/retrieval/test_training.py": 9,
    "tests/stages/crawl/test_posts_days.py": 8,
    "tests/training/test_ranks.py": 8,
    "tests/tools/demo/test_demo.py": 7,
    "tests/execution/test_warm.py": 7,
    "tests/stages/crawl/test_daily.py": 7,
    "tests/stages/filter/test_google_stage.py": 7,
    "tests/tools/takedown/test_days.py": 6,
    "tests/web/archives/test_formats.py": 6,
    "tests/speech/voices/test_google_voices.py": 6,
    "tests/stages/posts_report/test_page.py": 6,
    "tests/speech/voices/test_commands.py": 6,
    "tests/tools/cache/test_repair.py": 6,
    "tests/stages/crawl/test_crawl.py": 6,
    "tests/stages/import_recordings/test_facc.py": 6,
    "tests/stages/crawl/test_retry.py": 6,
}
"""What the longest groups take of a processor (s); only their order matters. ``pytest --durations=0`` tells it."""


def group(nodeid: str) -> str:
    """The group of a test, by the id that pytest gives it."""
    file = nodeid.partition("::")[0]
    return TOGETHER.get(file, file)


def weight(name: str) -> float:
    """How long a group is known to take (s); 0 for the short ones, which keep their order."""
    return SECONDS.get(name, 0)
