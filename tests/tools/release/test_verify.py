"""A release is verified: digests, tables, images, audio, metadata and card, each as the import reads it."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from components.core.errors import HearsightError
from components.core.shards import write_tar
from components.tools.release.kinds import release
from components.tools.release.posts import write_archive
from components.tools.release.publish import SUMS, checksums
from components.tools.release.verify import SHOWN, verify_release
from tests.support.command import hearsight
from tests.support.release.project import project
from tests.tools.release.spoken_project import CAPTIONS, VOICES, spoken_project

CORPUS = "speech/voices_of_mine-synthetic"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of captions with speech."""
    root = tmp_path_factory.mktemp("verify")
    release(spoken_project(root / "p"), "mine", root / "out", "CC BY 4.0")
    return root / "out"


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "copy")
    return tmp_path / "copy"


def test_a_whole_release_of_each_kind_has_no_errors(whole: Path, posts_release: Path, tmp_path: Path) -> None:
    release(project(tmp_path / "p"), "english", tmp_path / "out")
    for folder, utterances in ((whole, 8), (posts_release, None), (tmp_path / "out", None)):
        result = verify_release(folder)
        assert result.errors == [] and result.counts.get("utterances") == utterances
    assert verify_release(whole).counts["not_stated"] == "creators, url, published, purpose, biases, impact, updates"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_bytes()
    assert old.encode() in text
    path.write_bytes(text.replace(old.encode(), new.encode(), 1))


def test_changed_missing_and_added_files_are_named(copy: Path) -> None:
    change(copy / "README.md", "8 captions", "9 captions")
    (copy / "statistics.tsv").unlink()
    (copy / "more.txt").write_text("more")
    assert verify_release(copy).errors == [
        "statistics.tsv is missing", f"more.txt is not listed in {SUMS}", "README.md is not the file that was released",
    ]  # fmt: skip


def members_of(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def rewrite_audio(corpus: Path, audio: bytes) -> None:
    members = members_of(corpus / "test-00000.tar")
    first = min(name for name in members if name.endswith(".flac"))
    members |= {first: audio}
    write_tar(corpus / "test-00000.tar", {name: data for name, data in members.items() if data})


def exchange_speech(out: Path) -> None:
    rewrite_audio(out / CORPUS, b"no sound")


def lose_speech(out: Path) -> None:
    rewrite_audio(out / CORPUS, b"")


def change_member(out: Path, end: str, old: bytes, new: bytes) -> None:
    path = out / CORPUS / "test-00000.tar"
    members = members_of(path)
    name = next(name for name, data in members.items() if name.endswith(end) and old in data)
    write_tar(path, members | {name: members[name].replace(old, new)})


def change_spoken(out: Path) -> None:
    path = out / CORPUS / "manifests/test"
    change(path.with_suffix(".csv"), ',"A dog runs, spoken"', ',"A cat runs, spoken"')
    typed = path.with_name("test-00000.parquet")
    rows = [{**row, "spoken": row["spoken"].replace("dog", "cat")} for row in pq.read_table(typed).to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows), typed)


def state_another_size(out: Path) -> None:
    document = json.loads((out / "croissant.json").read_text())
    document["distribution"][0]["contentSize"] = "1 B"
    (out / "croissant.json").write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (
            lambda out: change(out / "Test/mine-test.tsv", "A dog runs", "A cat runs"),
            "mine-test.tsv: line 1 is not read as record",
        ),
        (lambda out: change(out / "Test/mine-test.tsv", "A dog", "A\tdog"), "mine-test.tsv: line 1 is not read as record"),
        (lambda out: change(out / "records/test.csv", "A dog runs", "A cat runs"), "mine-test.tsv: line 1 is not read as record"),
        (lambda out: change(out / "records/test.csv", ",test,", ",train,"), "has a record of the split 'train'"),
        (lambda out: change(out / "records/test.csv", "id,", "name,"), "records cannot be read: has no column 'id'"),
        (lambda out: change(out / f"{CORPUS}/manifests/test.csv", "A dog runs", "A cat"), "is not of its record"),
        (lambda out: change(out / f"{CORPUS}/voices.csv", f"{VOICES[0]},", "nobody,"), "voices.csv lacks flite-slt"),
        (lambda out: change(out / f"{CORPUS}/manifests/test.csv", ",wavs/", ",waves/"), "is no file of wavs/"),
        (exchange_speech, "is not the audio of 0000000000000006-0"),
        (lose_speech, "the audio of 0000000000000006-0 is missing"),
        (lambda out: change(out / "README.md", "split: test", "split: train"), "README.md states other configs"),
        (lambda out: change(out / "README.md", "configs:", "configs: []\nother:"), "README.md states other configs"),
        (change_spoken, "the text or values of 0000000000000006-0 are not those of its manifest"),
        (lambda out: change_member(out, ".txt", b"A dog", b"A cat"), "the text or values of 0000000000000006-0"),
        (lambda out: change_member(out, ".json", b"flite-slt", b"nobody"), "the text or values of 0000000000000006-0"),
        (lambda out: change(out / "statistics.tsv", "train\t4", "train\t5"), "statistics.tsv does not count the records"),
        (state_another_size, "croissant.json: README.md is not described as it is"),
        (lambda out: change(out / "settings.json", '"layout": "tsv"', '"layout": "cc3m"'), "tables cannot be read"),
        (lambda out: (out / "croissant.json").write_text("{"), "croissant.json cannot be read"),
        (lambda out: (out / "link").symlink_to("README.md"), "link is not described as it is"),
        (lambda out: (out / "lost").symlink_to("nothing"), "lost"),
        # The official library follows an empty node until the stack ends.
        (
            lambda out: change(out / "croissant.json", '"https://spdx.org/licenses/CC-BY-4.0.html"', "{}"),
            "croissant.json cannot be read",
        ),
    ],
)
def test_a_release_that_is_not_imported_as_it_was_released_has_an_error(
    copy: Path, spoil: Callable[[Path], None], error: str
) -> None:
    spoil(copy)
    (copy / SUMS).write_text(checksums(copy))
    errors = verify_release(copy).errors
    assert any(error in line for line in errors), errors
    assert not any("\n" in line for line in errors)


def test_images_and_splits_of_posts_are_compared_with_the_records(posts_release: Path, tmp_path: Path) -> None:
    shutil.copytree(posts_release, tmp_path / "copy")
    change(tmp_path / "copy/splits/test.json", '[\n"', '[\n"x')
    write_archive(tmp_path / "copy/images.tar.gz", [("images/other.jpg", b"")])
    (tmp_path / "copy" / SUMS).write_text(checksums(tmp_path / "copy"))
    errors = verify_release(tmp_path / "copy").errors
    assert "splits/test.json does not list the records of test" in errors
    assert "images.tar.gz: images/other.jpg is not the image of a record" in errors
    # 24 images are missing, and two lines come before: the rest is counted.
    assert f"tables: {24 + 2 - SHOWN} more errors" in errors


def test_labels_are_compared_with_the_training_records(tmp_path: Path) -> None:
    release(project(tmp_path / "p"), "english", tmp_path / "out")
    name = "Image_Labels_Subset_Train_english-Labels-training.tsv"
    change(tmp_path / "out" / name, "a red kite", "a blue kite")
    (tmp_path / "out" / SUMS).write_text(checksums(tmp_path / "out"))
    assert f"{name}: line 1 is not read as a record of train" in verify_release(tmp_path / "out").errors


@pytest.mark.parametrize("spoil", [lambda data: data[: len(data) // 2], lambda data: data[:40] + b"\xff" * 40 + data[80:]])
def test_a_damaged_archive_is_an_error_and_no_traceback(
    posts_release: Path, tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    shutil.copytree(posts_release, tmp_path / "copy")
    path = tmp_path / "copy/images.tar.gz"
    path.write_bytes(spoil(path.read_bytes()))
    (tmp_path / "copy" / SUMS).write_text(checksums(tmp_path / "copy"))
    errors = verify_release(tmp_path / "copy").errors
    assert any(line.startswith("tables cannot be read: ") for line in errors) and not any("\n" in line for line in errors)


def test_the_command_prints_one_line_for_each_error_and_exits_with_2(copy: Path, tmp_path: Path) -> None:
    def call(folder: Path) -> subprocess.CompletedProcess[bytes]:
        return hearsight("verify-release", str(folder), HEARSIGHT_ROOT=str(tmp_path))

    done = call(copy)
    assert done.returncode == 0, done.stderr
    assert {"train": 4, "utterances": len(CAPTIONS), "verified": "yes"}.items() <= json.loads(done.stdout).items()
    change(copy / "statistics.tsv", "train", "trail")
    (copy / "more.txt").write_text("more")
    failed = call(copy)
    assert failed.returncode == 2 and failed.stdout == b"" and failed.stderr.count(b"\n") == 3
    assert b"has 2 errors" in failed.stderr.splitlines()[-1]
    assert call(tmp_path / "nothing").returncode == 2
    with pytest.raises(HearsightError, match="is no release"):
        verify_release(tmp_path)
