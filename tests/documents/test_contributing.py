"""A rule, a layout, a captioner and a voice are added as CONTRIBUTING.md says, and everything that lists them knows them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.support import PROJECT
from tests.support.settings_files import copy_settings

pytestmark = pytest.mark.long

PAGE = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
VOICES = (PROJECT / "docs" / "voices.md").read_text(encoding="utf-8").partition("## Add a voice\n")[2]
ROWS = dict(
    re.findall(r"^\| ([a-z ]+) \| (.*) \|$", PAGE.partition("## Add something")[2].partition("## Fuzzing")[0], re.MULTILINE)
)
BLOCKS = re.findall(r"^```python\n# (\S+?\.py)(?:: (\w+))?\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
"""Path, the table in it or nothing, and the code, of each example."""
FOLDERS = (
    "components",
    "flows",
    "tests",
    "docs",
    "expectations",
    "datasets",
    "data/none",
    "ratings/kept",
    "reports/captioner_tests",
)
TESTS = [
    "tests/stages/filter/test_rules.py::test_rules_have_one_name_each_and_a_meaning_of_one_sentence",
    "tests/stages/filter/test_measured.py::test_a_kept_record_shows_every_rule_with_value_and_threshold_of_the_run",
    "tests/stages/report/test_funnel.py",
    "tests/stages/crawl/test_sources_tsv.py::test_every_registered_name_is_that_of_its_class",
    "tests/stages/train_captioner/test_settings.py",
    "tests/models/test_recurrent_captioners.py::test_every_column_of_decode_is_a_step_and_sees_no_later_word",
    "tests/models/test_recurrent_captioners.py::test_gradients_reach_every_parameter",
    "tests/tools/calibrate/test_calibrate.py::test_each_swept_rule_and_its_setting_exist",
    "tests/tools/feedback/test_feedback.py::test_every_rule_of_the_filter_on_texts_is_reported_in_plain_words",
    "tests/tracking/test_rule_settings.py",
    "tests/core/test_annotators.py::test_annotator_code_changes_only_with_its_version",
    "tests/core/test_contract.py::test_stages_records_suites_and_settings_are_consistent",
    "tests/core/test_params_listing.py::test_every_setting_has_a_default_of_its_type_and_a_meaning",
    "tests/core/test_params_listing.py::test_an_empty_block_has_the_papers_settings",
    "tests/documents/test_commands.py::test_the_list_of_commands_agrees_with_the_help_texts",
]
"""Those that read the lists to which something is added."""


def add(root: Path) -> None:
    """Write the examples where they say: a new file, the end of a module, or a line of a table."""
    for name, table, code in BLOCKS:
        path = root / name
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if table:
            head, found, rest = before.partition(f"\n{table} = {{\n")
            assert found, f"{name} has no table {table}"
            path.write_text(f"{head}{found}{code}{rest}", encoding="utf-8")
        else:
            space = "" if code.startswith(" ") or not before else "\n\n"
            path.write_text(f"{before}{space}{code}", encoding="utf-8")
    (engine,) = re.findall(r"```python\n(.*?)```", VOICES, re.DOTALL)
    (line,) = re.findall(r'`("toneword": .*?)`', VOICES)
    (root / "components/speech/voices/engine_toneword.py").write_text(dedent(engine), encoding="utf-8")
    registry = root / "components/speech/voices/engines.py"
    content = registry.read_text(encoding="utf-8").replace("import engine_espeak,", "import engine_espeak, engine_toneword,")
    registry.write_text(content.replace("EngineEntry] = {\n", f"EngineEntry] = {{\n    {line}\n"), encoding="utf-8")
    networks = root / "datasets/captioners.yaml"
    given = networks.read_text(encoding="utf-8")
    assert "\nnetworks:\n- " in given
    networks.write_text(given.replace("\nnetworks:\n", "\nnetworks:\n- mean8x8\n"), encoding="utf-8")
    for name in ("english", "cleaned", "portuguese"):
        path = root / f"datasets/{name}.yaml"
        given = path.read_text(encoding="utf-8")
        added = re.sub(r"^(  networks:.*\n)", r"\1    mean8x8: {like: recurrent}\n", given, flags=re.MULTILINE)
        path.write_text(added, encoding="utf-8")


def run(copy: Path, *words: str, stdin: str = "", root: Path | None = None) -> str:
    """Run Python with the code of the copy, on the project ``root`` or the copy itself, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(copy), "HEARSIGHT_ROOT": str(root or copy), "HEARSIGHT_TRACKING": "off"}
    done = subprocess.run(
        [sys.executable, *words], cwd=root or copy, capture_output=True, text=True, input=stdin, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the examples, after the two commands that record them."""
    root = tmp_path_factory.mktemp("added")
    for name in FOLDERS:
        shutil.copytree(PROJECT / name, root / name)
    for path in PROJECT.glob("*.*"):
        if path.suffix in (".md", ".yaml", ".toml"):
            shutil.copy(path, root)
    if (PROJECT / "data" / "packages").exists():
        (root / "data" / "packages").symlink_to(PROJECT / "data" / "packages")
    add(root)
    for command in ("components.cli.reference", "tests.core.annotators"):
        run(root, "-m", command)
    return root


def hearsight(root: Path, *words: str, stdin: str = "") -> list[dict[str, object]]:
    return [json.loads(line) for line in run(root, "-m", "components.cli.entry", *words, stdin=stdin).splitlines()]


@pytest.mark.parametrize(
    ("row", "section"), [("filter rule", "A filter rule"), ("table layout", "A table layout"), ("captioner", "A captioner")]
)
def test_an_example_changes_the_files_that_its_row_names_and_no_others(row: str, section: str) -> None:
    example = re.split(r"^##", PAGE.partition(f"### {section}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    changed = {name for name, _, code in BLOCKS if code in example}
    folders = re.findall(r"`(components/[\w/]+)`", ROWS[row])
    files = re.findall(r"`([\w/]+\.py)`", ROWS[row])
    assert changed and len(changed) <= 2
    for name in changed:
        path = Path(name)
        assert str(path.parent) in folders, name
        assert path.name in files or "a module" in ROWS[row] or "a class" in ROWS[row], name


def test_feedback_params_try_and_calibrate_know_the_rule(project: Path, tmp_path: Path) -> None:
    text = "A dog & a cat & a fox & a hen & a cow on the grass"
    for language, words in (("en", 'The text has few signs "&".'), ("pt", "O texto não tem muitos sinais &.")):
        (remark,) = [each for each in hearsight(project, "feedback", text, "--notes", language) if each["name"] == "ampersands"]
        assert (remark["passed"], remark["text"]) == (False, words)
        assert remark["detail"] == "4; allowed: at most 3, set by paper.filter.max_ampersands"
    (setting,) = [row for row in hearsight(project, "params", "filter", "-d", "english") if row["name"] == "max_ampersands"]
    assert (setting["value"], setting["source"]) == (3, "Ours: more are a list of products.")
    (tried,) = hearsight(project, "try", stdin=f"{text}\n")
    assert (tried["verdict"], tried["rule"], tried["setting"]) == ("dropped", "ampersands", "paper.filter.max_ampersands")
    (result,) = hearsight(project, "calibrate", "--alts", "-", "--rule", "ampersands", "--out", str(tmp_path), stdin=f"{text}\n")
    assert result["candidates"] == 1 and "\tmax_ampersands\t" in (tmp_path / "rates.tsv").read_text(encoding="utf-8")


def test_a_rule_without_setting_and_portuguese_is_listed_shown_and_drops(project: Path) -> None:
    text = "A dog on the grass?"
    for language in ("en", "pt"):
        (remark,) = [each for each in hearsight(project, "feedback", text, "--notes", language) if each["name"] == "question"]
        assert (remark["passed"], remark["text"]) == (False, "The text is no question.")
        assert remark["detail"] == "?; allowed: no question mark at the end, no setting"
    (tried,) = hearsight(project, "try", "--explain-all", stdin=f"{text}\n")
    assert (tried["rule"], tried["value"], tried["setting"]) == ("question", "?", "no setting")
    assert "| `question` | – | The text is no question. |" in (project / "docs" / "cli.md").read_text(encoding="utf-8")


def test_a_table_in_the_layout_becomes_a_dataset(project: Path, tmp_path: Path) -> None:
    copy_settings(tmp_path, project)
    (tmp_path / "mine.txt").write_text("a.jpg;A dog on the beach.\n", encoding="utf-8")
    shutil.copy(PROJECT / "docs" / "images" / "report.png", tmp_path / "a.jpg")
    run(project, "-m", "components.cli.entry", "dataset", "add", "mine", "--table", "semicolons:mine.txt", root=tmp_path)
    assert "layout: semicolons" in (tmp_path / "datasets" / "mine.yaml").read_text(encoding="utf-8")


def test_the_captioner_has_a_cell_on_each_set_and_the_voice_is_listed(project: Path) -> None:
    cell = "captioners/cells/english-mean8x8"
    settings = {row["name"]: row["value"] for row in hearsight(project, "params", "train_captioner", "-d", cell)}
    assert (settings["name"], settings["network.width"]) == ("mean8x8", 128)
    assert "toneword-en" in {row["voice"] for row in hearsight(project, "voices")}


def test_the_tests_that_read_the_lists_pass(project: Path) -> None:
    run(project, "-m", "pytest", "-q", "-n0", *TESTS)
