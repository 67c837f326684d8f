"""`hearsight dataset add` writes a dataset that fits the project, and leaves the rest of params.yaml as it was."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from dvc.utils.serialize import load_yaml, modify_yaml
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import OWN_CHAIN, YAML_LOADER, read_params_file, read_yaml
from components.execution.runner import stage_settings
from components.tools.datasets.add import AFTER, add_dataset, check_name
from components.tools.datasets.source_options import of_site
from tests.support.contract import problems
from tests.support.datasets import add, project
from tests.support.settings_files import texts, write_settings

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
    "exported posts": ["--posts", "export/posts.jsonl#pracegover"],
}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_dataset_of_each_kind_fits_the_project_in_few_lines_which_dvc_can_change(tmp_path: Path, kind: str) -> None:
    root = project(tmp_path)
    before = texts(root)
    result = add(root, "mine", *KINDS[kind], "--contact", "mail@example.org")
    assert "next: dvc repro extract_features@mine" in result
    assert problems(root) == []
    graph = load_graph(root)
    for stage in graph.stages_of("mine"):
        settings = stage_settings(graph, stage, "mine")
        if stage == "crawl":
            assert settings.snapshot == "mine-1"
    after = texts(root)
    assert {name for name in after if after[name] != before.get(name)} == {OWN_CHAIN, "datasets/mine.yaml"}
    for name in (OWN_CHAIN, "datasets/mine.yaml"):
        with modify_yaml(str(root / name)):  # as `dvc exp run -S` writes it: without quotes
            pass
        assert load_yaml(str(root / name)) == read_yaml(root / name) == yaml.load(after[name], YAML_LOADER)


def test_a_site_states_each_loosened_threshold_with_the_papers_value_beside_it(tmp_path: Path) -> None:
    root = project(tmp_path)
    add(root, "mine", *KINDS["site"], "--contact", "mail@example.org")
    text = texts(root)["datasets/mine.yaml"]
    for setting, value in (
        ("sides_over: 99", "400"),
        ("formats:", "JPEG"),
        ("max_aspect_ratio: 3.0", "2"),
        ("test: 0.15", ".0067"),
    ):
        assert re.search(rf"^ *{re.escape(setting)}   # .*CC .*{re.escape(value)}$", text, re.MULTILINE), setting
    graph = load_graph(root)
    kept, paper = (stage_settings(graph, "filter", name) for name in ("mine", "paper"))
    assert set(kept.formats) > set(paper.formats) and kept.sides_over < paper.sides_over
    assert kept.max_aspect_ratio > paper.max_aspect_ratio
    assert stage_settings(graph, "hypernymize", "mine").min_concept_count == 1


@pytest.mark.parametrize("kind", ["table", "exported posts"])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, kind: str) -> None:
    root, words = project(tmp_path), KINDS[kind]
    file = words[1].partition("#")[0].rpartition(":")[2]
    assert f"warning: {file}: there is no such file yet" in add(root, "mine", *words)
    (root / file).parent.mkdir(exist_ok=True)
    (root / file).touch()
    assert "warning" not in add(root, "again", *words)


@pytest.mark.parametrize("words", [(), ("--allow-private",)])
def test_private_addresses_are_asked_only_with_their_option(tmp_path: Path, words: tuple[str, ...]) -> None:
    root = project(tmp_path)
    add(root, "mine", *KINDS["site"], "--contact", "mail@example.org", *words)
    assert stage_settings(load_graph(root), "crawl", "mine").allow_private == bool(words)


@pytest.mark.parametrize(
    "url", ["http://localhost:8000/", "https://10.0.0.1/a", "http://[::1]/", "http://nas.local/", "http://127.1"]
)
@pytest.mark.parametrize("option", ["--site", "--posts"])
def test_a_source_at_a_private_address_is_refused_before_anything_is_written(tmp_path: Path, option: str, url: str) -> None:
    root = project(tmp_path)
    before = texts(root)
    words = (option, url if option == "--site" else f"{url}#pracegover", "--contact", "mail@example.org")
    assert re.match(r"--allow-private: \S+ is a private address, which is not asked", add(root, "mine", *words))
    assert texts(root) == before
    add(root, "mine", *words, "--allow-private")
    assert stage_settings(load_graph(root), "crawl", "mine").allow_private


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_training_set_joins_the_captioners_and_one_of_them_is_tested_on_it_alone(tmp_path: Path, kind: str) -> None:
    root = project(tmp_path)
    result = add(root, "mine", *KINDS[kind], "--contact", "mail@example.org", "--train")
    assert "next: dvc repro evaluate_captioners@mine\n" in result and "--model mine-rnn1x1\n" in result
    assert problems(root) == []
    graph = load_graph(root)
    assert graph.inputs("evaluate_captioners", "mine") == {
        "mine": graph.output("extract_features", "mine"),
        "mine-rnn1x1": graph.output("train_captioner", "captioners/cells/mine-rnn1x1"),
    }
    for cell in (name for name, cell in graph.cells.items() if cell.set == "mine"):
        settings = stage_settings(graph, "train_captioner", cell)
        assert (settings.network.epochs, settings.network.width, settings.training.min_count) == (40, 128, 1)
    every = graph.inputs("evaluate_captioners", "captioners")
    assert {"mine", "mine-rnn1x1", "mine-t2t8x8", "english-rnn1x1"} <= set(every)


def test_a_test_set_reaches_the_captioner_of_ones_own_too(tmp_path: Path) -> None:
    root = project(tmp_path)
    add(root, "mine", *KINDS["table"], "--train")
    add(root, "other", *TESTS["c40"][0], "--test")
    graph = load_graph(root)
    assert set(graph.inputs("evaluate_captioners", "mine")) == {"mine", "mine-rnn1x1", "other"}


@pytest.mark.long
@pytest.mark.parametrize("kind", TESTS)
def test_a_test_set_fits_the_project_and_reaches_every_captioner_in_twelve_lines(tmp_path: Path, kind: str) -> None:
    root, (words, listed) = project(tmp_path), TESTS[kind]
    before = texts(root)
    assert "next: dvc repro evaluate_captioners@captioners\n" in add(root, "mine", *words, "--test")
    assert problems(root) == []
    graph = load_graph(root)
    assert graph.inputs("evaluate_captioners", "captioners")["mine"] == graph.output("extract_features", "mine")
    split, features = (stage_settings(graph, stage, "mine") for stage in ("split", "extract_features"))
    assert (split.lists.train, split.lists.validation, split.lists.test) == ("", "", listed)
    assert features.encoder == stage_settings(graph, "extract_features", "english").encoder
    after = texts(root)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {OWN_CHAIN, "datasets/captioners.yaml", "datasets/mine.yaml"}


def test_a_second_test_set_joins_the_first(tmp_path: Path) -> None:
    root = project(tmp_path)
    for name in ("first", "second"):
        add(root, name, *TESTS["c40"][0], "--test")
    assert load_graph(root).test_sets("captioners") == ["first", "second"]


def test_a_retrieval_test_set_is_spoken_and_read_with_the_models_own_encoder(tmp_path: Path) -> None:
    root = project(tmp_path)
    result = add(root, "mine", *TESTS["c40"][0], "--retrieval", "stamps/finetune_retrieval")
    assert "next: dvc repro evaluate_retrieval@mine\n" in result
    assert problems(root) == []
    graph = load_graph(root)
    assert graph.inputs("evaluate_retrieval", "mine") == {
        "input": graph.output("finetune_retrieval", "stamps"),
        "speech": graph.output("synthesize", "mine"),
        "images": graph.output("extract_features", "mine"),
    }
    own, model = (stage_settings(graph, "extract_features", name) for name in ("mine", "stamps"))
    assert (own.encoder, own.centre, own.grid) == (model.encoder, True, False)
    assert "mine" not in graph.inputs("evaluate_captioners", "captioners")
    both = add(root, "both", *TESTS["c40"][0], "--test", "--retrieval", "stamps/finetune_retrieval")
    assert "next: dvc repro evaluate_captioners@captioners evaluate_retrieval@both\n" in both
    features = stage_settings(load_graph(root), "extract_features", "both")
    assert (features.centre, features.grid) == (True, True) and problems(root) == []


def without_captioners(content: dict) -> None:
    content["captioners"]["sets"] = []


def without_evaluation(content: dict) -> None:
    content["chain"]["evaluate_captioners"] = {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_captioners, "captioners.yaml: sets: names no training set"),
        (without_evaluation, "evaluate_captioners: tests no captioner"),
    ],
)
def test_a_test_set_without_captioners_to_test_is_refused(tmp_path: Path, change, message: str) -> None:
    root = project(tmp_path)
    content = read_params_file(root / "params.yaml")
    change(content)
    write_settings(root, content)
    assert message in add(root, "mine", *TESTS["c40"][0], "--test")


@pytest.mark.long
@given(st.lists(st.sampled_from(sorted(AFTER)), unique=True, min_size=1))
def test_any_chosen_stages_are_connected_or_refused_and_other_datasets_are_unchanged(
    tmp_path_factory: pytest.TempPathFactory, stages: list[str]
) -> None:
    root = project(tmp_path_factory.mktemp("project"))
    before = read_params_file(root / "params.yaml")
    try:
        add_dataset(root, "mine", of_site("https://example.org/"), stages, "mail@example.org")
    except HearsightError as error:
        assert "needs one of" in str(error)
        assert read_params_file(root / "params.yaml") == before
        return
    after = read_params_file(root / "params.yaml")
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
        (["mine", "--table", "xls:a.xls"], "'xls:a.xls' names no table"),
        (["mine", "--posts", "https://example.social"], "names no hashtag"),
        (["mine", "--site", "https://example.org/", "--stages", "report"], "'report' cannot be added this way"),
        (["mine", "--site", "https://example.org/"], "--contact: is empty"),
        (["mine", "--table", "flickr30k:results.csv"], "--images: is empty"),
        (["mine", "--table", "tsv:a.tsv", "--language", "english"], "--language: 'english' is no language"),
        (["mine", "--table", "tsv:a.tsv", "--train", "--test"], "--train and a test set exclude each other"),
        (["mine", "--table", "tsv:a.tsv", "--train", "--stages", "split"], "it needs extract_features"),
        (["mine", "--posts", "#pracegover"], "names no hashtag"),
        (["mine", "--posts", "posts.jsonl"], "names no hashtag"),
        (["mine", "--site", "https://example.org/", "--test"], "--test, --retrieval and --list cannot be used alone"),
        (["mine", "--table", "tsv:a.tsv", "--list", "a.txt"], "--list cannot be used alone"),
        (["mine", "--table", "tsv:a.tsv", "--test", "--stages", "split"], "it needs extract_features"),
        (["mine", "--table", "tsv:a.tsv", "--retrieval", "spoken/pretrain"], "did you mean 'spoken/pretrain_retrieval'?"),
        (["mine", "--site", "https://example.org/", "--stages", "evaluate_speech"], "'evaluate_speech' needs one of synthesize"),
    ],
)
def test_an_invalid_addition_gives_a_one_line_error_and_changes_no_file(tmp_path: Path, words: list[str], message: str) -> None:
    root = project(tmp_path)
    before = texts(root)
    assert message in add(root, *words)
    assert texts(root) == before


REFUSED = {
    "none": "absent input", "crawl": "is a stage", "evaluate_captioners": "is a stage", "captioners": "already",
    "chain": "another meaning", "engine": "another meaning", "pools": "another meaning", "key": "another meaning",
    "true": "YAML", "null": "YAML", "yes": "YAML", "off": "YAML", "y": "YAML",
    "captioner_tests": "a folder of", "store": "a folder of", "con": "Windows", "lpt1": "Windows",
    "x" * 61: "over 60 characters", "paper": "a dataset 'paper' already", "1": "small letters", "1e5": "small letters",
    "_a": "small letters", "a/b": "small letters", "..": "small letters", "a b": "small letters", "": "small letters",
    "a\n": "small letters",
}  # fmt: skip
"""Name → part of the reason why a dataset cannot have it."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_means_something_else_is_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    root = project(tmp_path)
    before = texts(root)
    message = add(root, name, "--site", "https://example.org/")
    assert REFUSED[name] in message and texts(root) == before


def test_every_stage_and_every_key_is_refused_as_a_name(tmp_path: Path) -> None:
    graph = load_graph(project(tmp_path))
    for name in {*graph.stages, *graph.params, *graph.datasets}:
        with pytest.raises(HearsightError, match=r"cannot name a dataset|already"):
            check_name(name, graph)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("datasets/mine.yaml", "{}", "'mine' is in params.yaml too"),
        (OWN_CHAIN, "chain: {crawl: {english: {}}}", "chain.crawl.english is in params.yaml too"),
        (OWN_CHAIN, "english: {}", "is not the chain"),
    ],
)
def test_a_dataset_in_two_files_is_an_error_that_names_the_file(tmp_path: Path, file: str, content: str, message: str) -> None:
    root = project(tmp_path)
    with (root / "params.yaml").open("a") as params:
        params.write("mine: {}\n" if "mine" in file else "")
    (root / file).write_text(content)
    with pytest.raises(HearsightError, match=message) as caught:
        load_graph(root)
    assert file in str(caught.value)
