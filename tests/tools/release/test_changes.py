"""The differences that a release reports to an earlier one."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.tools.release.changes import Released, compare_speech, match_records
from components.tools.release.kinds import release
from components.tools.takedown.listing import add
from tests.tools.release.posts_files import files
from tests.tools.release.posts_project import OWNERS, drawn_image, posts, project
from tests.tools.release.spoken_project import CAPTIONS, Caption, spoken_project


def report(out: Path) -> dict:
    return json.loads((out / "changes.json").read_text())


def test_added_withdrawn_changed_and_moved_records_are_reported_with_the_reasons_of_the_ledgers(tmp_path: Path) -> None:
    release(spoken_project(tmp_path / "p"), "mine", tmp_path / "one")
    first, second, third, fourth, *others = CAPTIONS
    now = [
        second._replace(caption="The bus in the sand"),  # changed, under its identifier
        third._replace(key="a" * 16),  # the same row elsewhere in the table
        fourth._replace(key="b" * 16, caption="A star"),  # the image's other caption: changed
        *others[:3],
        others[3]._replace(split="train"),  # moved
        Caption("c" * 16, "new.png", "A new image", "validation"),  # added
    ]
    root = spoken_project(tmp_path / "q", now[:-2] + now[-2:], gone=[(first.key, "takedown")])
    summary = release(root, "mine", tmp_path / "two", since=tmp_path / "one")
    result = report(tmp_path / "two")
    counts = {"before": 8, "now": 8, "added": 1, "withdrawn": 1, "changed": 2, "moved": 1}
    assert summary["changes"] == result["records"] == counts
    assert result["withdrawn_by_reason"] == {"crawl: takedown": 1} and result["withdrawn_from"] == {"train": 1}
    assert result["added_to"] == {"validation": 1} and result["moves"] == {"test to train": 1}
    assert result["ids"] == {"withdrawn": [first.key], "changed": [second.key, "b" * 16], "moved": [others[3].key]}
    assert result["statistics"]["before"]["train"]["examples"] == 4 and result["statistics"]["now"]["validation"]["examples"] == 3
    assert result["speech"]["before"]["voices_of_mine-synthetic"]["utterances"] == 8
    # Those of records with another identifier are new ones.
    assert result["speech"]["changes"] == {"voices_of_mine-synthetic": {"added": 3, "withdrawn": 3, "changed": 0}}
    text = (tmp_path / "two/changes.md").read_text()
    assert "| crawl: takedown | 1 |" in text and "| test to train | 1 |" in text and first.key not in text
    assert "1 added, 1 withdrawn, 2 changed, 1 moved" in (tmp_path / "two/README.md").read_text()
    assert not (tmp_path / "one/changes.json").exists()


@pytest.mark.long
def test_what_is_taken_down_after_the_chain_ran_is_withdrawn_by_the_release(tmp_path: Path) -> None:
    root = spoken_project(tmp_path / "p")
    release(root, "mine", tmp_path / "one")
    add(root, "url", CAPTIONS[4].url)
    release(root, "mine", tmp_path / "two", since=tmp_path / "one")
    assert report(tmp_path / "two")["withdrawn_by_reason"] == {"release: takedown": 2}


def test_a_record_that_no_ledger_names_is_not_collected_any_more(tmp_path: Path) -> None:
    release(spoken_project(tmp_path / "p"), "mine", tmp_path / "one")
    release(spoken_project(tmp_path / "q", CAPTIONS[2:]), "mine", tmp_path / "two", since=tmp_path / "one")
    assert report(tmp_path / "two")["withdrawn_by_reason"] == {"not_collected_any_more": 2}


def test_equal_data_have_no_differences_and_equal_bytes(tmp_path: Path) -> None:
    root = spoken_project(tmp_path / "p")
    release(root, "mine", tmp_path / "one")
    release(root, "mine", tmp_path / "two", since=tmp_path / "one")
    release(root, "mine", tmp_path / "three", since=tmp_path / "one")
    assert files(tmp_path / "two") == files(tmp_path / "three")
    counts = report(tmp_path / "two")["records"]
    assert {name: counts[name] for name in ("added", "withdrawn", "changed", "moved")} == dict.fromkeys(
        ("added", "withdrawn", "changed", "moved"), 0
    )


def test_posts_are_compared_by_their_keyed_hashes_and_a_withdrawn_owner_is_counted_without_a_name(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    release(root, "posts", tmp_path / "one")
    add(root, "owner", OWNERS[0])
    release(root, "posts", tmp_path / "two", since=tmp_path / "one")
    result = report(tmp_path / "two")
    withdrawn = sum(each["owner"] == OWNERS[0] for each in posts())
    assert result["withdrawn_by_reason"] == {"release: takedown": withdrawn} and result["records"]["changed"] == 0
    text = (tmp_path / "two/changes.json").read_text() + (tmp_path / "two/changes.md").read_text()
    assert not any(name in text for owner in OWNERS for name in (owner, owner.strip("@")))


def other_dataset(root: Path, earlier: Path) -> None:
    settings = json.loads((earlier / "settings.json").read_text())
    (earlier / "settings.json").write_text(json.dumps({**settings, "dataset": "other"}))


def damaged(root: Path, earlier: Path) -> None:
    (earlier / "records/test.csv").write_text("id\n")


def no_release(root: Path, earlier: Path) -> None:
    shutil.rmtree(earlier)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (other_dataset, "is a release of 'other'"),
        (damaged, "records/test.csv is not the file that was released"),
        (no_release, "is no release"),
    ],
)
def test_an_unfit_earlier_release_is_refused_in_one_line(tmp_path: Path, spoil, message: str) -> None:
    root = spoken_project(tmp_path / "p")
    release(root, "mine", tmp_path / "one")
    spoil(root, tmp_path / "one")
    with pytest.raises(HearsightError, match=message) as caught:
        release(root, "mine", tmp_path / "two", since=tmp_path / "one")
    assert "\n" not in str(caught.value) and not (tmp_path / "two").exists()


def test_a_release_with_other_image_bytes_reports_every_record_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release(spoken_project(tmp_path / "p"), "mine", tmp_path / "one")
    monkeypatch.setattr(Caption, "shown", property(lambda self: drawn_image(50, "PNG")))
    release(spoken_project(tmp_path / "q"), "mine", tmp_path / "two", since=tmp_path / "one")
    assert report(tmp_path / "two")["ids"] == {"withdrawn": [], "changed": sorted(each.key for each in CAPTIONS), "moved": []}


def test_utterances_are_compared_by_identifier_and_audio_even_if_their_number_is_equal() -> None:
    changes = compare_speech(
        {"v": {"a.0": "1", "b.0": "2", "c.0": "3"}}, {"v": {"a.0": "1", "b.0": "x", "d.0": "3"}, "w": {"e": "1"}}
    )
    assert changes == {
        "v": {"added": ["d.0"], "withdrawn": ["c.0"], "changed": ["b.0"]},
        "w": {"added": ["e"], "withdrawn": [], "changed": []},
    }


CONTENTS = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.builds(Released, st.sampled_from(["train", "test"]), st.sampled_from("xyz"), st.sampled_from("12"), st.just("")),
)


@given(CONTENTS, CONTENTS)
def test_records_are_matched_one_to_one_and_only_within_an_image_or_identifier(before: dict, now: dict) -> None:
    pairs = list(match_records(before, now))
    assert len(pairs) == len({old for old, _ in pairs}) == len({new for _, new in pairs})
    assert all(old == new or before[old][2] == now[new][2] for old, new in pairs)
    assert {(name, name) for name in before.keys() & now.keys()} <= set(pairs)
    # No image has a record left in both.
    left = [Counter(side[name][2] for name in side.keys() - used) for side, used in (
        (before, {old for old, _ in pairs}), (now, {new for _, new in pairs}),
    )]  # fmt: skip
    assert not left[0].keys() & left[1].keys()
    assert sorted(pairs) == sorted(match_records(dict(reversed(before.items())), dict(reversed(now.items()))))
