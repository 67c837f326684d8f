"""A release of posts has the paper's layout and is read back by the table source."""

from __future__ import annotations

import json
import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages.crawl.run import run as run_crawl
from components.tools.release.anonymous import KEY_VARIABLE, Pseudonyms
from components.tools.release.kinds import release
from components.tools.release.posts import SAMPLE, draw_sample, draw_subsets, parse_subsets
from components.tools.takedown.listing import add
from tests.support import make_stage
from tests.support.command import hearsight
from tests.support.crawl.crawls import fixture_params
from tests.support.crawl.fixture_web import build_fixture_web
from tests.support.release.posts_project import KEY, OWNERS, SPLIT_OF, posts, project
from tests.support.release.project import project as web_project
from tests.tools.release.posts_files import archive, files, load, refusal


def test_the_files_have_the_papers_layout(posts_release: Path) -> None:
    instances = load(posts_release / "dataset.json")
    assert len(instances) == 24
    assert all(list(each) == ["user", "filename", "raw_caption", "caption", "date"] for each in instances)
    assert set(archive(posts_release)) == {f"images/{each['filename']}" for each in instances}
    assert [each["filename"] for each in instances] == sorted(each["filename"] for each in instances)
    names = {"dataset.json", "images.tar.gz", "settings.json", "statistics.tsv", "README.md", "datasheet.md", "datasheet.html"}
    names |= {
        "croissant.json",
        *(f"records/{split}{end}" for split in ("train", "validation", "test") for end in (".csv", "-00000.parquet")),
    }
    parts = {
        f"{folder}/{split}.json" for folder in ("splits", "subsets/#small", "subsets/large") for split in set(SPLIT_OF.values())
    }
    assert {name for name in files(posts_release) if not name.startswith("sample/")} == names | parts | {"SHA256SUMS"}
    checked = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=posts_release, capture_output=True, text=True)
    assert checked.returncode == 0 and checked.stdout.count(": OK") == len(files(posts_release)) - 1


def test_the_sample_has_five_instances_of_as_many_owners_as_possible(posts_release: Path) -> None:
    few, whole = load(posts_release / "sample/dataset.json"), load(posts_release / "dataset.json")
    assert len(few) == SAMPLE and all(each in whole for each in few)
    assert len({each["user"] for each in few}) == len(OWNERS)
    images = archive(posts_release)
    assert {p.name: p.read_bytes() for p in (posts_release / "sample/images").iterdir()} == {
        each["filename"]: images[f"images/{each['filename']}"] for each in few
    }


def test_splits_hold_every_instance_once_and_no_owner_twice(posts_release: Path) -> None:
    user = {each["filename"]: each["user"] for each in load(posts_release / "dataset.json")}
    parts = {name: load(posts_release / f"splits/{name}.json") for name in ("train", "validation", "test")}
    assert sorted(name for part in parts.values() for name in part) == sorted(user)
    sides = [{user[name] for name in part} for part in parts.values()]
    assert [len(side) for side in sides] == [2, 1, 1] and len(set.union(*sides)) == 4


def test_a_subset_contains_the_kept_posts_of_those_drawn_before_cleaning(posts_release: Path) -> None:
    whole = {split: set(load(posts_release / f"splits/{split}.json")) for split in set(SPLIT_OF.values())}
    sizes = {}
    for name in ("#small", "large"):
        parts = {split: set(load(posts_release / f"subsets/{name}/{split}.json")) for split in whole}
        assert all(parts[split] <= whole[split] for split in whole)
        sizes[name] = set.union(*parts.values())
    # 36 posts were collected, 24 are left: of 30 drawn some had been dropped.
    assert sizes["#small"] < sizes["large"] and len(sizes["#small"]) <= 8 and len(sizes["large"]) < 24
    rows = [line.split("\t") for line in (posts_release / "statistics.tsv").read_text().splitlines()]
    result = {(r[0], r[1]): r[2] for r in rows[1:]}
    assert result["posts", "all"] == "24" and result["large", "all"] == str(len(sizes["large"]))


def test_statistics_have_the_columns_of_table_1(posts_release: Path) -> None:
    head, first, *_ = (line.split("\t") for line in (posts_release / "statistics.tsv").read_text().splitlines())
    # "na foto número 7 uma mulher idiota caminha na praia": ten words, nine and the number's 24.
    assert dict(zip(head, first, strict=True)) == {
        "set": "posts", "split": "all", "posts": "24", "owners": "4", "vocabulary": "32", "words_mean": "10.0", "words_sd": "0.0",
    }  # fmt: skip


def test_the_importer_reads_it_back(posts_release: Path, tmp_path: Path) -> None:
    with tarfile.open(posts_release / "images.tar.gz") as tar:
        for member in tar.getmembers():  # one by one: Debian 12's Python 3.11.2 has no ``extractall(filter=)``
            path = (tmp_path / member.name).resolve()
            assert member.isfile() and path.is_relative_to(tmp_path), member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(tar.extractfile(member).read())
    (tmp_path / "dataset.json").write_bytes((posts_release / "dataset.json").read_bytes())
    build_fixture_web(tmp_path / "web", pages=2)
    whole = load(posts_release / "dataset.json")
    for layout, field in (("pracegover", "caption"), ("pracegover_raw", "raw_caption")):
        values = {"source": "table", "seeds": [], "hosts": [], "layout": layout, "inputs": ["dataset.json"], "language": "pt"}
        job = make_stage(tmp_path, "crawl", layout, fixture_params(snapshot=layout, image_folder="images", **values))
        run_crawl(job)
        job.finish()
        got = [(r["owner"], r["alt"], r["posted"]) for r in StageOutput(job.out).table().to_pylist()]
        assert got == [(each["user"], each[field], each["date"]) for each in whole]


def test_owners_and_pages_taken_down_later_are_left_out(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    add(root, "owner", "Maria.Silva82")
    add(root, "url", posts()[1]["page_url"])
    summary = release(root, "posts", tmp_path / "out")
    assert summary["taken_down"] == 7 and summary["train"] + summary["validation"] + summary["test"] == 17
    users = {each["user"] for each in load(tmp_path / "out/dataset.json")}
    assert Pseudonyms(KEY.encode()).user("maria.silva82") not in users and len(users) == 3
    assert len(archive(tmp_path / "out")) == 17


def test_an_image_whose_metadata_cannot_be_removed_is_left_out_and_counted(tmp_path: Path) -> None:
    from components.core.digests import sha256_bytes

    records = posts()
    records[3]["data"] = records[3]["data"][:-40]
    records[3]["image_sha256"] = sha256_bytes(records[3]["data"])
    summary = release(project(tmp_path / "p", records), "posts", tmp_path / "out")
    assert summary["unreadable"] == 1 and len(load(tmp_path / "out/dataset.json")) == 23 == len(archive(tmp_path / "out"))


def test_a_damaged_image_is_refused(tmp_path: Path) -> None:
    records = posts()
    records[5]["image_sha256"] = "0" * 64
    assert "is not the image of record" in refusal(project(tmp_path / "p", records), tmp_path / "out")


def test_invalid_options_give_a_one_line_error(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    assert "asks for 40 of 36 collected posts" in refusal(root, tmp_path / "out", subsets={"big": 40})
    assert "is not a set of posts" in refusal(
        web_project(tmp_path / "w"), tmp_path / "out", dataset="english", subsets={"big": 40}
    )
    assert "nothing to release" in refusal(project(tmp_path / "q", []), tmp_path / "out")
    for result in ("a", "a=", "=3", "a=0", "a=-1", "../x=3", "a/b=3", "a=1e3"):
        with pytest.raises(HearsightError, match="names no subset"):
            parse_subsets([result])
    with pytest.raises(HearsightError, match="is given twice"):
        parse_subsets(["a=1", "a=2"])
    assert parse_subsets(["#PraCegoVer-63K=100000"]) == {"#PraCegoVer-63K": 100000}


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 5))
def test_subsets_are_nested_and_keep_their_keys_when_posts_are_few_or_many(size: int, more: int, seed: int) -> None:
    keys = [f"k{n}" for n in range(size + more)]
    result = draw_subsets({"a": size, "b": size + more}, keys, seed)
    assert len(result["a"]) == size and result["a"] <= result["b"] == set(keys)
    assert result == draw_subsets({"a": size, "b": size + more}, keys[::-1], seed)


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(0, 5))
def test_a_sample_contains_as_many_owners_as_possible(users: list[int], seed: int) -> None:
    pairs = [(f"k{n}", str(user)) for n, user in enumerate(users)]
    result = draw_sample(pairs, seed)
    assert len(result) == min(SAMPLE, len(pairs)) == len(set(result))
    assert len({pairs[index][1] for index in result}) == min(SAMPLE, len(set(users)))


def test_the_command_writes_a_release_and_refuses_with_one_line(tmp_path: Path) -> None:
    root = project(tmp_path / "p")

    def call(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
        where = ("--dataset", "posts", "--out", str(tmp_path / "out"))
        return hearsight("release", *where, *words, HEARSIGHT_ROOT=str(root), **environment)

    refused = call(**{KEY_VARIABLE: ""})
    assert refused.returncode == 2 and refused.stderr.count(b"\n") == 1 and b"secrets.token_hex" in refused.stderr
    done = call("--subset", "half=12", "--licence", "CC0")
    output = json.loads(done.stdout)
    assert (
        done.returncode == 0
        and output["train"] == 12
        and set(output["subsets"]) == {"half"}
        and "contact" in output["not_stated"]
    )
    assert KEY.encode() not in done.stdout + done.stderr
