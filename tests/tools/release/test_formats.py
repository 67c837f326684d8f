"""The samples of a release are loaded by pandas, Hugging Face datasets and WebDataset, with images, captions and audio."""

from __future__ import annotations

import io
import json
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile
from PIL import Image

from components.core.digests import sha256_bytes
from components.core.shards import write_tar
from components.tools.release import split_files
from components.tools.release.formats import sample_key
from components.tools.release.kinds import release
from components.tools.release.publish import SUMS, checksums
from components.tools.release.split_files import ParquetShards
from components.tools.release.verify import verify_release
from components.tools.takedown.listing import add
from tests.support import PROJECT
from tests.support.release.posts_project import posts, project
from tests.support.release.project import ROWS, WEB
from tests.support.release.project import project as web_project
from tests.tools.release.posts_files import archive, files, refusal
from tests.tools.release.spoken_project import CAPTIONS, VOICES, Caption, spoken, spoken_project

ALL = ("parquet", "webdataset")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of local images with two captions each, and of their speech."""
    root = tmp_path_factory.mktemp("formats")
    made = release(spoken_project(root / "p"), "mine", root / "out", "CC0", formats=ALL, images_licence="CC BY 4.0")
    assert (made["samples"], made["images"]) == (4, 4)
    return root / "out"


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``datasets.load_dataset``, without a network and with a cache of its own."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    return lambda folder, *names: datasets.load_dataset(str(folder), *names, cache_dir=str(tmp_path / "cache"))


def pixels(data: bytes) -> bytes:
    with Image.open(io.BytesIO(data)) as image:
        return image.tobytes()


def expected(split: str) -> dict[str, list[int]]:
    """Return image → numbers of its captions in a split."""
    images: dict[str, list[int]] = {}
    for number, each in enumerate(CAPTIONS):
        if each.split == split:
            images.setdefault(each.image, []).append(number)
    return images


def compare(sample: dict[str, Any], image: bytes, sounds: list[bytes], numbers: list[int]) -> None:
    """Compare a sample with the captions of the project that have these numbers."""
    captions = [CAPTIONS[number] for number in numbers]
    assert list(sample["captions"]) == [" ".join(each.caption.split()) for each in captions]
    assert list(sample["records"]) == [each.key for each in captions] and set(sample["languages"]) == {"en"}
    assert sample["key"] == sample_key(captions[0].image) and sample["image_address"] == captions[0].image
    assert pixels(image) == pixels(captions[0].shown) and b"Maria" not in image and b"Maria" in captions[0].shown
    assert sample["sha256"] == sha256_bytes(image) and sample["image_sha256"] == sha256_bytes(captions[0].shown)
    assert (sample["width"], sample["height"]) == (24, 16)
    assert sounds == [spoken(each, VOICES, "synthetic")["audio"] for each in captions]
    assert [each["record"] for each in sample["utterances"]] == list(sample["records"])
    assert {each["corpus"] for each in sample["utterances"]} == {"voices_of_mine-synthetic"}
    assert sample["utterances"][0]["pitch"] == -0.5


def test_pandas_reads_a_row_for_each_image_with_its_captions_and_audio(whole: Path) -> None:
    for split in ("train", "validation", "test"):
        table = pandas.read_parquet(whole / f"parquet/{split}-00000.parquet")
        assert list(table["image_address"]) == list(expected(split))
        for row, numbers in zip(table.to_dict("records"), expected(split).values(), strict=True):
            compare(row, row["image"]["bytes"], [each["bytes"] for each in row["audio"]], numbers)
    assert len(pandas.read_parquet(whole / "parquet")) == 4


def test_datasets_loads_the_folder_with_its_three_splits_images_and_audio(whole: Path, load: Any) -> None:
    from datasets import Audio, List
    from datasets import Image as ImageFeature

    loaded = load(whole)
    assert {name: len(split) for name, split in loaded.items()} == {"train": 2, "validation": 1, "test": 1}
    features = loaded["train"].features
    assert features["image"] == ImageFeature() and features["audio"] == List(Audio(sampling_rate=16_000))
    for name, split in loaded.items():
        raw = split.cast_column("image", ImageFeature(decode=False)).cast_column("audio", List(Audio(decode=False)))
        assert [image.size for image in split.remove_columns("audio")["image"]] == [(24, 16)] * len(split)
        for row, numbers in zip(raw, expected(name).values(), strict=True):
            compare(row, row["image"]["bytes"], [each["bytes"] for each in row["audio"]], numbers)
            samples, rate = soundfile.read(io.BytesIO(row["audio"][0]["bytes"]))
            assert rate == 16_000 and len(samples) == pytest.approx(0.6 * rate, rel=0.1)


def test_datasets_loads_records_and_corpora_of_a_release_without_formats(tmp_path: Path, load: Any) -> None:
    release(spoken_project(tmp_path / "p"), "mine", tmp_path / "out")
    records = load(tmp_path / "out")
    sizes = {"train": 4, "validation": 2, "test": 2}
    assert {name: len(split) for name, split in records.items()} == sizes
    assert records["test"]["caption"] == [CAPTIONS[6].caption, CAPTIONS[7].caption]
    utterances = load(tmp_path / "out", "voices_of_mine-synthetic")
    assert {name: len(split) for name, split in utterances.items()} == sizes
    assert utterances["test"][0]["caption"] == CAPTIONS[6].caption and utterances["test"][0]["pitch"] == -0.5


def test_datasets_changes_no_text_that_looks_like_a_number_or_like_nothing(tmp_path: Path, load: Any) -> None:
    captions = [
        Caption("0012345678901234", "0001", "007", "train"), Caption("12e4567890123456", "0002", "1e5", "train"),
        Caption("0000000000000001", "0003", "NA", "validation"), Caption("0000000000000002", "0004", "null", "test"),
    ]  # fmt: skip
    root = spoken_project(tmp_path / "p", captions, languages={"0000000000000002": "fr"})
    release(root, "mine", tmp_path / "out")
    for name in ("records", "voices_of_mine-synthetic"):
        rows = [row for split in load(tmp_path / "out", name).values() for row in split]
        ids = [row.get("record", row["id"]) for row in rows]
        assert [(key, row["image"], row["caption"], row["split"]) for key, row in zip(ids, rows, strict=True)] == captions
        assert [row["language"] for row in rows] == (["", "", "", "fr"] if name == "records" else ["en"] * 4)
    page = (PROJECT / "docs/release.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if line.startswith("captions = pandas"))
    names: dict[str, Any] = {"pandas": pandas}
    exec(line.replace("english-1", str(tmp_path / "out")), names)
    assert names["captions"].values.tolist()[0][4:] == ["", "007"]


def test_webdataset_reads_a_sample_for_each_image_with_its_captions_and_audio(whole: Path) -> None:
    import webdataset

    for split in ("train", "validation", "test"):
        dataset = webdataset.WebDataset(str(whole / f"webdataset/{split}-00000.tar"), shardshuffle=False)
        samples = list(dataset)
        for sample, numbers in zip(samples, expected(split).values(), strict=True):
            fields = json.loads(sample["json"])
            assert sample["__key__"] == fields["key"] and sample["txt"].decode().split("\n") == fields["captions"]
            compare(fields, sample["png"], [sample["flac"], *([sample["1.flac"]] if "1.flac" in sample else [])], numbers)
        decoded = webdataset.WebDataset(str(whole / f"webdataset/{split}-00000.tar"), shardshuffle=False).decode("pil")
        for image, text, fields in decoded.to_tuple("jpg;png;gif;webp", "txt", "json"):
            assert image.size == (24, 16) and text.split("\n") == fields["captions"]


def test_webdataset_reads_the_corpora_by_utterance(whole: Path) -> None:
    import webdataset

    shards = [str(path) for path in sorted(whole.glob("speech/*/*.tar"))]
    samples = list(webdataset.WebDataset(shards, shardshuffle=False).decode())
    assert {each["__key__"] for each in samples} == {f"wavs/{each.key}-0" for each in CAPTIONS}
    texts = {each.key: " ".join(each.caption.split()) for each in CAPTIONS}
    for each in samples:
        assert each["txt"] == texts[each["json"]["record"]] and each["json"]["audio_sha256"] == sha256_bytes(each["flac"])


@pytest.mark.parametrize("media", [True, False])
def test_the_documented_examples_load_a_release(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: Any, capsys: pytest.CaptureFixture[str], media: bool
) -> None:
    import datasets

    release(spoken_project(tmp_path / "p"), "mine", tmp_path / "english-1")
    if media:
        (tmp_path / "english-2").symlink_to(whole)
    else:
        root = spoken_project(tmp_path / "q", spoken_of=CAPTIONS[2:])
        release(root, "mine", tmp_path / "english-2", formats=ALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    page = (PROJECT / "docs/release.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", page.partition("## Load")[2].partition("\n## ")[0], re.S)
    assert len(examples) == 5
    capsys.readouterr()
    for example in examples:
        exec(example.replace("english-synthetic", "voices_of_mine-synthetic"), {})
    shown = capsys.readouterr().out
    # One image by pandas, one by datasets, two by WebDataset.
    assert shown.count("(24, 16)") == (4 if media else 0) and shown.count(sample_key(CAPTIONS[2].image)) == 1


def samples_of(out: Path) -> dict[str, str]:
    """Return the key of each sample with its images's address, as Parquet and WebDataset have them."""
    table = pandas.read_parquet(out / "parquet")
    shown = dict(zip(table["key"], table["image_address"], strict=True))
    found = {}
    for path in (out / "webdataset").iterdir():
        with tarfile.open(path) as tar:
            for member in tar:
                if member.name.endswith(".json"):
                    sample = json.load(tar.extractfile(member))  # type: ignore[arg-type]
                    found[sample["key"]] = sample["image_address"]
    assert found == shown
    return found


def test_keys_are_the_same_in_a_release_with_other_records(tmp_path: Path) -> None:
    release(spoken_project(tmp_path / "p"), "mine", tmp_path / "one", formats=ALL)
    without = [each for each in CAPTIONS if each.image != CAPTIONS[0].image]
    more = without[2]._replace(key="f" * 16, image="some images/9.png")
    release(spoken_project(tmp_path / "q", [more, *without]), "mine", tmp_path / "two", formats=ALL)
    one, two = samples_of(tmp_path / "one"), samples_of(tmp_path / "two")
    assert len(one) == len(two) == 4 and len(one.keys() & two.keys()) == 3
    assert all(one[key] == two[key] for key in one.keys() & two.keys())


def test_an_image_has_one_sample_whatever_its_name_looks_like(tmp_path: Path) -> None:
    captions = [each._replace(image=f"{number // 2:04d}") for number, each in enumerate(CAPTIONS)]
    made = release(spoken_project(tmp_path / "p", captions), "mine", tmp_path / "out", formats=ALL)
    assert made["samples"] == 4 and set(samples_of(tmp_path / "out").values()) == {"0000", "0001", "0002", "0003"}


def test_posts_have_their_published_images_and_no_order_of_theirs(tmp_path: Path, load: Any) -> None:
    records = posts()
    records[0]["caption"] += "\nE o mar."
    release(project(tmp_path / "p", records), "posts", tmp_path / "out", formats=["hf", "webdataset"])
    images = archive(tmp_path / "out")
    loaded = load(tmp_path / "out")
    for split in loaded.values():
        from datasets import Image as ImageFeature

        rows = list(split.cast_column("image", ImageFeature(decode=False)))
        assert [row["image_address"] for row in rows] == sorted(row["image_address"] for row in rows)
        for row in rows:
            assert row["image"]["bytes"] == images[f"images/{row['image_address']}"]
            assert row["records"] == [row["image_address"].partition(".")[0]]
    assert sum(len(split) for split in loaded.values()) == len(images)
    assert verify_release(tmp_path / "out").errors == []
    shutil.rmtree(tmp_path / "out/webdataset")
    parquet_with(tmp_path / "out", {"image": None, "sha256": ""})
    (tmp_path / "out" / SUMS).write_text(checksums(tmp_path / "out"))
    assert any(line.startswith("parquet/test-00000.parquet: sample") for line in verify_release(tmp_path / "out").errors)


def test_images_need_a_licence_and_what_is_taken_down_is_in_no_sample(tmp_path: Path) -> None:
    root = spoken_project(tmp_path / "p")
    add(root, "url", CAPTIONS[0].url)
    made = release(root, "mine", tmp_path / "out", formats=ALL)
    assert (made["samples"], made["images"]) == (3, 0)
    table = pandas.read_parquet(tmp_path / "out/parquet")
    assert list(table["image"]) == [None] * 3 and CAPTIONS[0].image not in set(table["image_address"])
    content = b"".join(data for name, data in files(tmp_path / "out").items() if name.startswith(("parquet", "webdataset")))
    assert b".png" in content and b"\x89PNG" not in content and b"kite" not in content
    assert "Images are left out." in (tmp_path / "out/README.md").read_text()
    assert verify_release(tmp_path / "out").errors == []


def test_what_cannot_be_written_is_refused_with_one_line(tmp_path: Path) -> None:
    web, mine = web_project(tmp_path / "web"), spoken_project(tmp_path / "p")
    given = {"dataset": "mine", "images_licence": "CC0"}
    assert "'zip' is no format" in refusal(mine, tmp_path / "out", dataset="mine", formats=["zip"])
    assert "has no --format that holds images" in refusal(mine, tmp_path / "out", **given)
    asked = refusal(web, tmp_path / "out", dataset="english", images_licence="CC0", formats=["hf"])
    assert "keeps no image that could be released" in asked
    asked = refusal(project(tmp_path / "q"), tmp_path / "out", images_licence="CC0", formats=["hf"])
    assert "released under the posts' licence" in asked


def test_images_on_the_web_are_named_by_their_address(tmp_path: Path, load: Any) -> None:
    release(web_project(tmp_path / "p"), "english", tmp_path / "out", formats=ALL)
    rows = list(load(tmp_path / "out")["train"])
    assert [(row["captions"], row["image_address"], row["image"]) for row in rows] == [
        ([ROWS[0][0]], f"{WEB}/0000.jpg", None), ([ROWS[1][0]], f"{WEB}/0002.jpg", None),
    ]  # fmt: skip


def test_equal_data_give_equal_bytes_in_shards_of_bounded_size(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(spoken_project(tmp_path / "p"), "mine", tmp_path / "one", "CC0", formats=ALL, images_licence="CC BY 4.0")
    assert files(tmp_path / "one") == files(whole)
    monkeypatch.setattr(split_files, "SHARD_BYTES", 18_000)
    monkeypatch.setattr(split_files, "GROUP_BYTES", 10_000)
    release(spoken_project(tmp_path / "q"), "mine", tmp_path / "two", "CC0", formats=ALL, images_licence="CC BY 4.0")
    for kind, suffix in (("parquet", ".parquet"), ("webdataset", ".tar")):
        names = sorted(path.name for path in (tmp_path / "two" / kind).iterdir())
        assert names == [f"{name}{suffix}" for name in ("test-00000", "train-00000", "train-00001", "validation-00000")]
    assert verify_release(tmp_path / "two").errors == []


def test_media_are_stored_as_they_are_and_text_is_compressed(whole: Path) -> None:
    group = pq.ParquetFile(whole / "parquet/train-00000.parquet").metadata.row_group(0)
    columns = {each.path_in_schema: each for each in map(group.column, range(group.num_columns))}
    assert {path for path, each in columns.items() if each.compression == "UNCOMPRESSED"} == {
        "image.bytes", "audio.list.element.bytes",
    }  # fmt: skip
    assert {path for path, each in columns.items() if not each.is_stats_set} == {"image.bytes", "audio.list.element.bytes"}
    assert {each.compression for path, each in columns.items() if not path.endswith("bytes")} == {"ZSTD"}


@pytest.mark.parametrize(
    ("name", "size"), [("a/b-0.flac", 1234), ("é.txt", 0), ("x" * 100, 1 << 20), (f"{'x' * 90}/{'y' * 90}", 3)]
)
def test_a_tar_is_that_of_the_standard_library(tmp_path: Path, name: str, size: int) -> None:
    member, data = tarfile.TarInfo(name), b"x" * size
    member.size = size
    with tarfile.open(tmp_path / "theirs.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
        tar.addfile(member, io.BytesIO(data))
    write_tar(tmp_path / "ours.tar", {name: data})
    assert (tmp_path / "ours.tar").read_bytes() == (tmp_path / "theirs.tar").read_bytes()


def parquet_with(out: Path, change: dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    path = out / "parquet/test-00000.parquet"
    table = pq.read_table(path)
    path.unlink()
    with ParquetShards(out / "parquet", table.schema) as shards:
        for row in table.to_pylist():
            shards.add("test", row | (change(row) if callable(change) else change), 0)


def tar_without(out: Path, suffix: str, other: bytes | None = None) -> None:
    path = out / "webdataset/test-00000.tar"
    with tarfile.open(path) as tar:
        members = {each.name: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]
    with tarfile.open(path, "w") as tar:
        for name, data in members.items():
            content = other if name.endswith(suffix) else data
            if content is not None:
                header = tarfile.TarInfo(name)
                header.size = len(content)
                tar.addfile(header, io.BytesIO(content))


def move_training_samples(out: Path) -> None:
    both = pa.concat_tables(pq.read_table(out / f"parquet/{split}-00000.parquet") for split in ("test", "train"))
    pq.write_table(both, out / "parquet/test-00000.parquet")
    (out / "parquet/train-00000.parquet").unlink()


def load_the_test_for_training(out: Path) -> None:
    card = (out / "README.md").read_text(encoding="utf-8")
    (out / "README.md").write_text(card.replace("parquet/train-*", "parquet/test-*"), encoding="utf-8")


def change_typed(out: Path) -> None:
    path = out / "records/test-00000.parquet"
    rows = [{**row, "caption": "A cat"} for row in pq.read_table(path).to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows), path)


def forget_the_features(out: Path) -> None:
    path = out / "parquet/test-00000.parquet"
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path)


def spoiled() -> Iterator[Any]:
    yield pytest.param(forget_the_features, "parquet/test-00000.parquet: its columns or their features", id="features")
    yield pytest.param(change_typed, "records/test.csv: its Parquet files have other rows", id="typed")
    yield pytest.param(move_training_samples, "parquet/test-00000.parquet: sample", id="another split's file")
    yield pytest.param(load_the_test_for_training, "README.md states other configs", id="configs")
    image = {"bytes": b"another", "path": "a.png"}
    for change in ({"key": "0" * 16}, {"split": "train"}, {"image": image}, {"audio": []}, {"languages": ["pt", "pt"]}):
        yield pytest.param(
            lambda out, change=change: parquet_with(out, change), "parquet/test-00000.parquet: sample", id=str([*change])
        )
    for name, value in {"spoken": "A cat", "voice": "nobody", "pitch": 0.5, "record": "0" * 16, "audio_sha256": "0" * 64}.items():
        what = lambda row, more={name: value}: {"utterances": [each | more for each in row["utterances"]]}  # noqa: E731
        yield pytest.param(
            lambda out, what=what: parquet_with(out, what), "parquet/test-00000.parquet: sample", id=f"utterances' {name}"
        )
    for change in (
        {"width": 25},
        {"height": 17, "width": 24},
        lambda row: {"image": row["image"] | {"path": "Maria.png"}},
        lambda row: {"audio": [each | {"path": "Maria.flac"} for each in row["audio"]]},
    ):
        yield pytest.param(lambda out, change=change: parquet_with(out, change), "parquet/test-00000.parquet: sample")
    left_out = {"image": None, "sha256": ""}
    yield pytest.param(
        lambda out: parquet_with(out, left_out), "webdataset/test-00000.tar: sample", id="image in one format only"
    )
    for suffix, other in ((".png", None), (".png", b"x"), (".flac", b"x"), (".txt", b"A cat")):
        what = lambda out, suffix=suffix, other=other: tar_without(out, suffix, other)  # noqa: E731
        yield pytest.param(what, "webdataset/test-00000.tar: sample", id=f"{suffix} {other!r}")
    for name, kind in (("parquet/test-00000.parquet", "parquet"), ("webdataset/test-00000.tar", "webdataset")):
        yield pytest.param(lambda out, name=name: (out / name).unlink(), f"{kind}: record 00", id=f"no {name}")


@pytest.mark.parametrize(("spoil", "error"), list(spoiled()))
def test_a_sample_that_is_not_of_its_records_is_an_error(whole: Path, tmp_path: Path, spoil: Any, error: str) -> None:
    shutil.copytree(whole, out := tmp_path / "copy")
    spoil(out)
    (out / SUMS).write_text(checksums(out))
    assert any(line.startswith(error) for line in verify_release(out).errors)
