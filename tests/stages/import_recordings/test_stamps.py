"""Stamps: captions in several languages, equal texts with their recordings on one side, and what is taken down gone."""

from __future__ import annotations

import io
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages import crawl, import_recordings, split
from components.stages.crawl.sources.layouts import layout_named
from components.tools.takedown.file_search import FileSearch, Matcher
from components.tools.takedown.listing import add
from components.web.takedown_list import NAME, read_takedown
from tests.support import make_stage
from tests.support.crawl.crawls import fixture_params
from tests.support.import_recordings.corpora import STAMPS, stamps
from tests.support.takedown.unpack import read_unpacked

HOW = {"source": "table", "seeds": [], "hosts": [], "layout": "stamps", "inputs": ["stamps/**/*.txt"], "image_folder": "stamps"}
SPLIT = split.ByText(validation=0.25, test=0.25)
NARRATE = import_recordings.Params(
    layout="stamps", folder="stamps", trim=True, min_seconds=0.2, max_seconds=20.0, min_seconds_per_character=0.0
)


@pytest.fixture
def chain(tmp_path: Path):
    """Runs the three stages over the stamps of the test's own folder."""
    stamps(tmp_path / "stamps")

    def one(module, name: str, params, **inputs: StageOutput) -> StageOutput:
        stage = make_stage(tmp_path, name, "stamps", params, inputs)
        shutil.rmtree(stage.out)
        import_module(f"{module.__name__}.run").run(stage)
        stage.finish()
        return StageOutput(stage.out)

    def go(**changes) -> list[StageOutput]:
        values = HOW | {"web": "open", "web_root": "", "languages": ["fr", "es"]} | changes
        crawled = one(crawl, "crawl", fixture_params(**values))
        parted = one(split, "split", SPLIT, input=crawled)
        return [crawled, parted, one(import_recordings, "import_recordings", NARRATE, input=parted)]

    return go


def test_each_row_has_its_language_and_the_path_of_its_image(chain):
    crawled = chain()[0]
    rows = {(row["image_url"], row["language"], row["alt"]) for row in crawled.table().to_pylist()}
    assert ("file:fruit/cartoon/apple.png", "fr", "une pomme rouge !") in rows
    # The same words in two languages are two captions.
    assert {("file:animals/yak.png", "fr", "Un yak."), ("file:animals/yak.png", "es", "Un yak.")} <= rows
    assert len(rows) == 2 * (len(STAMPS) - 1)
    rules = [row["rule"] for row in crawled.ledger().to_pylist() if row["rule"]]
    assert rules == ["missing_file"] * 2


def test_the_english_line_is_read_and_regions_are_ignored(tmp_path):
    path = tmp_path / "apple.txt"
    path.write_text("A red apple.\nfr.utf8=Une pomme.\n\npt_BR.utf8=Uma maçã.\nca@valencia.utf8=Una poma.\nnonsense\n")
    rows = list(layout_named("stamps").rows(path, "apple.txt"))
    assert [(row.number, row.language, row.caption, row.rule) for row in rows] == [
        (1, "en", "A red apple.", ""),
        (2, "fr", "Une pomme.", ""),
        (6, "", "", "missing_field"),
    ]
    path.write_text("a poem\nof two lines\n")
    with pytest.raises(HearsightError, match="line 2: is not of the layout 'stamps'"):
        list(layout_named("stamps").rows(path, "apple.txt"))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"languages": []}, "languages: is empty, but its rows have languages"),
        ({"language": "fr"}, "source.language: is set, and source.languages as well"),
        ({"layout": "flickr8k"}, "its rows have no language"),
    ],
)
def test_languages_are_named_only_where_rows_have_them(chain, changes, message):
    with pytest.raises(HearsightError, match=message):
        chain(**changes)


def test_equal_texts_share_a_recording_and_a_split(chain):
    _, _, spoken = chain()
    rows = spoken.table().to_pylist()
    red = [row for row in rows if row["language"] == "fr" and "rouge" in row["caption"]]
    assert len(red) == 2 and len({row["audio_sha256"] for row in red}) == 1 and len({row["split"] for row in rows}) > 1
    for column in ("audio_sha256", "image_sha256", "caption", "group"):
        sides: dict[str, set[str]] = {}
        for row in rows:
            sides.setdefault(row[column], set()).add(row["split"])
        assert all(len(result) == 1 for result in sides.values()), column
    assert {row["voice"] for row in rows} == {"human-fr", "human-es"}
    rules = {row["value"]: row["rule"] for row in spoken.ledger().to_pylist() if row["rule"]}
    assert rules == {f"no file animals/dog_desc_{code}.ogg": "no_recording" for code in ("fr", "es")}


def test_only_clips_above_full_scale_are_attenuated(chain, tmp_path):
    import numpy as np
    import soundfile

    from tests.support.import_recordings.corpora import packed, tone

    path = tmp_path / "stamps/animals/yak_desc_es.ogg"
    path.write_bytes(packed(np.sign(tone("square")), 16_000, "OGG"))
    assert np.abs(soundfile.read(io.BytesIO(path.read_bytes()))[0]).max() > 1
    rows = {row["caption"]: row for row in chain()[2].table().to_pylist() if row["language"] == "es"}
    loud = rows.pop("Un yak.")
    # Cut to full scale instead, a square wave would be there with nearly every sample.
    assert loud["gain"] <= 0 and loud["clipped"] < 10 and -0.1 < loud["peak"] <= 0
    assert all(row["gain"] == 0 for row in rows.values())


def test_the_recordings_of_a_listed_image_are_removed_in_the_next_run(chain, tmp_path):
    before = chain()
    listed = {row["key"] for row in before[0].table().to_pylist() if row["image_url"] == "file:animals/yak.png"}
    image = (tmp_path / "stamps/animals/yak.png").read_bytes()
    assert len(listed) == 2 and image in read_unpacked(tmp_path / "data/store/fixture")
    add(tmp_path, "url", "file:animals/yak.png")
    search = FileSearch(Matcher(read_takedown(tmp_path / NAME)))
    assert any(search.in_file(path, crawl=True) for path in (before[1].path / "shards").glob("*.parquet"))
    crawled, parted, spoken = chain()
    assert not listed & {row["record"] for row in spoken.table().to_pylist()} and spoken.table().num_rows > 0
    assert {row["key"] for row in crawled.ledger().to_pylist() if row["rule"] == "takedown"} == listed
    assert image not in read_unpacked(tmp_path / "data/store/fixture")
    for output in (crawled, parted, spoken):
        for path in output.path.rglob("*.parquet"):
            assert not search.in_file(path, crawl=True)
        assert "yak" not in str([output.table().to_pylist(), output.ledger().to_pylist()])
