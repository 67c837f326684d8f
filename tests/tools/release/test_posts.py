"""A release of posts: the paper's layout, read back by our importer; no account by its name in any byte; drawn by keys alone."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages.crawl.run import run as run_crawl
from components.tools.release import release
from components.tools.release.anonymous import KEY_VARIABLE, Pseudonyms
from components.tools.release.mentions import Mentions
from components.tools.release.sheet import QUESTIONS, Publisher
from components.tools.release.subsets import SAMPLE, draw_sample, draw_subsets, parse_subsets
from components.tools.takedown.listing import add
from tests.command import hearsight
from tests.stages.crawl.conftest import fixture_params
from tests.stages.crawl.fixture_web import build_fixture_web
from tests.support import make_stage
from tests.tools.release.posts_project import KEY, OWNERS, SPLIT_OF, posts, project, with_author


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One release that several tests read."""
    root = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_VARIABLE, KEY)
        release(project(root / "p"), "posts", root / "out", "CC BY 4.0", subsets={"#small": 8, "large": 30})
    return root / "out"


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def archive(out: Path) -> dict[str, bytes]:
    with tarfile.open(out / "images.tar.gz") as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def test_the_files_have_the_papers_layout(made: Path) -> None:
    instances = load(made / "dataset.json")
    assert len(instances) == 24
    assert all(list(each) == ["user", "filename", "raw_caption", "caption", "date"] for each in instances)
    assert set(archive(made)) == {f"images/{each['filename']}" for each in instances}
    assert [each["filename"] for each in instances] == sorted(each["filename"] for each in instances)
    names = {"dataset.json", "images.tar.gz", "settings.json", "statistics.tsv", "README.md", "datasheet.md", "datasheet.html"}
    parts = {
        f"{folder}/{split}.json" for folder in ("splits", "subsets/#small", "subsets/large") for split in set(SPLIT_OF.values())
    }
    assert {name for name in files(made) if not name.startswith("sample/")} == names | parts | {"SHA256SUMS"}
    checked = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=made, capture_output=True, text=True)
    assert checked.returncode == 0 and checked.stdout.count(": OK") == len(files(made)) - 1


def test_the_sample_is_five_of_the_instances_of_as_many_owners_as_there_are(made: Path) -> None:
    few, whole = load(made / "sample/dataset.json"), load(made / "dataset.json")
    assert len(few) == SAMPLE and all(each in whole for each in few)
    assert len({each["user"] for each in few}) == len(OWNERS)
    pictures = archive(made)
    assert {p.name: p.read_bytes() for p in (made / "sample/images").iterdir()} == {
        each["filename"]: pictures[f"images/{each['filename']}"] for each in few
    }


def test_splits_hold_every_instance_once_and_no_owner_twice(made: Path) -> None:
    user = {each["filename"]: each["user"] for each in load(made / "dataset.json")}
    parts = {name: load(made / f"splits/{name}.json") for name in ("train", "validation", "test")}
    assert sorted(name for part in parts.values() for name in part) == sorted(user)
    sides = [{user[name] for name in part} for part in parts.values()]
    assert [len(side) for side in sides] == [2, 1, 1] and len(set.union(*sides)) == 4


def test_a_subset_is_what_is_left_of_the_posts_drawn_before_any_cleaning(made: Path) -> None:
    whole = {split: set(load(made / f"splits/{split}.json")) for split in set(SPLIT_OF.values())}
    sizes = {}
    for name in ("#small", "large"):
        parts = {split: set(load(made / f"subsets/{name}/{split}.json")) for split in whole}
        assert all(parts[split] <= whole[split] for split in whole)
        sizes[name] = set.union(*parts.values())
    # 36 posts were collected, 24 are left: of 30 drawn some had been dropped.
    assert sizes["#small"] < sizes["large"] and len(sizes["#small"]) <= 8 and len(sizes["large"]) < 24
    rows = [line.split("\t") for line in (made / "statistics.tsv").read_text().splitlines()]
    told = {(r[0], r[1]): r[2] for r in rows[1:]}
    assert told["posts", "all"] == "24" and told["large", "all"] == str(len(sizes["large"]))


def test_statistics_are_those_of_table_1(made: Path) -> None:
    head, first, *_ = (line.split("\t") for line in (made / "statistics.tsv").read_text().splitlines())
    # "na foto número 7 uma mulher idiota caminha na praia": ten words, nine and the number's 24.
    assert dict(zip(head, first, strict=True)) == {
        "set": "posts", "split": "all", "posts": "24", "owners": "4", "vocabulary": "32", "words_mean": "10.0", "words_sd": "0.0",
    }  # fmt: skip


def test_the_importer_reads_it_back(made: Path, tmp_path: Path) -> None:
    with tarfile.open(made / "images.tar.gz") as tar:
        for member in tar.getmembers():  # one by one: Debian 12's Python 3.11.2 has no ``extractall(filter=)``
            path = (tmp_path / member.name).resolve()
            assert member.isfile() and path.is_relative_to(tmp_path), member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(tar.extractfile(member).read())
    (tmp_path / "dataset.json").write_bytes((made / "dataset.json").read_bytes())
    build_fixture_web(tmp_path / "web", pages=2)
    whole = load(made / "dataset.json")
    for layout, field in (("pracegover", "caption"), ("pracegover_raw", "raw_caption")):
        values = {"source": "table", "seeds": [], "hosts": [], "layout": layout, "inputs": ["dataset.json"], "language": "pt"}
        job = make_stage(tmp_path, "crawl", layout, fixture_params(snapshot=layout, image_folder="images", **values))
        run_crawl(job)
        job.finish()
        got = [(r["owner"], r["alt"], r["posted"]) for r in StageOutput(job.out).table().to_pylist()]
        assert got == [(each["user"], each[field], each["date"]) for each in whole]


def names_of(owner: str) -> set[str]:
    bare = owner.rpartition("/")[2].lstrip("@")
    return {owner, bare, bare.partition("@")[0]}


@pytest.mark.parametrize("mask", [False, True])
def test_no_released_byte_names_an_owner(tmp_path: Path, mask: bool) -> None:
    root = project(tmp_path / "p", publisher={"contact": "the desk"})
    told = release(root, "posts", tmp_path / "out", mask_mentions=mask)
    made = files(tmp_path / "out")
    made["the archive, unpacked"] = gzip.decompress(made["images.tar.gz"])
    assert with_author(0, OWNERS[0]).count(OWNERS[0].encode()) == 2, "the fixture's pictures name their authors"
    for owner in OWNERS:
        for name in names_of(owner):
            for path, data in made.items():
                assert name.casefold().encode() not in data.lower(), (name, path)
                assert name.casefold() not in path.casefold()
    assert KEY.encode() not in b"".join(made.values())
    raw = "".join(each["raw_caption"] for each in load(tmp_path / "out/dataset.json"))
    assert ("@outra.pessoa" in raw) is not mask and ("@user" in raw) is mask
    assert told["masked"] > 24 and re.search(r"Siga @[0-9a-f]{16} ", raw) and re.search(r"posts\.sample/@[0-9a-f]{16}", raw)


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


def test_pictures_are_the_same_pixels_without_their_metadata(made: Path) -> None:
    from PIL import Image, ImageOps

    released = {
        archive(made)[f"images/{Pseudonyms(KEY.encode()).file(r['key'], 'jpg')}"]: r["data"]
        for r in posts()
        if r["format"] == "JPEG"
    }
    for now, was in released.items():
        with Image.open(io.BytesIO(now)) as one, Image.open(io.BytesIO(was)) as two:
            assert ImageOps.exif_transpose(one).tobytes() == ImageOps.exif_transpose(two).tobytes()
            assert "comment" not in one.info and set(one.getexif()) <= {0x0112}
    assert sum(now != was for now, was in released.items()) == 8, "every third was signed"


def refusal(root: Path, out: Path, **options: Any) -> str:
    with pytest.raises(HearsightError) as told:
        release(root, options.pop("dataset", "posts"), out, **options)
    assert not out.exists() and "\n" not in str(told.value)
    return str(told.value)


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


def test_who_was_taken_down_since_is_not_in_it(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    add(root, "owner", "Maria.Silva82")
    add(root, "url", posts()[1]["page_url"])
    told = release(root, "posts", tmp_path / "out")
    assert told["taken_down"] == 7 and told["train"] + told["validation"] + told["test"] == 17
    users = {each["user"] for each in load(tmp_path / "out/dataset.json")}
    assert Pseudonyms(KEY.encode()).user("maria.silva82") not in users and len(users) == 3
    assert len(archive(tmp_path / "out")) == 17


def test_a_picture_that_cannot_be_taken_apart_is_left_out_and_told(tmp_path: Path) -> None:
    from components.core.digests import sha256_bytes

    records = posts()
    records[3]["data"] = records[3]["data"][:-40]
    records[3]["image_sha256"] = sha256_bytes(records[3]["data"])
    told = release(project(tmp_path / "p", records), "posts", tmp_path / "out")
    assert told["unreadable"] == 1 and len(load(tmp_path / "out/dataset.json")) == 23 == len(archive(tmp_path / "out"))


def test_a_damaged_picture_and_parts_of_different_runs_are_refused(tmp_path: Path) -> None:
    records = posts()
    records[5]["image_sha256"] = "0" * 64
    assert "is not the image of record" in refusal(project(tmp_path / "p", records), tmp_path / "out")
    import shutil

    one, two = project(tmp_path / "q"), project(tmp_path / "r", posts(23))
    shutil.rmtree(one / "data/posts/crawl")
    shutil.copytree(two / "data/posts/crawl", one / "data/posts/crawl")
    assert "is not the output that posts/extract_descriptions was made from" in refusal(one, tmp_path / "out")


def test_options_that_do_not_fit_are_one_line(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    assert "asks for 40 of 36 collected posts" in refusal(root, tmp_path / "out", subsets={"big": 40})
    assert "is no set of posts" in refusal(root, tmp_path / "out", dataset="english", subsets={"big": 40})
    assert "nothing to release" in refusal(project(tmp_path / "q", []), tmp_path / "out")
    for said in ("a", "a=", "=3", "a=0", "a=-1", "../x=3", "a/b=3", "a=1e3"):
        with pytest.raises(HearsightError, match="names no subset"):
            parse_subsets([said])
    with pytest.raises(HearsightError, match="is given twice"):
        parse_subsets(["a=1", "a=2"])
    assert parse_subsets(["#PraCegoVer-63K=100000"]) == {"#PraCegoVer-63K": 100000}


def test_the_publishers_block_is_held_to_its_fields(tmp_path: Path) -> None:
    root = project(tmp_path / "p", publisher={"owner": "me"})
    assert "release.posts.owner: is not a setting" in refusal(root, tmp_path / "out")


def sheet(out: Path) -> dict[str, str]:
    parts = re.split(r"^### (\S+) .*$", (out / "datasheet.md").read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_question_of_the_paper_is_answered(made: Path) -> None:
    paper = {"6.1": 3, "6.2": 10, "6.3": 9, "6.4": 3, "6.5": 4, "6.6": 5, "6.7": 5}
    numbers = [f"{section}.{number}" for section, count in paper.items() for number in range(1, count + 1)]
    assert list(QUESTIONS) == numbers and len(numbers) == 39
    found, page = sheet(made), (made / "datasheet.html").read_text()
    assert list(found) == numbers and all(answer.split("## ")[0].strip() for answer in found.values())
    assert re.findall(r'<h3 id="([\d.]+)">', page) == numbers


def test_the_datasheet_tells_what_was_measured(made: Path) -> None:
    found = sheet(made)
    for number, told in {
        "6.2.1": "tag pracegover",
        "6.2.2": "24 instances of 4 owners. The owner with most posts has 25.0%",
        "6.2.5": "train: 12 posts (50.0%) of 2 owners",
        "6.2.6": "Of 31 posts that entered the search for duplicates 22.6% were dropped",
        "6.2.8": "| idiota, idiotas | 24 |",
        "6.2.9": "Raw captions that still mention an account: 12 (50.0%); a web address: 12 (50.0%); an e-mail "
        "address: 12 (50.0%)",
        "6.3.1": "Of 36 captions 13.9% were malformed",
        "6.3.2": "| extract_descriptions | record | 36 | 31 | 13.9% | no_hashtag 5 |",
        "6.3.4": "Posted: 2026-01-03 to 2026-12-03 (1 without a day). Collected: 2026-11-21 to 2026-11-21",
        "6.4.1": "| extract_descriptions | min_words | 3 |\n| dedup | signal.kind | phash |\n"
        "| dedup | signal.max_distance | 6 |\n| split | by | owner |",
        "6.5.4": "| mulher, mulheres | 24 |",
        "6.6.4": "CC BY 4.0",
    }.items():
        assert told in found[number], (number, found[number])
    # 2026-11-03 is 18 days before, 2026-12-03 after: all but the months of 12 and the undated first are late, of 23.
    assert "of 23 posts whose days are known 91.3% were collected more than 7 days" in found["6.3.4"]
    assert "6 instances whose picture is a near-duplicate" in found["6.2.6"] and "3 pictures" in found["6.2.6"]
    assert "profiles" not in (made / "settings.json").read_text(), "the crawl's settings may name accounts"


def test_what_the_publishers_did_not_say_is_told_and_never_made_up(tmp_path: Path) -> None:
    root = project(tmp_path / "p", publisher={"funding": "Grant 1 | <b>of</b> nobody", "contact": "desk@example.org"})
    told = release(root, "posts", tmp_path / "out")
    empty = told["not_stated"].split(", ")
    assert sorted([*empty, "funding", "contact"]) == sorted(Publisher.model_fields)
    found = sheet(tmp_path / "out")
    assert sum("Not stated by the publishers." in answer for answer in found.values()) == len(empty)
    assert "Grant 1 | <b>of</b> nobody" in found["6.1.3"]
    page = (tmp_path / "out/datasheet.html").read_text()
    assert "Grant 1 | &lt;b&gt;of&lt;/b&gt; nobody" in page
    assert "Requests go to: desk@example.org." in (tmp_path / "out/README.md").read_text()
    everything = project(tmp_path / "q", publisher=dict.fromkeys(Publisher.model_fields, "said"))
    assert release(everything, "posts", tmp_path / "all")["not_stated"] == "nothing"
    assert "Not stated" not in (tmp_path / "all/datasheet.md").read_text()


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 5))
def test_subsets_are_nested_and_keep_their_keys_when_posts_are_few_or_many(size: int, more: int, seed: int) -> None:
    keys = [f"k{n}" for n in range(size + more)]
    found = draw_subsets({"a": size, "b": size + more}, keys, seed)
    assert len(found["a"]) == size and found["a"] <= found["b"] == set(keys)
    assert found == draw_subsets({"a": size, "b": size + more}, keys[::-1], seed)


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(0, 5))
def test_a_sample_takes_as_many_owners_as_it_can(users: list[int], seed: int) -> None:
    pairs = [(f"k{n}", str(user)) for n, user in enumerate(users)]
    found = draw_sample(pairs, seed)
    assert len(found) == min(SAMPLE, len(pairs)) == len(set(found))
    assert len({pairs[index][1] for index in found}) == min(SAMPLE, len(set(users)))


def test_the_command_writes_and_refuses_in_one_line(tmp_path: Path) -> None:
    root = project(tmp_path / "p")

    def call(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
        where = ("--dataset", "posts", "--out", str(tmp_path / "out"))
        return hearsight("release", *where, *words, HEARSIGHT_ROOT=str(root), **environment)

    refused = call(**{KEY_VARIABLE: ""})
    assert refused.returncode == 2 and refused.stderr.count(b"\n") == 1 and b"secrets.token_hex" in refused.stderr
    done = call("--subset", "half=12", "--licence", "CC0")
    told = json.loads(done.stdout)
    assert done.returncode == 0 and told["train"] == 12 and set(told["subsets"]) == {"half"} and "contact" in told["not_stated"]
    assert KEY.encode() not in done.stdout + done.stderr


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


def test_mentions_masked_all_and_names_that_are_words() -> None:
    assert mask("@outra e eu@exemplo.org", mask_all=True) == "@user e eu@exemplo.org"
    assert mask("a ana e o sol", "ana", ("ana", "sol")) == "a ana e o sol"
    user = mask("@lia", owners=("lia@a.sample", "lia@b.sample"))
    assert user == "@user" and mask("@lia@a.sample", owners=("lia@a.sample", "lia@b.sample")) != "@user"


@given(st.text(max_size=60), st.sampled_from(OWNERS), st.booleans())
def test_any_text_is_masked_without_a_failure(text: str, owner: str, mask_all: bool) -> None:
    found = mask(f"{text} @{owner.lstrip('@')} {text}", owner, mask_all=mask_all)
    assert not re.search(rf"(?<!\w){re.escape(owner)}(?!\w)", found, re.I)
