"""Pseudonyms in a release of posts: no byte names an account, and users are drawn by the key alone."""

from __future__ import annotations

import gzip
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.tools.release.anonymous import KEY_VARIABLE, Mentions, Pseudonyms
from components.tools.release.kinds import release
from tests.support.release.posts_project import KEY, OWNERS, project, with_author
from tests.tools.release.posts_files import files, load, refusal


def names_of(owner: str) -> set[str]:
    bare = owner.rpartition("/")[2].lstrip("@")
    return {owner, bare, bare.partition("@")[0]}


@pytest.mark.parametrize("mask", [False, True])
def test_no_released_file_contains_the_name_of_an_owner(tmp_path: Path, mask: bool) -> None:
    root = project(tmp_path / "p", publisher={"contact": "the desk"})
    summary = release(root, "posts", tmp_path / "out", mask_mentions=mask)
    made = files(tmp_path / "out")
    made["the archive, unpacked"] = gzip.decompress(made["images.tar.gz"])
    assert with_author(0, OWNERS[0]).count(OWNERS[0].encode()) == 2, "the fixture's images name their authors"
    for owner in OWNERS:
        for name in names_of(owner):
            for path, data in made.items():
                assert name.casefold().encode() not in data.lower(), (name, path)
                assert name.casefold() not in path.casefold()
    assert KEY.encode() not in b"".join(made.values())
    raw = "".join(each["raw_caption"] for each in load(tmp_path / "out/dataset.json"))
    assert ("@outra.pessoa" in raw) is not mask and ("@user" in raw) is mask
    assert summary["masked"] > 24 and re.search(r"Siga @[0-9a-f]{16} ", raw) and re.search(r"posts\.sample/@[0-9a-f]{16}", raw)


def test_equal_key_and_data_give_equal_bytes_and_another_key_other_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = project(tmp_path / "a"), project(tmp_path / "b")
    release(one, "posts", tmp_path / "one", subsets={"x": 20})
    monkeypatch.delenv(KEY_VARIABLE)
    (tmp_path / "key").write_text(KEY + "\n")
    release(two, "posts", tmp_path / "two", subsets={"x": 20}, key_file=tmp_path / "key")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert release(one, "posts", tmp_path / "one", subsets={"x": 20}, key_file=tmp_path / "key")["written"].startswith("no")
    (tmp_path / "other").write_text("another key of enough bytes")
    release(one, "posts", tmp_path / "three", subsets={"x": 20}, key_file=tmp_path / "other")
    first, third = (load(tmp_path / name / "dataset.json") for name in ("one", "three"))
    for field in ("user", "filename"):
        assert not {each[field] for each in first} & {each[field] for each in third}
    assert Counter(each["caption"] for each in first) == Counter(each["caption"] for each in third)


def test_without_a_key_or_with_a_short_one_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, out = project(tmp_path / "p"), tmp_path / "out"
    monkeypatch.setenv(KEY_VARIABLE, "fifteen bytes.."[:15])
    assert "has 15 bytes, and a key needs at least 16" in refusal(root, out)
    monkeypatch.delenv(KEY_VARIABLE)
    line = refusal(root, out)
    assert "holds no key" in line
    fresh = subprocess.run(["sh", "-c", re.search(r"`(.*?)`", line)[1]], capture_output=True, text=True)  # type: ignore[index]
    assert re.fullmatch(r"[0-9a-f]{64}\n", fresh.stdout), "the line that makes one is printed, and works"
    assert "cannot be read" in refusal(root, out, key_file=tmp_path / "none")
    (root / "key").write_text(KEY)
    assert "lies in the project" in refusal(root, out, key_file=root / "key")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "key").write_text(KEY)
    with pytest.raises(HearsightError, match="lies in the release"):
        release(root, "posts", tmp_path / "out", key_file=tmp_path / "out" / "key")


def mask(text: str, owner: str = "", owners: tuple[str, ...] = OWNERS, **options: Any) -> str:
    return Mentions(Pseudonyms(KEY.encode()), owners, **options).mask(text, owner)


@pytest.mark.parametrize(
    ("text", "owner", "left"),
    [
        ("oi @maria.silva82, tudo bem?", "", "oi @U0, tudo bem?"),
        ("oi @MARIA.SILVA82.", "", "oi @U0."),
        ("maria.silva82 não é dela", "", "maria.silva82 não é dela"),
        ("por maria.silva82.", OWNERS[0], "por U0."),
        ("x@maria.silva82", "", "x@maria.silva82"),
        ("@joão@posts.sample e @joão", "", "@U2 e @U2"),
        ("@joão@outro.sample", "", "@U2"),
        ("JOÃO sorri", OWNERS[2], "U2 sorri"),
        ("veja instagram.com/foto_clube/ e a.b/c", "", "veja instagram.com/U1/ e a.b/c"),
        ("http://posts.sample/@ze_ninguem", "", "http://posts.sample/@U3"),
        ("@outra_pessoa", "", "@outra_pessoa"),
        ("＠foto_clube", "", "@U1"),
        ("", OWNERS[0], ""),
    ],
)
def test_accounts_of_the_set_are_masked_and_others_stay(text: str, owner: str, left: str) -> None:
    for number, each in enumerate(OWNERS):
        left = left.replace(f"U{number}", Pseudonyms(KEY.encode()).user(each))
    assert mask(text, owner) == left


def test_with_mask_all_every_mention_is_masked_and_names_that_are_words_are_kept() -> None:
    assert mask("@outra e eu@exemplo.org", mask_all=True) == "@user e eu@exemplo.org"
    assert mask("a ana e o sol", "ana", ("ana", "sol")) == "a ana e o sol"
    user = mask("@lia", owners=("lia@a.sample", "lia@b.sample"))
    assert user == "@user" and mask("@lia@a.sample", owners=("lia@a.sample", "lia@b.sample")) != "@user"


@given(st.text(max_size=60), st.sampled_from(OWNERS), st.booleans())
def test_any_text_is_masked_without_a_failure(text: str, owner: str, mask_all: bool) -> None:
    result = mask(f"{text} @{owner.lstrip('@')} {text}", owner, mask_all=mask_all)
    assert not re.search(rf"(?<!\w){re.escape(owner)}(?!\w)", result, re.I)
