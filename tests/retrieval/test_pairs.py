"""Utterances meet their images, whatever sets they come from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from components.core.addresses import PREPARED_FILE
from components.core.errors import HearsightError
from components.retrieval.pairs import SpokenSet, read_pairs, sets_of
from components.training.members import Members
from tests.support.retrieval.world import FEATURES, TRAINED, output, spoken_set


def test_a_split_has_its_utterances_in_key_order_each_with_its_own_image(tmp_path: Path) -> None:
    one = spoken_set(tmp_path, voices=2)
    pairs = read_pairs([one], "train", ["image"])
    rows = {row["key"]: row for row in one.speech.table().to_pylist()}
    assert pairs.keys == sorted(key for key, row in rows.items() if row["split"] == "train") and len(pairs) == 16
    assert [pairs.sha256[place] for place in pairs.image] == [rows[key]["image_sha256"] for key in pairs.keys]
    assert all(pairs.audio.read(n) == one.speech.read_media(rows[key]["media"]) for n, key in enumerate(pairs.keys))
    prepared = {row["image_sha256"]: row for row in one.images.table().to_pylist()}
    for place, sha in enumerate(pairs.sha256):
        assert pairs.media.read(place) == one.images.read_media(prepared[sha]["media"])
        assert pairs.centre is not None and pairs.centre.array(place).shape == (1, 1, FEATURES)


def test_only_utterances_of_one_image_match(tmp_path: Path) -> None:
    pairs = read_pairs([spoken_set(tmp_path, voices=3)], "train", ["image"])
    assert np.array_equal(pairs.identity[:, None] == pairs.identity[None], pairs.image[:, None] == pairs.image[None])
    assert np.array_equal(pairs.image_identity[pairs.image], pairs.identity)


def test_matching_by_text_joins_the_images_of_one_caption(tmp_path: Path) -> None:
    one = spoken_set(tmp_path)
    rows = one.speech.table().to_pylist()
    train = [row for row in rows if row["split"] == "train"]
    train[0]["caption"] = train[1]["caption"]
    media = {row["media"].partition("/")[2]: one.speech.read_media(row["media"]) for row in rows}
    changed = SpokenSet(output(tmp_path / "changed", "import_recordings", "stamps", rows, media), one.images)
    apart, together = (read_pairs([changed], "train", by).identity for by in (["image"], ["image", "text"]))
    assert apart[0] != apart[1] and together[0] == together[1] and len(set(together)) == len(set(apart)) - 1


def test_sets_are_joined_and_duplicates_count_once(tmp_path: Path) -> None:
    first, second = spoken_set(tmp_path, "stamps"), spoken_set(tmp_path, "posts", stage="synthesize")
    inputs = {"input": first.speech, "images": first.images, "more": second.speech, "more_images": second.images}
    both = read_pairs(sets_of(inputs), "train", ["image"])
    alone = [read_pairs([one], "train", ["image"]) for one in (first, second)]
    assert both.keys == alone[0].keys + alone[1].keys
    # The images are the same files: each stands once, and as the first set prepared it.
    assert both.sha256 == alone[0].sha256 and both.media.read(0) == alone[0].media.read(0)
    assert [both.audio.read(n) for n in (0, len(both) - 1)] == [alone[0].audio.read(0), alone[1].audio.read(len(alone[1]) - 1)]
    twice = {"input": first.speech, "images": first.images, "more": first.speech, "more_images": first.images}
    assert len(sets_of(twice)) == 1


def test_an_utterance_of_an_image_that_was_not_prepared_is_left_out(tmp_path: Path) -> None:
    one = spoken_set(tmp_path)
    rows = [row for row in one.images.table().to_pylist() if row["key"] != "stamps00"]
    media = {row[name].partition("/")[2]: one.images.read_media(row[name]) for row in rows for name in ("media", "centre")}
    about = one.images.file(PREPARED_FILE).read_bytes()
    fewer = output(tmp_path / "fewer", "extract_features", "stamps", rows, media, {PREPARED_FILE: about})
    assert "stamps00.0" not in read_pairs([SpokenSet(one.speech, fewer)], "train", ["image"]).keys


def test_sets_prepared_for_different_towers_are_refused_together(tmp_path: Path) -> None:
    first, second = spoken_set(tmp_path, "stamps"), spoken_set(tmp_path, "posts", frozen=False)
    with pytest.raises(HearsightError, match="another encoder"):
        read_pairs([first, second], "train", ["image"])
    assert json.loads(second.images.file(PREPARED_FILE).read_text())["encoder"] == TRAINED


def test_only_utterances_of_the_chosen_voices_are_read(tmp_path: Path) -> None:
    one = spoken_set(tmp_path, voices=3)
    pairs = read_pairs([one], "test", ["image"], ["v2", "v0"])
    every = read_pairs([one], "test", ["image"])
    assert pairs.keys == [key for key in every.keys if not key.endswith(".1")] and len(pairs) == 8
    assert pairs.sha256 == every.sha256 and [pairs.audio.read(n) for n in (0, 1)] == [every.audio.read(n) for n in (0, 2)]


def test_a_voice_that_speaks_nowhere_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(HearsightError, match="no utterance of 'v3' — known names: v0, v1"):
        read_pairs([spoken_set(tmp_path, voices=2)], "test", ["image"], ["v0", "v3"])


def test_an_empty_split_has_no_pairs(tmp_path: Path) -> None:
    pairs = read_pairs([spoken_set(tmp_path, images=2)], "test", ["image", "text"])
    assert len(pairs) == 0 and pairs.sha256 == [] and len(pairs.audio) == 0


def test_members_of_several_sets_keep_their_places(tmp_path: Path) -> None:
    parts = []
    for name in ("a", "b"):
        one = spoken_set(tmp_path / name, images=4)
        parts.append(Members(one.speech, one.speech.table(["media"])["media"].to_pylist()))
    joined = Members.joined(parts)
    assert [joined.read(n) for n in range(8)] == [part.read(n) for part in parts for n in range(4)]
    assert [joined.select(np.array([6, 1])).read(n) for n in (0, 1)] == [joined.read(6), joined.read(1)]
