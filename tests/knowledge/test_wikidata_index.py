"""The local index of Wikidata: read from the dump's forms, whole or not at all, and of the right sense for the type."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.knowledge.kinds import Gate, HypernymAnswer
from components.knowledge.wikidata.build import build_index
from components.knowledge.wikidata.choosing import Chooser
from components.knowledge.wikidata.dump import Broken, Dump
from components.knowledge.wikidata.index import DATABASE, MOST, WikidataIndex, name_key
from components.knowledge.words import Words
from tests.support import PROJECT, until
from tests.support.knowledge import wikidata_dump as fixture
from tests.support.knowledge.dictionary import extract


def opened(folder: Path) -> WikidataIndex:
    return WikidataIndex(folder, Chooser(Words(extract()), Gate(extract())))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> WikidataIndex:
    folder = tmp_path_factory.mktemp("wikidata")
    build_index(fixture.write_dump(folder / "latest-all.json.gz"), folder / "index")
    return opened(folder / "index")


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        pytest.param(
            "Mira Tolland", "PERSON", HypernymAnswer("actor", "wikidata Q20"), id="a person is no film; preferred rank first"
        ),
        pytest.param("Mira Tolland", "WORK_OF_ART", HypernymAnswer("film", "wikidata Q21"), id="a film is no person"),
        pytest.param("m. tolland", "PERSON", HypernymAnswer("actor", "wikidata Q20"), id="an alias, in any case"),
        pytest.param(
            "Jaro Venn", "PERSON", HypernymAnswer("painter", "wikidata Q22"), id="the first occupation that is a common word"
        ),
        pytest.param("Ostrava Nova", "GPE", HypernymAnswer("city", "wikidata Q23"), id="the place"),
        pytest.param("Ostrava Nova", "PERSON", None, id="no person of that name"),
        pytest.param(
            "Quellbach", "GPE", HypernymAnswer("city district", "wikidata Q25"), id="up the superclasses to a common word"
        ),
        pytest.param("Blue Anvils", "ORG", HypernymAnswer("band", "wikidata Q26"), id="without its article"),
        pytest.param("Vorland", "GPE", HypernymAnswer("country", "wikidata Q27"), id="as a caption says it"),
        pytest.param("Vorland's", "GPE", HypernymAnswer("country", "wikidata Q27"), id="a genitive"),
        pytest.param("Nobody HypernymAnswer", "PERSON", None, id="no sitelink"),
        pytest.param("Lost Page", "WORK_OF_ART", None, id="a page of Wikipedia's own"),
        pytest.param("Old Trade", "PERSON", HypernymAnswer("painter", "wikidata Q30"), id="deprecated statements do not count"),
        pytest.param("Nowhere At All", "GPE", None, id="unknown"),
    ],
)
def test_a_name_gets_the_word_of_the_item_of_its_type(
    index: WikidataIndex, name: str, kind: str, expected: HypernymAnswer | None
) -> None:
    assert index.lookup(name, kind) == expected


def test_an_organisation_is_a_company_and_not_a_city(index: WikidataIndex) -> None:
    assert index.lookup("Ostrava Nova", "ORG") == HypernymAnswer("automobile manufacturer", "wikidata Q24")


def test_every_form_of_the_dump_makes_the_same_index(tmp_path: Path) -> None:
    made = {
        name: build_index(fixture.write_dump(tmp_path / name), tmp_path / f"of {name}")
        for name in ("all.json", "all.json.gz", "all.json.bz2")
    }
    assert len({about["digest"] for about in made.values()}) == 1
    assert made["all.json"]["items"] == len(fixture.CLASSES) + len(fixture.ENTITIES) and made["all.json"]["broken"] == 0


def test_broken_lines_are_counted_and_named_and_lose_no_other_line(tmp_path: Path) -> None:
    broken = [b'{"type":"item","id":', b"\xff\xfe", b"17", b'{"type":"item","id":"Q12x"}']
    about = build_index(fixture.write_dump(tmp_path / "d.json", [*broken, *fixture.CLASSES, *fixture.ENTITIES]), tmp_path / "i")
    assert about["broken"] == 4 and [line.split(":")[0] for line in about["broken_lines"]] == [f"line {n}" for n in (2, 3, 4, 5)]
    assert opened(tmp_path / "i").lookup("Mira Tolland", "PERSON") == HypernymAnswer("actor", "wikidata Q20")


WRONG = [
    {"labels": {"en": "x"}},
    {"labels": {"en": {"value": 3}}, "aliases": {"en": {"value": "x"}}},
    {"claims": {"P31": [{"mainsnak": None}, 3, {"rank": "normal", "mainsnak": {"datavalue": {"value": {"id": "Q²"}}}}]}},
    {"claims": {"P31": 3}, "sitelinks": 3, "aliases": 3, "labels": 3},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_an_item_of_wrong_types_is_read_as_far_as_it_goes(tmp_path: Path, wrong: dict[str, object]) -> None:
    path = fixture.write_dump(tmp_path / "d.json", [fixture.item(9, "Some Name", p31=[5]) | wrong])
    with Dump(path) as dump:
        (result,) = dump.items()
    assert result is not None and not isinstance(result, Broken) and result.number == 9


@settings(max_examples=150)
@given(st.binary(max_size=300) | st.text(max_size=80).map(lambda text: json.dumps({"type": "item", "id": text}).encode()))
def test_any_line_is_read_or_counted_as_broken(tmp_path_factory: pytest.TempPathFactory, line: bytes) -> None:
    path = tmp_path_factory.mktemp("dump") / "d.json"
    path.write_bytes(b"[\n" + line.replace(b"\n", b" ")[:300].removeprefix(b"\x1f\x8b") + b",\n]\n")
    with Dump(path) as dump:
        assert all(result is None or result for result in dump.items())


@pytest.mark.long
@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2"])
def test_a_truncated_dump_gives_an_error_and_keeps_the_earlier_index(tmp_path: Path, suffix: str) -> None:
    build_index(fixture.write_dump(tmp_path / "good.json"), tmp_path / "index")
    noise = [fixture.item(n, f"Name {random.Random(n).random()}", p31=[5], p106=[1001]) for n in range(5000, 7000)]
    whole = fixture.write_dump(tmp_path / f"d.json{suffix}", noise).read_bytes()
    (tmp_path / f"d.json{suffix}").write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(HearsightError, match="breaks off after line"):
        build_index(tmp_path / f"d.json{suffix}", tmp_path / "index")
    assert opened(tmp_path / "index").lookup("Mira Tolland", "PERSON") == HypernymAnswer("actor", "wikidata Q20")


@pytest.mark.parametrize("content", [b"", b"[]", b"<html></html>\n", b'[\n{"type":"property","id":"P1"}\n]\n'])
def test_a_file_without_items_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "d.json").write_bytes(content)
    with pytest.raises(HearsightError, match="holds no item"):
        build_index(tmp_path / "d.json", tmp_path / "index")


def test_a_folder_with_other_content_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(HearsightError, match="is no index"):
        build_index(fixture.write_dump(tmp_path / "d.json"), tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


@pytest.mark.long
def test_a_killed_build_keeps_the_earlier_index_and_the_next_removes_its_files(tmp_path: Path) -> None:
    build_index(fixture.write_dump(tmp_path / "d.json"), tmp_path / "index")
    os.mkfifo(tmp_path / "endless.json")
    code = "import sys; from components.cli.main import main; sys.argv = ['hearsight', *sys.argv[1:]]; main()"
    child = subprocess.Popen(
        [sys.executable, "-c", code, "knowledge", "index", str(tmp_path / "endless.json"), "--out", str(tmp_path / "index")],
        cwd=PROJECT, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with (tmp_path / "endless.json").open("wb") as feed:
        feed.writelines(fixture.lines()[:-1] * 200)
        feed.flush()
        until((tmp_path / "index" / ".building").is_dir)
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert (tmp_path / "index" / ".building").is_dir()
    assert opened(tmp_path / "index").lookup("Vorland", "GPE") == HypernymAnswer("country", "wikidata Q27")
    build_index(fixture.write_dump(tmp_path / "e.json", [*fixture.CLASSES, *fixture.ENTITIES[:1]]), tmp_path / "index")
    assert len([path for path in (tmp_path / "index").iterdir() if path.is_dir()]) == 1
    assert opened(tmp_path / "index").lookup("Vorland", "GPE") is None


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:100])])
def test_a_damaged_or_missing_index_gives_a_one_line_error(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    about = build_index(fixture.write_dump(tmp_path / "d.json"), tmp_path / "index")
    damage(tmp_path / "index" / about["digest"] / DATABASE)
    with pytest.raises(HearsightError, match="knowledge index"):
        opened(tmp_path / "index")
    with pytest.raises(HearsightError, match="there is no index"):
        opened(tmp_path / "nothing")


@pytest.mark.long
@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 99)), max_size=60))
def test_a_name_gives_back_its_items_those_with_most_sitelinks_first(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("many")
    items = [fixture.item(100 + at, name, p31=[5], sitelinks=links) for at, (name, links) in enumerate(rows)]
    build_index(fixture.write_dump(folder / "d.json", [*fixture.CLASSES, *items]), folder / "index")
    index = opened(folder / "index")
    for name in "abcde":
        mine = [(links, 100 + at) for at, (given, links) in enumerate(rows) if given == name]
        found = [(item.sitelinks, item.item) for item in index.candidates(name)]
        assert found == sorted(mine, key=lambda each: -each[0])[:MOST]


@pytest.mark.parametrize(
    ("one", "other"),
    [("The Who", "who"), ("Marks & Spencer", "marks&spencer"), ("McDonald ’s", "McDonald's"), ("Jean - Luc", "jean-luc")],
)
def test_spaces_beside_marks_case_and_the_article_do_not_count(one: str, other: str) -> None:
    assert name_key(one) == name_key(other) != name_key(other + "x")
