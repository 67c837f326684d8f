"""A release: the published layout, read back by our own table source; equal bytes each time; whole or not at all."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.metrics.caption_lengths import CaptionStatistics
from components.metrics.tokens import tokenize
from components.stages.crawl.run import run as run_crawl
from components.stages.crawl.sources.layouts import layout_named
from components.tools.release.files import ReleaseCounts, label_cells
from components.tools.release.kinds import release
from components.tools.release.publish import RELEASES, publish_folder
from components.web.html.page import fold
from tests.support import make_stage
from tests.support.command import hearsight
from tests.support.crawl.crawls import fixture_params
from tests.support.crawl.fixture_web import build_fixture_web
from tests.support.release.project import CHAIN, LABELS, LIST, ROWS, WEB, project
from tests.tools.release.posts_files import files


def read(path: Path, layout: str) -> list[tuple[str, str, str]]:
    return [(each.caption, each.url, each.rule) for each in layout_named(layout).rows(path, path.name)]


def test_the_files_have_the_published_layout(tmp_path: Path) -> None:
    done = release(project(tmp_path / "p"), "english", tmp_path / "out", "CC BY 4.0")
    assert {name: done[name] for name in ("train", "validation", "test", "labelled", "left_out", "written")} == {
        "train": 2, "validation": 1, "test": 1, "labelled": 1, "left_out": 0, "written": "yes",
    }  # fmt: skip
    made = files(tmp_path / "out")
    assert made["Train/english-training.tsv"].decode() == (
        f"a red kite over the water\t{WEB}/0000.jpg\nthe car in the sand\t{WEB}/0002.jpg\n"
    )
    assert made["Image_Labels_Subset_Train_english-Labels-training.tsv"].decode() == (
        f"a red kite over the water\t{WEB}/0000.jpg\tkite,sea lion brown\t/label/kite,/label/sea_lion_brown\t0.9428,1\n"
    )
    assert made["statistics.tsv"].decode().splitlines()[1:] == [
        "train\t2\t9\t5.5\t0.5\t5.5", "validation\t1\t5\t5.0\t0.0\t5.0", "test\t1\t7\t7.0\t0.0\t7.0",
    ]  # fmt: skip
    assert made["concepts.tsv"].decode() == LIST
    readme = made["README.md"].decode()
    assert "CC BY 4.0" in readme and "Sharma" in readme and "1 kept, 1 dropped" in readme
    assert not any(str(tmp_path).encode() in data for data in made.values())
    checked = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path / "out", capture_output=True, text=True)
    assert checked.returncode == 0 and checked.stdout.count(": OK") == len(made) - 1


def test_a_release_is_read_back_by_the_table_source(tmp_path: Path) -> None:
    release(project(tmp_path / "p"), "english", tmp_path / "out")
    build_fixture_web(tmp_path / "web", pages=8)
    crawled: dict[str, list[tuple[str, str]]] = {}
    for layout, name in (
        ("cc3m", "out/Train/english-training.tsv"),
        ("cc3m_labels", "out/Image_Labels_Subset_Train_english-Labels-training.tsv"),
    ):
        values = {"source": "table", "seeds": [], "hosts": [], "layout": layout, "inputs": [name], "language": "en"}
        job = make_stage(tmp_path, "crawl", layout, fixture_params(snapshot=layout, **values))
        run_crawl(job)
        job.finish()
        crawled[layout] = [(each["alt"], each["image_url"]) for each in StageOutput(job.out).table().to_pylist()]
    assert crawled == {"cc3m": [each[:2] for each in ROWS[:2]], "cc3m_labels": [ROWS[0][:2]]}


CAPTIONS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40)
NAMES = st.lists(
    st.fixed_dictionaries(
        {"label": st.text(st.characters(exclude_categories=("Cs",)), max_size=12), "confidence": st.floats(-0.5, 1.5, width=32)},
        optional={"identifier": st.sampled_from(["", "/m/02_41", "n01514668", None, "a,b"])},
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.long
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(CAPTIONS.filter(lambda text: text.strip("\ufeff\x00 ").split()), st.booleans()), min_size=1, max_size=6)
)
def test_any_caption_is_read_back_unchanged(tmp_path_factory: pytest.TempPathFactory, captions: list[tuple[str, bool]]) -> None:
    root = tmp_path_factory.mktemp("any")
    rows = [(text, f"{WEB}/{at}.jpg", "train", LABELS if some else []) for at, (text, some) in enumerate(captions)]
    release(project(root / "p", rows), "english", root / "out")
    back = read(root / "out/Train/english-training.tsv", "cc3m")
    assert [rule for *_, rule in back] == [""] * len(rows) and [url for _, url, _ in back] == [url for _, url, *_ in rows]
    for (text, *_), (caption, *_) in zip(rows, back, strict=True):
        assert caption == " ".join(text.replace("\ufeff", "").replace("\x00", "").split())
        if fold(text) == text and "\ufeff" not in text:  # as the crawl, and so every stage, gives it
            assert caption == text
    if any(some for _, some in captions):
        labelled = read(root / "out/Image_Labels_Subset_Train_english-Labels-training.tsv", "cc3m_labels")
        assert labelled == [each for each, (*_, labels) in zip(back, rows, strict=True) if labels]


@given(NAMES)
def test_any_labels_fit_their_layout(labels: list[dict[str, Any]]) -> None:
    counts = ReleaseCounts()
    cells = label_cells(labels, counts)
    read_back = layout_named("cc3m_labels").row(1, f"a dog\t{WEB}/0.jpg\t{cells}")  # type: ignore[attr-defined]
    assert read_back.rule == "" and [len(cell.split(",")) for cell in cells.split("\t")] == [len(labels)] * 3
    assert counts.labels.total() == len(labels)
    assert counts.labels["named"] == sum(bool(label.get("identifier")) for label in labels)


def test_equal_data_give_equal_bytes_and_a_second_release_changes_nothing(tmp_path: Path) -> None:
    first, second = project(tmp_path / "a"), project(tmp_path / "b")
    release(first, "english", tmp_path / "one")
    release(second, "english", tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "one").rglob("*")}
    assert release(first, "english", tmp_path / "one")["written"].startswith("no")
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "one").rglob("*")}


def changed(out: Path) -> None:
    (out / "Train" / "english-training.tsv").write_text("a hand was here\thttp://a.sample/b.jpg\n")


def added(out: Path) -> None:
    (out / "notes.txt").write_text("mine")


def other(out: Path) -> None:
    shutil.rmtree(out)
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")


@pytest.mark.long
@pytest.mark.parametrize("spoil", [changed, added, other])
def test_existing_files_are_never_overwritten(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    root, out = project(tmp_path / "p"), tmp_path / "out"
    release(root, "english", out)
    spoil(out)
    before = files(out)
    with pytest.raises(HearsightError, match=r"holds another release|is no release"):
        release(root, "english", out)
    assert files(out) == before and sorted(path.name for path in tmp_path.iterdir()) == ["out", "p"]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(HearsightError, match="is no release"):
        release(project(tmp_path / "p"), "english", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "a file"


def test_a_failed_release_leaves_no_file_and_the_next_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise HearsightError("no")

    dead = subprocess.Popen(["true"])
    dead.wait()
    (tmp_path / f".out.{dead.pid}.tmp").mkdir()
    with pytest.raises(HearsightError, match="no"):
        publish_folder(tmp_path / "out", fail)
    assert list(tmp_path.iterdir()) == []


def test_images_of_a_folder_are_skipped_and_counted_beside_those_on_the_web(tmp_path: Path) -> None:
    root = project(tmp_path / "p", [*ROWS, ("a dog", "file:a.jpg", "train", [])])
    assert release(root, "english", tmp_path / "out")["left_out"] == 1
    assert "1 records of the dataset are left out" in (tmp_path / "out" / "README.md").read_text()
    with pytest.raises(HearsightError, match="no record that can be released"):
        rows = [("a dog", "file:a.jpg", "train", []), ("a cat", "http://a b/", "train", [])]
        release(project(tmp_path / "q", rows), "english", tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_parts_of_different_runs_are_refused(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    newer = project(tmp_path / "q", extra=" more")
    shutil.rmtree(root / "data/english/hypernymize")
    shutil.copytree(newer / "data/english/hypernymize", root / "data/english/hypernymize")
    with pytest.raises(HearsightError, match=r"is not the output that english/dedup was made from.*dvc repro split@english"):
        release(root, "english", tmp_path / "out")


def test_an_unfinished_dataset_and_one_without_a_split_give_a_one_line_error(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    (root / "data/english/split/manifest.json").unlink()
    with pytest.raises(HearsightError, match="no finished output"):
        release(root, "english", tmp_path / "out")
    with pytest.raises(HearsightError, match="the stage 'split' is not in the chain"):
        release(root, "paper", tmp_path / "out")


@given(st.lists(st.text(st.sampled_from("ab c'."), max_size=12), min_size=1, max_size=20))
def test_statistics_are_those_of_the_standard_library(captions: list[str]) -> None:
    import statistics

    result = CaptionStatistics()
    for caption in captions:
        result.add(caption)
    lengths = [len(tokenize(caption)) for caption in captions]
    assert result.examples == len(captions) and result.median == statistics.median(lengths)
    assert result.mean == pytest.approx(statistics.mean(lengths)) and result.deviation == pytest.approx(
        statistics.pstdev(lengths)
    )
    assert result.unique == len({token for caption in captions for token in tokenize(caption)})


def test_a_release_contains_its_settings(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    release(root, "english", tmp_path / "out")
    result = yaml.safe_load((tmp_path / "out/settings.json").read_text())
    assert list(result["settings"]) == [f"english/{stage}" for stage in CHAIN]
    assert result["split_manifest_sha256"] == StageOutput(root / "data/english/split").digest


def test_a_list_of_releases_that_cannot_be_read_is_an_error_before_anything_is_written(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    (root / RELEASES).write_text("{\n")
    done = hearsight("release", "--out", str(tmp_path / "out"), HEARSIGHT_ROOT=str(root))
    assert done.returncode == 2 and b"releases.jsonl: line 1" in done.stderr and not (tmp_path / "out").exists()


@pytest.mark.long
def test_the_command_prints_what_it_wrote_and_refuses_with_one_line(tmp_path: Path) -> None:
    root = project(tmp_path / "p")

    def call(*words: str) -> subprocess.CompletedProcess[bytes]:
        return hearsight("release", "--out", str(tmp_path / "out"), *words, HEARSIGHT_ROOT=str(root))

    first = call()
    assert first.returncode == 0 and json.loads(first.stdout)["train"] == 2
    again = call("--licence", "another")
    assert again.returncode == 2 and again.stdout == b"" and b"README.md and 1 more would differ" in again.stderr.splitlines()[-1]
    assert call("--dataset", "nobody").stderr.count(b"\n") == 1
