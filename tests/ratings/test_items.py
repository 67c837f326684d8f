"""Reading of rating items."""

from __future__ import annotations

import io
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import soundfile
from PIL import Image

from components.core.digests import sha256_bytes, sha256_file
from components.core.errors import HearsightError
from components.ratings.items import RatingItems, item_key
from tests.support import make_output
from tests.support.ratings.made_items import make_items


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_items(tmp_path_factory.mktemp("items"))


def test_every_item_is_read_with_its_image_and_its_speech(folder: Path) -> None:
    items = RatingItems.open(folder)
    assert len(items) == len(set(items.keys)) == 12 and items.digest == sha256_file(folder / "manifest.json")
    for key in items.keys:
        item, audio = items.item(key), items.audio(key)
        assert key in items and item["key"] == key and item["uses"]
        assert sha256_bytes(items.image(key)) == item["image_sha256"]
        with Image.open(io.BytesIO(items.image(key))) as image:
            assert image.format == "JPEG"
        assert (audio is not None) == bool(item["audio_sha256"])
        if audio is not None:
            assert soundfile.info(io.BytesIO(audio)).samplerate == 16_000
    assert items.column("raters") == [items.item(key)["raters"] for key in items.keys]


def test_many_threads_read_the_same_bytes_as_one(folder: Path) -> None:
    items = RatingItems.open(folder)
    alone = [(items.item(key), items.image(key), items.audio(key)) for key in items.keys] * 20
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda key: (items.item(key), items.image(key), items.audio(key)), items.keys * 20))
    assert together == alone


def test_an_unknown_item_is_a_key_error(folder: Path) -> None:
    items = RatingItems.open(folder)
    assert "0" * 16 not in items
    for read in (items.item, items.image, items.audio):
        with pytest.raises(KeyError):
            read("0" * 16)


def test_another_stage_and_a_damaged_shard_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(HearsightError, match="no rating items but SPLIT"):
        RatingItems.open(make_output(tmp_path, "split", [[]]).path)
    copy = tmp_path / "data" / "english" / "build_rating_items"
    shutil.copytree(folder, copy)
    with (copy / "shards" / "00001.parquet").open("ab") as file:
        file.write(b"x")
    with pytest.raises(HearsightError, match="is not the file the manifest lists"):
        RatingItems.open(copy)


def test_a_key_is_that_of_what_is_shown() -> None:
    shown = item_key("a" * 64, "whole", "a dog")
    assert len(shown) == 16 and shown == item_key("a" * 64, "whole", "a dog")
    others = [item_key("b" * 64, "whole", "a dog"), item_key("a" * 64, "centre", "a dog"), item_key("a" * 64, "whole", "a cat")]
    spoken = item_key("a" * 64, "whole", "a dog", "c" * 64)
    assert len({shown, spoken, *others}) == 5
    assert spoken == item_key("a" * 64, "whole", "another wording of what is heard", "c" * 64)
