"""Every file of an output is compared with its manifest before a stage uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from tests.support import make_output, row


@pytest.fixture
def output(tmp_path: Path) -> StageOutput:
    return make_output(tmp_path, "crawl", [[row("crawl", key="a" * 16, media="00000/a.png")]], media=[{"a.png": b"image" * 500}])


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def test_one_changed_byte_of_a_ledger_is_named_by_its_reader(output):
    assert output.ledger().num_rows == 1
    flip(output.path / "ledger" / "00000.parquet", 40)
    with pytest.raises(HearsightError, match=r"ledger/00000\.parquet: is not the file the manifest lists.*dvc repro --force"):
        StageOutput(output.path).ledger()


@pytest.mark.parametrize("damage", [lambda path: flip(path, 700), lambda path: path.write_bytes(b""), Path.unlink])
def test_a_damaged_tar_of_media_is_named_by_its_reader(output, damage):
    assert output.read_media("00000/a.png") == b"image" * 500
    damage(output.path / "media" / "00000.tar")
    with pytest.raises(HearsightError, match=r"media/00000\.tar: is .*dvc repro --force"):
        StageOutput(output.path).read_media("00000/a.png")


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(path.read_bytes()[:700]), Path.unlink])
def test_a_tar_of_media_that_is_cut_or_removed_after_it_was_opened_is_named(output, damage):
    output.read_media("00000/a.png")
    damage(output.path / "media" / "00000.tar")
    with pytest.raises(HearsightError, match=r"media/00000\.tar: (was cut|cannot be read)"):
        output.read_media("00000/a.png")


def test_media_that_the_manifest_does_not_list_are_refused(output):
    with pytest.raises(HearsightError, match="holds no media '00007'"):
        output.read_media("00007/a.png")


@pytest.mark.parametrize("content", [b"", b"{}", b'"text"', b"[1]", b"null", b"{\n"])
def test_a_damaged_manifest_names_the_command_that_makes_the_output_again(output, content):
    (output.path / "manifest.json").write_bytes(content)
    with pytest.raises(HearsightError, match=r"manifest\.json: is not a manifest .*run `dvc repro --force -s crawl@english`"):
        _ = StageOutput(output.path).manifest
