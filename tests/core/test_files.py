"""A file or folder appears whole under its name, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.files import publish, publish_bytes, publish_folder


def half_then_fail(path: Path) -> None:
    path.write_text("half")
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("durable", [True, False])
def test_a_failed_write_keeps_the_old_file_alone(tmp_path: Path, durable: bool) -> None:
    target = tmp_path / "deep" / "file"
    publish_bytes(target, b"old", durable=durable)
    with pytest.raises(HearsightError, match="no space"):
        publish(target, half_then_fail, durable=durable)
    assert [path.name for path in target.parent.iterdir()] == ["file"] and target.read_bytes() == b"old"


@pytest.mark.parametrize(("keep", "content"), [(True, "old"), (False, "new")])
def test_an_existing_folder_is_kept_or_replaced_as_requested(tmp_path: Path, keep: bool, content: str) -> None:
    def fill(text: str, folder: Path) -> None:
        (folder / "file").write_text(text)

    target = tmp_path / "deep" / "folder"
    assert publish_folder(target, lambda folder: fill("old", folder), lambda _: pytest.fail("there is no other"))
    assert publish_folder(target, lambda folder: fill("new", folder), lambda _: keep) is not keep
    assert [path.name for path in target.parent.iterdir()] == ["folder"] and (target / "file").read_text() == content


def test_a_folder_that_cannot_be_filled_does_not_appear(tmp_path: Path) -> None:
    with pytest.raises(HearsightError, match="no space"):
        publish_folder(tmp_path / "folder", lambda folder: half_then_fail(folder / "file"), lambda _: True)
    assert not list(tmp_path.iterdir())
