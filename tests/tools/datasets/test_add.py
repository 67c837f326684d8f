"""`hearsight dataset add` writes a dataset that fits the project, and leaves the rest of params.yaml as it was."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from dvc.utils.serialize import load_yaml, modify_yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from components.cli.main import app
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.execution.runner import stage_settings
from components.tools.datasets.add import AFTER, add_dataset, check_name
from components.tools.datasets.source_options import of_site
from tests.core.contract import problems
from tests.support import PROJECT

TESTS = {
    "karpathy": (["--table", "karpathy:dataset_coco.json", "--images", "coco"], "dataset_coco.json"),
    "c40": (["--table", "coco:captions_c40.json", "--images", "c40"], "*"),
    "flickr1k": (["--table", "flickr30k:results.csv", "--images", "flickr30k", "--list", "test.txt"], "test.txt"),
    "cc": (["--table", "cc3m:Validation_GCC-1.1.0-Validation.tsv", "--contact", "mail@example.org"], "*"),
}
"""Test set → the options that add it, and the list of its test images."""
KINDS = {
    "site": ["--site", "https://example.org/"],
    "archive": ["--archive", "warc/*.warc.gz"],
    "table": ["--table", "tsv:captions.tsv"],
    "posts": ["--posts", "https://example.social#pracegover"],
}


def project(root: Path) -> Path:
    for name in ("components", "expectations"):
        (root / name).symlink_to(PROJECT / name)
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(PROJECT / name, root / name)
    return root


def add(root: Path, *words: str) -> str:
    done = CliRunner().invoke(app, ["dataset", "add", *words], env={"HEARSIGHT_ROOT": str(root)})
    if isinstance(done.exception, HearsightError):
        return str(done.exception)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_dataset_of_each_kind_fits_the_project_in_few_lines_which_dvc_can_change(tmp_path: Path, kind: str) -> None:
    root = project(tmp_path)
    before = (root / "params.yaml").read_text()
    result = add(root, "mine", *KINDS[kind], "--contact", "mail@example.org")
    assert "next: dvc repro check-extract_features@mine" in result
    assert problems(root) == []
    graph = load_graph(root)
    for stage in graph.stages_of("mine"):
        settings = stage_settings(graph, stage, "mine")
        if stage == "crawl":
            assert settings.snapshot == "mine-1"
    after = (root / "params.yaml").read_text()
    new = [line for line in after.splitlines() if "mine" in line or line not in before.splitlines()]
    assert len(new) <= 16 + len(graph.stages_of("mine"))
    block = after[after.index("\nmine:\n") :].strip().splitlines()
    assert len(block) <= 16
    kept = iter(after.splitlines())
    assert all(line in kept for line in before.splitlines())
    with modify_yaml(str(root / "params.yaml")):  # as `dvc exp run -S` writes it: without quotes
        pass
    assert load_yaml(str(root / "params.yaml")) == yaml.safe_load(after)


def test_a_site_without_a_contact_is_added_and_the_missing_setting_is_named(tmp_path: Path) -> None:
    result = add(project(tmp_path), "mine", "--site", "https://example.org/")
    assert "first correct" in result and "mine.crawl.contact: is empty" in result and "next: dvc repro" in result


@pytest.mark.long
@pytest.mark.parametrize("kind", TESTS)
def test_a_test_set_fits_the_project_and_reaches_every_captioner_in_twelve_lines(tmp_path: Path, kind: str) -> None:
    root, (words, listed) = project(tmp_path), TESTS[kind]
    before = (root / "params.yaml").read_text().splitlines()
    assert "next: dvc repro check-evaluate_captioners@captioners\n" in add(root, "mine", *words, "--test")
    assert problems(root) == []
    graph = load_graph(root)
    assert graph.inputs("evaluate_captioners", "captioners")["mine"] == graph.output("extract_features", "mine")
    split, features = (stage_settings(graph, stage, "mine") for stage in ("split", "extract_features"))
    assert (split.lists.train, split.lists.validation, split.lists.test) == ("", "", listed)
    assert features.encoder == stage_settings(graph, "extract_features", "english").encoder
    new = [line for line in (root / "params.yaml").read_text().splitlines() if line and line not in before]
    assert "  tests: [mine]" in new and len(new) <= 12


def test_a_second_test_set_joins_the_first(tmp_path: Path) -> None:
    root = project(tmp_path)
    for name in ("first", "second"):
        add(root, name, *TESTS["c40"][0], "--test")
    assert "  tests: [first, second]" in (root / "params.yaml").read_text()


def test_a_retrieval_test_set_is_spoken_and_read_with_the_models_own_encoder(tmp_path: Path) -> None:
    root = project(tmp_path)
    result = add(root, "mine", *TESTS["c40"][0], "--retrieval", "stamps/finetune_retrieval")
    assert "next: dvc repro check-evaluate_retrieval@mine\n" in result
    assert problems(root) == []
    graph = load_graph(root)
    assert graph.inputs("evaluate_retrieval", "mine") == {
        "input": graph.output("finetune_retrieval", "stamps"),
        "speech": graph.output("synthesize", "mine"),
        "pictures": graph.output("extract_features", "mine"),
    }
    own, model = (stage_settings(graph, "extract_features", name) for name in ("mine", "stamps"))
    assert (own.encoder, own.centre, own.grid) == (model.encoder, True, False)
    assert "mine" not in graph.inputs("evaluate_captioners", "captioners")
    both = add(root, "both", *TESTS["c40"][0], "--test", "--retrieval", "stamps/finetune_retrieval")
    assert "next: dvc repro check-evaluate_captioners@captioners check-evaluate_retrieval@both\n" in both
    features = stage_settings(load_graph(root), "extract_features", "both")
    assert (features.centre, features.grid) == (True, True) and problems(root) == []


def without_captioners(content: dict) -> None:
    content["captioners"]["sets"] = []


def without_evaluation(content: dict) -> None:
    content["chain"]["evaluate_captioners"] = {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_captioners, "captioners.sets: names no training set"),
        (without_evaluation, "evaluate_captioners: tests no captioner"),
    ],
)
def test_a_test_set_without_captioners_to_test_is_refused(tmp_path: Path, change, message: str) -> None:
    root = project(tmp_path)
    content = yaml.safe_load((root / "params.yaml").read_text())
    change(content)
    (root / "params.yaml").write_text(yaml.safe_dump(content))
    assert message in add(root, "mine", *TESTS["c40"][0], "--test")


@pytest.mark.long
@given(st.lists(st.sampled_from(sorted(AFTER)), unique=True, min_size=1))
def test_any_chosen_stages_are_connected_or_refused_and_other_datasets_are_unchanged(
    tmp_path_factory: pytest.TempPathFactory, stages: list[str]
) -> None:
    root = project(tmp_path_factory.mktemp("project"))
    before = yaml.safe_load((root / "params.yaml").read_text())
    try:
        add_dataset(root, "mine", of_site("https://example.org/"), stages)
    except HearsightError as error:
        assert "needs one of" in str(error)
        assert yaml.safe_load((root / "params.yaml").read_text()) == before
        return
    after = yaml.safe_load((root / "params.yaml").read_text())
    assert set(after.pop("mine")) == {"crawl", *stages}
    taken = {stage: takers.pop("mine") for stage, takers in after["chain"].items() if "mine" in takers}
    assert set(taken) == {"crawl", *stages} and after == before
    assert problems(root) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["english", "--site", "https://example.org/"], "there is a dataset 'english' already"),
        (["Mine", "--site", "https://example.org/"], "'Mine' cannot name a dataset"),
        (["mine"], "takes one source"),
        (["mine", "--site", "https://a.org/", "--archive", "a.warc"], "takes one source"),
        (["mine", "--site", "example.org"], "'example.org' is no address"),
        (["mine", "--table", "csv:a.csv"], "'csv:a.csv' names no table"),
        (["mine", "--posts", "https://example.social"], "names no hashtag"),
        (["mine", "--site", "https://example.org/", "--stages", "report"], "'report' cannot be added this way"),
        (["mine", "--site", "https://example.org/", "--test"], "--test, --retrieval and --list cannot be used alone"),
        (["mine", "--table", "tsv:a.tsv", "--list", "a.txt"], "--list cannot be used alone"),
        (["mine", "--table", "tsv:a.tsv", "--test", "--stages", "split"], "a test set needs extract_features"),
        (["mine", "--table", "tsv:a.tsv", "--retrieval", "spoken/pretrain"], "did you mean 'spoken/pretrain_retrieval'?"),
        (["mine", "--site", "https://example.org/", "--stages", "evaluate_speech"], "'evaluate_speech' needs one of synthesize"),
    ],
)
def test_an_invalid_addition_gives_a_one_line_error_and_changes_no_file(tmp_path: Path, words: list[str], message: str) -> None:
    root = project(tmp_path)
    before = (root / "params.yaml").read_bytes()
    assert message in add(root, *words)
    assert (root / "params.yaml").read_bytes() == before


REFUSED = {
    "none": "absent input", "crawl": "is a stage", "evaluate_captioners": "is a stage", "captioners": "already",
    "chain": "a key of", "engine": "a key of", "pools": "a key of", "key": "a key of",
    "true": "YAML", "null": "YAML", "yes": "YAML", "off": "YAML", "y": "YAML",
    "gates": "a folder of", "store": "a folder of", "con": "Windows", "lpt1": "Windows",
    "x" * 61: "over 60 characters", "paper": "a dataset 'paper' already", "1": "small letters", "1e5": "small letters",
    "_a": "small letters", "a/b": "small letters", "..": "small letters", "a b": "small letters", "": "small letters",
    "a\n": "small letters",
}  # fmt: skip
"""Name → part of the reason why a dataset cannot have it."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_means_something_else_is_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    root = project(tmp_path)
    before = (root / "params.yaml").read_bytes()
    message = add(root, name, "--site", "https://example.org/")
    assert REFUSED[name] in message and (root / "params.yaml").read_bytes() == before


def test_every_stage_and_every_key_is_refused_as_a_name(tmp_path: Path) -> None:
    graph = load_graph(project(tmp_path))
    for name in {*graph.stages, *graph.params, *graph.datasets}:
        with pytest.raises(HearsightError, match=r"cannot name a dataset|already"):
            check_name(name, graph)


def test_a_file_with_another_structure_is_refused(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / "params.yaml").write_text("chain: {crawl: {english: {}}}\nenglish: {crawl: {snapshot: a}}\n")
    assert "is not laid out as" in add(root, "mine", *KINDS["site"])
