"""The spoken corpora of a release: what they hold, what they must not hold, and how they are imported again."""

from __future__ import annotations

import csv
import tarfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.speech.voices.catalogue import VOICES as CATALOGUE
from components.stages.crawl.run import run as run_crawl
from components.stages.import_recordings import Params as ImportParams
from components.stages.import_recordings.corpora import open_corpus
from components.stages.import_recordings.run import run as run_import
from components.stages.split import ByText
from components.stages.split.run import run as run_split
from components.tools.release import split_files
from components.tools.release.kinds import release
from components.tools.release.split_files import SPLITS, SplitTables, read_csv
from components.tools.takedown.listing import add
from tests.support import make_stage
from tests.support.crawl.crawls import fixture_params
from tests.support.crawl.fixture_web import build_fixture_web
from tests.tools.release.posts_files import files
from tests.tools.release.spoken_project import (
    CAPTIONS,
    PEOPLE,
    VOICES,
    Caption,
    spoken,
    spoken_project,
    write_source,
    write_stage,
)

SYNTHETIC, RECORDED = "speech/voices_of_mine-synthetic", "speech/mine-recorded"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def audio_of(corpus: Path) -> dict[tuple[str, str], bytes]:
    """(shard, member) → audio."""
    found = {}
    for path in corpus.glob("*.tar"):
        with tarfile.open(path) as tar:
            members = {each.name: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]
            found |= {(path.name, name): data for name, data in members.items() if name.endswith(".flac")}
    return found


def test_a_corpus_has_a_manifest_for_each_voice_with_the_audio_of_the_stage(tmp_path: Path) -> None:
    summary = release(spoken_project(tmp_path / "p"), "mine", tmp_path / "out", "CC0")
    corpus = tmp_path / "out" / SYNTHETIC
    assert (summary["train"], summary["validation"], summary["test"]) == (4, 2, 2)
    assert (summary["utterances"], summary["speakers"]) == (8, 2) and "utterances_left_out" not in summary
    audio, seen = audio_of(corpus), {}
    for split in SPLITS:
        for utterance in rows(corpus / f"manifests/{split}.csv"):
            caption = CAPTIONS[int(utterance["record"], 16)]
            made = spoken(caption, VOICES, "synthetic")
            assert utterance["voice"] == made["voice"] and utterance["spoken"] == made["spoken"]
            assert (utterance["split"], utterance["image"]) == (split, caption.image)
            assert utterance["caption"] == " ".join(caption.caption.split())
            assert (utterance["rate"], utterance["pitch"], utterance["gain"]) == ("1.0625", "-0.5000", "-1.2500")
            assert utterance["shard"] == f"{caption.split}-00000.tar"
            assert audio[utterance["shard"], utterance["file"]] == made["audio"]
            seen[utterance["record"]] = utterance
    assert seen.keys() == {each.key for each in CAPTIONS} and len(audio) == len(CAPTIONS)
    assert "secret-folder" not in str(files(tmp_path / "out"))


def test_voices_state_the_licences_that_their_engines_declare(tmp_path: Path) -> None:
    release(spoken_project(tmp_path / "p", recorded=True), "mine", tmp_path / "out", recordings_licence="CC BY 4.0")
    table = {each["voice"]: each for each in rows(tmp_path / "out" / SYNTHETIC / "voices.csv")}
    assert {name: each["licence"] for name, each in table.items()} == {name: CATALOGUE[name].licence for name in VOICES}
    assert {name: each["model"] for name, each in table.items()} == {name: CATALOGUE[name].model for name in VOICES}
    people = rows(tmp_path / "out" / RECORDED / "voices.csv")
    assert {each["licence"] for each in people} == {"CC BY 4.0"} and {each["origin"] for each in people} == {"human"}
    assert sum(int(each["utterances"]) for each in people) == len(CAPTIONS)


@pytest.mark.long
def test_recordings_of_people_need_a_licence_and_are_released_without_their_names(tmp_path: Path) -> None:
    root = spoken_project(tmp_path / "p", recorded=True)
    summary = release(root, "mine", tmp_path / "without")
    assert not (tmp_path / "without" / RECORDED).exists()
    assert summary["utterances"] == 8 and summary["utterances_left_out"] == {"recording_without_licence": 8}
    assert "recording_without_licence 8" in (tmp_path / "without/README.md").read_text()
    assert release(root, "mine", tmp_path / "with", recordings_licence="CC BY 4.0")["utterances"] == 16
    names = {each["voice"] for path in (tmp_path / "with" / RECORDED / "manifests").glob("*.csv") for each in rows(path)}
    assert names == {"speaker-1", "7", "human-en"}
    assert not any(name.encode() in data for data in files(tmp_path / "with").values() for name in (PEOPLE[0], "Braga"))


def test_only_released_records_have_speech(tmp_path: Path) -> None:
    root = spoken_project(tmp_path / "p")
    add(root, "url", CAPTIONS[0].url)
    summary = release(root, "mine", tmp_path / "out")
    assert summary["taken_down"] == 2 and summary["train"] == 2 and summary["utterances_left_out"] == {"record_not_released": 2}
    content = files(tmp_path / "out")
    assert not any(key.encode() in data for key in (CAPTIONS[0].key, CAPTIONS[1].key) for data in content.values())
    assert not any(b"red" in data and b"kite" in data for data in content.values())


def test_speech_of_another_split_is_refused_and_can_be_left_out(tmp_path: Path) -> None:
    root, other = spoken_project(tmp_path / "p"), spoken_project(tmp_path / "q", CAPTIONS[:6])
    for path in (root / "data/voices_of_mine", root / "reports/lineage/voices_of_mine"):
        path.rename(path.with_name("away"))
        (other / path.relative_to(root)).rename(path)
    with pytest.raises(HearsightError, match=r"is not of the present mine/split.*--no-speech"):
        release(root, "mine", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert "utterances" not in release(root, "mine", tmp_path / "out", speech=False)
    assert not (tmp_path / "out/speech").exists()


def test_damaged_audio_leaves_no_release(tmp_path: Path) -> None:
    root = spoken_project(tmp_path / "p")
    shard = root / "data/voices_of_mine/synthesize/media/00001.tar"
    data = bytearray(shard.read_bytes())
    data[2000] ^= 1
    shard.write_bytes(data)
    with pytest.raises(HearsightError, match="is not the audio of utterance"):
        release(root, "mine", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_shards_are_cut_by_size_and_equal_data_give_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_files, "SHARD_BYTES", 2 * len(spoken(CAPTIONS[0], VOICES, "synthetic")["audio"]) + 2000)
    release(spoken_project(tmp_path / "p"), "mine", tmp_path / "one")
    release(spoken_project(tmp_path / "q"), "mine", tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    shards = sorted(path.name for path in (tmp_path / "one" / SYNTHETIC).glob("*.tar"))
    assert shards == ["test-00000.tar", "train-00000.tar", "train-00001.tar", "validation-00000.tar"]
    assert len(audio_of(tmp_path / "one" / SYNTHETIC)) == len(CAPTIONS)


def test_memory_does_not_grow_with_the_audio(tmp_path: Path) -> None:
    root, size = spoken_project(tmp_path / "p", CAPTIONS), 4 << 20
    utterances = []
    for each in CAPTIONS:
        audio = each.key.encode() * (size // 16)
        utterances.append({**spoken(each, VOICES, "synthetic"), "audio": audio, "audio_sha256": sha256_bytes(audio)})
    write_stage(root, "synthesize", "voices_of_mine", StageOutput(root / "data/mine/split"), utterances)
    tracemalloc.start()
    release(root, "mine", tmp_path / "out")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(len(data) for data in audio_of(tmp_path / "out" / SYNTHETIC).values()) == len(CAPTIONS) * size
    assert peak < 3 * size, f"{peak:,} bytes at most for {len(CAPTIONS) * size:,} bytes of audio"


def reimport(home: Path, corpus: Path, out: Path, captions: list[Caption], **settings: Any) -> list[tuple[Any, ...]]:
    """Import a release as docs/release.md says; return what was imported of each utterance."""
    write_source(home, captions)
    build_fixture_web(home / "web", pages=2)
    for path in corpus.glob("*.tar"):
        with tarfile.open(path) as tar:
            for member in tar:
                target = corpus / member.name
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(tar.extractfile(member).read())  # type: ignore[union-attr]
    tables = [path.relative_to(home).as_posix() for path in sorted(out.glob("*/*.tsv"))]
    values = {"source": "table", "seeds": [], "hosts": [], "layout": "tsv", "inputs": tables, "language": "en"}
    crawl = make_stage(home, "crawl", "again", fixture_params(snapshot="again", image_folder=".", **values))
    run_crawl(crawl)
    crawl.finish()
    split = make_stage(home, "split", "again", ByText(), {"input": StageOutput(crawl.out)})
    run_split(split)
    split.finish()
    params = ImportParams(layout="release", folder=corpus.relative_to(home).as_posix(), trim=False, **settings)
    imported = make_stage(home, "import_recordings", "again", params, {"input": StageOutput(split.out)})
    run_import(imported)
    imported.finish()
    output = StageOutput(imported.out)
    images = {each["key"]: (each["image_url"], each["image_sha256"]) for each in StageOutput(split.out).table().to_pylist()}
    return sorted(
        (*images[each["record"]], each["caption"], each["voice"], each["origin"], output.read_media(each["media"]))
        for each in output.table().to_pylist()
    )


@pytest.mark.long
@pytest.mark.parametrize(("voices", "origin", "name"), [(VOICES, "synthetic", SYNTHETIC), (PEOPLE, "human", RECORDED)])
def test_captions_images_voices_and_audio_are_imported_as_they_were_released(
    tmp_path: Path, voices: tuple[str, ...], origin: str, name: str
) -> None:
    root = spoken_project(tmp_path / "p", recorded=True)
    release(root, "mine", tmp_path / "out", recordings_licence="CC0")
    imported = reimport(tmp_path, tmp_path / "out" / name, tmp_path / "out", CAPTIONS)
    made = [spoken(each, voices, origin) for each in CAPTIONS]
    records = {each["id"]: each for path in (tmp_path / "out/records").glob("*.csv") for each in rows(path)}
    assert imported == sorted(
        (
            caption.url,
            records[caption.key]["image_sha256"],
            " ".join(caption.caption.split()),
            "speaker-1" if each["voice"] == PEOPLE[0] else each["voice"],
            origin,
            each["audio"],
        )
        for caption, each in zip(CAPTIONS, made, strict=True)
    )


def test_a_corpus_of_another_form_gives_a_one_line_error(tmp_path: Path) -> None:
    release(spoken_project(tmp_path / "p"), "mine", tmp_path / "out")
    corpus = tmp_path / "out" / SYNTHETIC
    manifest = corpus / "manifests/train.csv"
    manifest.write_text(manifest.read_text().replace("wavs/", "wavs/../../", 1))
    with pytest.raises(HearsightError, match=r"is no file of wavs/") as caught:
        open_corpus("release", corpus)
    assert "\n" not in str(caught.value)
    with pytest.raises(HearsightError, match=r"has no manifests"):
        open_corpus("release", tmp_path / "out/speech")


def test_a_csv_field_with_every_special_character_is_read_back(tmp_path: Path) -> None:
    texts = ['"', ",", "\r", "\n", "\r\n", "", " a ", "é|\t'"]
    with SplitTables(tmp_path, ["one", "two"]) as tables:
        for text in texts:
            tables.add("a", [text, f"x{text}"])
    assert [(each["one"], each["two"]) for each in read_csv(tmp_path / "a.csv", ["one"])] == [
        (text, f"x{text}") for text in texts
    ]
