"""Every command in README.md, CONTRIBUTING.md, SECURITY.md, infra/README.md and docs/, and what executes it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support import PROJECT

PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "infra/README.md", "docs/*.md")
GENERATED = "docs/cli.md"
PROGRAMS = (
    "hearsight", "make", "dvc", "python", "pytest", "pip", "mlflow", "prefect", "ray", "podman", "curl", "jq", "zcat", "echo",
    "arecord", "kubectl", "sbatch",
)  # fmt: skip
INLINE = re.compile(r"`((?:hearsight|make|dvc|python -m|pytest|pip|mlflow|prefect|ray|podman)(?: [^`]+))`")


@dataclass(frozen=True)
class Command:
    """A command as a page states it."""

    text: str
    """One command of a pipe, without its comment and its redirections."""
    page: str
    block: bool
    """In a block of commands, so complete; not in a sentence, which may name a command without its arguments."""

    @property
    def words(self) -> list[str]:
        """Its words, as a shell splits them."""
        return shlex.split(self.text, comments=True)


def documented() -> list[Command]:
    """Every command of every page, each text of a page once."""
    result: dict[tuple[str, str], Command] = {}
    for pattern in PAGES:
        for path in sorted(PROJECT.glob(pattern)):
            page = path.relative_to(PROJECT).as_posix()
            if page != GENERATED:
                for command in _of_page(path, page):
                    result.setdefault((command.text, page), command)
    return list(result.values())


def _of_page(path: Path, page: str) -> Iterator[Command]:
    text = path.read_text(encoding="utf-8")
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if language in ("", "sh", "bash"):
            for line in block.replace("\\\n", " ").splitlines():
                yield from (Command(each, page, True) for each in _of_line(line))
    for inline in INLINE.findall(re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)):
        yield from (Command(each, page, False) for each in _of_line(inline))


def _of_line(line: str) -> Iterator[str]:
    """The commands of a line: without a prompt, a comment, redirections and variables set before them."""
    words = _words(line.removeprefix("$ "))
    part: list[str] = []
    for word in [*words, "|"]:
        if word in ("|", "&&"):
            while part and re.fullmatch(r"[A-Z_]+=.*", part[0]):
                part = part[1:]
            part = part[: next((at for at, each in enumerate(part) if each in ("<", ">")), len(part))]
            if part and part[0] in PROGRAMS:
                yield shlex.join(part)
            part = []
        else:
            part.append(word)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:  # a drawing or a sentence
        return []


TESTED = {
    r"hearsight (show|explain)( .*)?": "tests/pipeline/test_documented_commands.py::test_show_names_pages_that_exist",
    r"dvc (metrics|plots|exp) (show|diff)( .*)?|dvc (exp|plots)": (
        "tests/pipeline/test_documented_commands.py::test_dvc_shows_metrics_plots_and_experiments"
    ),
    r"dvc exp (run|apply)( .*)?|dvc gc --workspace": (
        "tests/pipeline/test_experiments.py::test_metrics_of_two_experiments_fit_a_screen_and_none_fails_to_load"
    ),
    r"dvc repro( (--force )?(synthesize|hypernymize|posts_report|evaluate_captioners|build_search_index|build_rating_items)@.*)?|"
    r"hearsight (run|check)( .*)?": ("tests/pipeline/test_repro.py::test_a_second_repro_runs_nothing"),
    r"hearsight snapshot next( .*)?": "tests/stages/crawl/test_daily_snapshots.py::test_the_command_prints_what_it_changed",
    r"hearsight retry( .*)?": (
        "tests/stages/crawl/test_retry.py::test_the_command_reads_the_projects_settings_and_names_a_missing_stage"
    ),
    r"hearsight heal( .*)?": (
        "tests/tools/heal/test_heal.py::test_the_command_heals_the_projects_snapshot_and_refuses_with_one_line"
    ),
    r"hearsight join( .*)?": "tests/tools/test_join.py::test_the_command_joins_a_published_table_to_the_records_of_a_split",
    r"hearsight consent (check|redecide).*": (
        "tests/stages/crawl/test_consent_ledger.py::test_the_commands_explain_an_address_and_count_what_a_policy_changes"
    ),
    r"hearsight cost .*--vision google": (
        "tests/stages/filter/test_google_stage.py::test_the_cost_command_prints_a_table_or_a_one_line_error"
    ),
    r"hearsight cost --stage hypernymize( .*)?": (
        "tests/stages/hypernymize/test_server_captions.py::test_cost_counts_what_is_not_stored_and_asks_nothing"
    ),
    r"hearsight cost --images .*": (
        "tests/tools/describe/test_foreign.py::test_the_cost_of_a_folder_is_estimated_without_a_request_and_stored_answers_are_free"
    ),
    r"hearsight cost --stage synthesize .*": (
        "tests/speech/voices/test_google_voices.py::test_the_cost_command_needs_no_credentials_and_prints_one_line_errors"
    ),
    r"hearsight say .*": "tests/speech/voices/test_commands.py::test_say_writes_16_khz_flac_and_rate_pitch_and_gain_are_obeyed",
    r"pytest tests/speech/voices.*": "tests/speech/voices/test_voices.py",
    r"pytest tests/stages/filter": "tests/stages/filter/test_rules.py",
    r"hearsight voices": "tests/speech/voices/test_commands.py::test_voices_are_listed_as_json_lines_to_a_program",
    r"hearsight try|hearsight try --dataset .*": "tests/tools/trial/test_try.py::test_each_line_gives_one_json_object_in_order",
    r"hearsight try --pages( .*)?": "tests/tools/trial/test_try_pages.py::test_each_image_gives_one_json_object_with_its_page",
    r"hearsight try --posts": "tests/tools/trial/test_try_posts.py::test_each_line_gives_one_json_object_in_order",
    r"hearsight profile (list|add( .*)?)": (
        "tests/tools/profiles/test_add.py::test_a_profile_fits_the_project_and_leaves_every_other_line"
    ),
    r"hearsight pairs.*": "tests/web/archives/test_inputs.py::test_pairs_prints_json_lines_and_reports_failures_at_the_end",
    r"hearsight takedown (add|purge|scan).*": (
        "tests/tools/takedown/test_end_to_end.py::test_the_scan_command_reports_its_result_as_exit_code"
    ),
    r"hearsight takedown answer .*": ("tests/tools/takedown/test_answer.py::test_the_command_prints_and_writes_the_answer"),
    r"hearsight takedown list": "tests/pipeline/test_documented_commands.py::test_takedown_lists_nothing_in_a_new_project",
    r"hearsight calibrate.*": "tests/tools/calibrate/test_calibrate.py::test_lines_of_standard_input_give_rates_and_samples",
    r"python -m tests\.gold\.posts\.train_segments.*": (
        "tests/gold/posts/test_train_segments.py::test_the_command_prints_what_it_wrote"
    ),
    r"hearsight train-description.*": "tests/tools/train_description/test_train.py::test_the_command_prints_what_it_wrote",
    r"hearsight release --dataset english(?!.*--summary).*": (
        "tests/tools/release/test_release.py::test_the_command_prints_what_it_wrote_and_refuses_with_one_line"
    ),
    r"hearsight release --dataset portuguese.*": (
        "tests/tools/release/test_posts.py::test_the_command_writes_a_release_and_refuses_with_one_line"
    ),
    r"hearsight release --dataset english .* --summary": (
        "tests/tools/release/test_summary.py::test_the_command_writes_the_summary_only_when_asked"
    ),
    r"hearsight verify-release .*": (
        "tests/tools/release/test_verify.py::test_the_command_prints_one_line_for_each_error_and_exits_with_2"
    ),
    r"hearsight dataset holdout( .*)?": (
        "tests/tools/datasets/test_holdout.py::test_the_split_reads_the_lists_and_every_captioned_image_is_in_one"
    ),
    r"hearsight dataset add .*--retrieval .*|dvc repro evaluate_retrieval@coco": (
        "tests/tools/datasets/test_add.py::test_a_retrieval_test_set_is_spoken_and_read_with_the_models_own_encoder"
    ),
    r"hearsight dataset add .*--test": (
        "tests/tools/datasets/test_add.py::test_a_test_set_fits_the_project_and_reaches_every_captioner_in_twelve_lines"
    ),
    r"hearsight dataset add .*--train": (
        "tests/pipeline/test_test_sets.py::test_one_command_leads_from_a_table_to_a_trained_evaluated_and_registered_captioner"
    ),
    r"hearsight dataset add (?!.*--(test|retrieval|train)).*": (
        "tests/tools/datasets/test_add.py::test_a_dataset_of_each_kind_fits_the_project_in_few_lines_which_dvc_can_change"
    ),
    r"hearsight ratings import.*": "tests/tools/rating_files/test_rating_files.py::test_the_command_imports_a_file",
    r"hearsight drift( .*)?": "tests/stages/drift/test_dvc.py::test_the_command_prints_the_days_figures_as_json_lines",
    r"dvc repro drift@.*": (
        "tests/stages/drift/test_dvc.py::test_each_day_adds_a_line_that_git_can_keep_and_a_measured_day_runs_nothing"
    ),
    r"hearsight score.*": (
        "tests/tools/score/test_scoring.py::test_score_prints_every_metric_of_the_corpus_and_of_each_image_as_json"
    ),
    r"hearsight submission.*": "tests/tools/score/test_scoring.py::test_a_submission_is_written_a_split_at_a_time_into_one_zip",
    r"hearsight search --text .*": "tests/stages/build_search_index/test_search.py::test_a_text_is_spoken_and_searched_as_speech",
    r"hearsight search(?! --text).*": (
        "tests/stages/build_search_index/test_search.py::test_recordings_and_images_are_their_own_first_results_among_both_kinds"
    ),
    r"hearsight describe( .*)?": (
        "tests/tools/describe/test_command.py::test_a_folder_is_resumed_by_content_and_a_damaged_file_stops_nothing"
    ),
    r"hearsight compare( .*)?": (
        "tests/tools/describe/test_compare.py::test_each_model_is_a_run_that_a_second_call_does_not_repeat"
    ),
    r"hearsight models (export|import)( .*)?": (
        "tests/tools/describe/test_model_archive.py::test_the_commands_name_an_unstated_licence_and_what_to_run"
    ),
    r"hearsight feedback( .*)?": ("tests/tools/feedback/test_feedback.py::test_the_command_prints_a_json_line_for_each_remark"),
    r"hearsight knowledge index.*": "tests/knowledge/test_wikidata_index.py::test_every_form_of_the_dump_makes_the_same_index",
    r"hearsight knowledge ask.*": "tests/documents/test_commands.py::test_knowledge_ask_answers_the_documented_question",
    r"hearsight data( .*)?|make data": "tests/sample/test_sample.py::test_a_second_call_fetches_nothing",
    r"hearsight cache repair.*": "tests/tools/cache/test_repair.py::test_undamaged_stores_need_no_repair",
    r"make ui": "tests/flows/test_ui.py::test_the_start_page_links_what_runs_and_everything_ends_with_ctrl_c",
    r"hearsight app( .*)?": (
        "tests/app/test_command.py::test_the_printed_link_logs_the_owner_in_and_its_token_is_in_a_private_file"
    ),
    r"python -m flows\.pipeline.*": "tests/flows/test_pipeline.py::test_a_run_executes_each_task_once_and_ends_cleanly",
    r"python -m flows\.(serve|prefect)( .*)?": (
        "tests/flows/test_shared_server.py::test_schedules_are_served_listed_and_triggered_while_the_pages_are_open_and_after"
    ),
    r"dvc (status|repro -s|remote add .*)": (
        "tests/flows/test_versioned.py::test_clones_continue_from_each_others_runs_and_a_checkout_of_a_tag_has_its_data"
    ),
    r"python -m flows\.worker .*": (
        "tests/flows/test_scheduled.py::test_workers_in_other_clones_run_the_pools_stages_and_the_flow_goes_on"
    ),
    r"hearsight doctor": "tests/tools/doctor/test_doctor.py",
    r"hearsight models (list|restore)( .*)?": (
        "tests/tracking/test_best.py::test_the_previous_version_is_kept_and_one_command_restores_it"
    ),
    r"hearsight tracking flush": "tests/tracking/test_lineage.py",
    r"make docs": "tests/documents/test_commands.py::test_the_list_of_commands_agrees_with_the_help_texts",
    r"python -m tests\.core\.annotators": "tests/core/test_annotators.py::test_",
    r"python -m tests\.fuzz.*": "tests/fuzz/test_fuzz.py",
    r"python -m tests\.faults.*": "tests/faults/test_faults.py",
    r"python -m tests\.gold(\.posts)?( .*)?": (
        "tests/gold/test_gold.py::test_verdicts_and_captions_equal_the_gold_ones_without_private_names"
    ),
    r"mlflow models serve .*": "tests/tracking/test_captioner_model.py::test_a_server_answers_base64_in_json",
    r"echo .*": "tests/documents/test_commands.py::test_the_transcript_in_the_readme_is_what_try_prints",
    r"hearsight ratings (open|status|export)( .*)?": (
        "tests/app/test_rating_commands.py::test_ratings_are_opened_counted_and_exported_without_names"
    ),
    r"hearsight ratings revoke( .*)?": "tests/app/test_rating_commands.py::test_invitations_are_revoked_by_name_or_all_at_once",
    r"hearsight ratings ask( .*)?": (
        "tests/tools/model_ratings/test_ask.py::test_the_command_prints_what_was_rated_and_where_images_went"
    ),
    r"hearsight ratings judge( .*)?": (
        "tests/tools/judging/test_judging.py"
        "::test_the_page_shows_each_caption_with_image_alt_text_and_page_and_the_verdicts_give_the_precision"
    ),
    r"hearsight ratings invite( .*)?": "tests/app/test_rating_commands.py::test_invitations_are_links_of_new_raters",
    r"hearsight storage .*|dvc (pull|push|checkout|commit --force)|dvc repro split@english": (
        "tests/storage/test_clones.py::test_a_second_clone_pulls_manifests_and_goes_on"
    ),
    r"hearsight status": (
        "tests/tools/status/test_status.py::test_the_last_failure_has_its_error_and_disappears_when_the_stage_succeeds"
    ),
    r"hearsight logs( .*)?": "tests/tools/status/test_status.py::test_logs_prints_the_events_of_all_outputs_by_time_and_selects",
    r"hearsight lineage.*": "tests/tracking/test_lineage.py::test_lineage_leads_from_a_model_to_its_snapshot",
}
"""Pattern of a whole command → the test that executes it, or what it calls. A file alone: several of its tests do."""

NOT_TESTED = {
    r"make (demo|test(-long|-all)?|fuzz|setup|lint|audit|lock|bare|experiments)( [A-Z]+=.*)?": "long: before a release",
    r"python -m benchmarks\..*": "long: a measurement, stated with its figures",
    r"python -m infra\.platforms .*": "network: asks the package index for the wheels of other systems",
    r"pip install .*": "network: an additional package",
    r"(podman|ray|kubectl) .*": "a cluster or a server",
    r"sbatch .*": "a cluster: tests/execution/test_slurm.py runs the script with stand-ins for SLURM's commands",
    r"curl .*": "a server",
    r"(jq|zcat|arecord) .*": "other programs, which make the input",
    r"dvc repro evaluate_ratings@english": "people: needs their ratings; tests/stages/evaluate_ratings runs and checks it",
    r"hearsight (demo|experiments)( --data .*)?": "long: whole runs; tests/tools/demo runs both on a small repository",
    r"mlflow gc": "a server: named as what removes deleted runs",
    r"dvc repro .*(facc|mine|site|local|archive|posts|tagged|<dataset>)|hearsight dataset add|hearsight params( .*)?": (
        "own data: a dataset the reader adds"
    ),
    r"dvc repro (-f|--force) -s (filter|hypernymize|synthesize)@english": "the machine: recomputes a stage, whose run is tested",
}
"""Pattern of a whole command → why no test executes it."""
