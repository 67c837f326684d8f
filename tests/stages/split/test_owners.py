"""All posts of an owner are in one split, close to 60/20/20, also when posts come and go; no image is in two splits."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages.check import check
from components.stages.split import ByGroup
from components.stages.split.owners import Post, deviations, place_owners
from components.stages.split.run import ACROSS, MAX_DEVIATION, SPLITS
from tests.stages.split.owner_posts import DAYS, SHARES, record, split, splits_by_key, splits_by_owner
from tests.support import PROJECT
from tests.support.check.boundaries import make


@st.composite
def sizes(draw: st.DrawFn) -> list[int]:
    """Posts of each owner, from all alike to a heavy tail, none above one in a hundred."""
    total = draw(st.integers(100, 3000))
    most = total // 100
    kind = draw(st.sampled_from(["alike", "uniform", "heavy", "few small ones"]))
    random = draw(st.randoms(use_true_random=False))
    made: list[int] = []
    while (left := total - sum(made)) > 0:
        size = {
            "alike": most,
            "uniform": random.randint(1, most),
            "heavy": int(min(most, random.paretovariate(1.1))),
            "few small ones": most if random.random() < 0.95 else 1,
        }[kind]
        made.append(min(size, left))
    return made


def posts_of(counts: list[int]) -> list[Post]:
    return [Post(f"{o}-{n}", f"{o}-{n}", f"owner{o}", "", "") for o, count in enumerate(counts) for n in range(count)]


@pytest.mark.long
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sizes(), st.integers(0, 9))
def test_splits_are_within_one_percent_of_their_shares_while_no_owner_holds_more(counts: list[int], seed: int) -> None:
    posts = posts_of(counts)
    placement = place_owners(posts, SHARES, seed, {}, lambda key: "train")
    assert set(placement.owners) == {post.owner for post in posts}
    deviation = deviations((placement.splits_of(post)[0] for post in posts), SHARES)
    assert max(map(abs, deviation.values())) <= MAX_DEVIATION


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.data())
def test_the_placement_does_not_depend_on_the_order_of_posts(counts: list[int], data: st.DataObject) -> None:
    posts = posts_of(counts)
    mixed = data.draw(st.permutations(posts))
    assert place_owners(posts, SHARES, 1, {}, lambda key: "test") == place_owners(mixed, SHARES, 1, {}, lambda key: "test")


GROUPED = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 12), st.integers(0, 2)), min_size=1, max_size=40
)  # owner (0: nobody), group, day


@settings(max_examples=100, deadline=None)
@given(GROUPED, st.dictionaries(st.integers(1, 6).map(str), st.sampled_from(SPLITS)))
def test_each_group_is_in_the_split_of_its_earliest_post(made: list[tuple[int, int, int]], known: dict[str, str]) -> None:
    posts = [
        Post(f"{n:04}", f"g{group}", str(owner) if owner else "", DAYS[day], "") for n, (owner, group, day) in enumerate(made)
    ]
    placement = place_owners(posts, SHARES, 1, known, lambda key: "validation")
    stays = [post for post in posts if len(set(placement.splits_of(post))) == 1]
    for group in {post.group for post in posts}:
        first = min((p for p in posts if p.group == group), key=lambda p: (p.collected, p.key))
        assert first in stays, "the earliest of a group always stays"
        assert len({placement.splits_of(p)[0] for p in stays if p.group == group}) == 1
    assert all(placement.owners[owner] == split for owner, split in known.items() if owner in placement.owners)
    assert all(post in stays for post in posts if not post.owner), "a post without an owner always stays"


def test_an_owner_keeps_its_split_when_posts_are_added_and_withdrawn(tmp_path: Path) -> None:
    first = [record(n, f"owner{n % 23}") for n in range(200)]
    before = splits_by_owner(split(tmp_path, first))
    much = first + [record(1000 + n, "owner3") for n in range(300)] + [record(2000 + n, f"new{n % 9}", day=1) for n in range(90)]
    grown = split(tmp_path, much)
    after = splits_by_owner(grown)
    assert all(len(splits) == 1 for splits in after.values()) and {name: after[name] for name in before} == before
    gone = [r for r in much if r["owner"] not in ("owner3", "owner5")]
    left = splits_by_owner(split(tmp_path, gone))
    assert left == {name: splits for name, splits in after.items() if name not in ("owner3", "owner5")}
    assert splits_by_owner(split(tmp_path, much)) == after, "a returning owner has its earlier split"


def test_new_owners_restore_the_shares(tmp_path: Path) -> None:
    split(tmp_path, [record(n, f"o{n % 20}") for n in range(100)])
    more = [record(n, f"o{n % 20}") for n in range(100)] + [record(500 + n, f"p{n % 150}", day=1) for n in range(450)]
    counts = Counter(splits_by_key(split(tmp_path, more)).values())
    assert max(abs(counts[name] / 550 - share) for name, share in SHARES.items()) <= MAX_DEVIATION


def test_spellings_of_one_account_are_one_owner(tmp_path: Path) -> None:
    rows = [record(n, f"o{n}") for n in range(30)] + [
        record(100, "Ana.Lima"),
        record(101, "@ana.lima"),
        record(102, " ANA.LIMA "),
    ]
    ours = splits_by_key(split(tmp_path, rows))
    assert len({ours[f"{n:016x}"] for n in (100, 101, 102)}) == 1


def test_equal_input_gives_equal_bytes_with_and_without_an_assignment_file(tmp_path: Path) -> None:
    rows = [record(n, f"owner{n % 11}", group=f"{n % 40:016x}", day=n % 3) for n in range(120)]
    one, two = split(tmp_path / "a", rows), split(tmp_path / "b", rows)
    again = split(tmp_path / "a", rows)
    assert StageOutput(one.out).digest == StageOutput(two.out).digest == StageOutput(again.out).digest
    files = [(tmp_path / name / "data/store/sides/ours.jsonl").read_text() for name in "ab"]
    assert files[0] != files[1], "each project has a salt of its own"


def test_a_later_duplicate_in_another_split_is_dropped_and_the_ledger_names_the_kept_one(tmp_path: Path) -> None:
    alone = [record(n, f"o{n}") for n in range(10)]
    assigned = splits_by_owner(split(tmp_path, alone))
    here = next(name for name, splits in assigned.items() if splits == {"train"})
    there = next(name for name, splits in assigned.items() if splits == {"test"})
    same = next(name for name, splits in assigned.items() if splits == {"train"} and name != here)
    group = "f" * 16
    rows = [
        *alone,
        record(50, there, group, day=1),
        record(51, here, group, day=0),
        record(52, same, group, day=2),
        record(53, "", group, day=2),
    ]
    stage = split(tmp_path, rows)
    assert {key: name for key, name in splits_by_key(stage).items() if int(key, 16) >= 50} == dict.fromkeys(
        (f"{n:016x}" for n in (51, 52, 53)), "train"
    )
    (gone,) = [r for r in StageOutput(stage.out).ledger().to_pylist() if r["verdict"] == "dropped"]
    assert (gone["key"], gone["rule"], gone["value"]) == (f"{50:016x}", ACROSS, f"same image as {51:016x} in train")


def test_the_earlier_post_is_kept_when_a_group_grows(tmp_path: Path) -> None:
    group = f"{0x20:016x}"
    alone = [record(n, f"o{n}") for n in range(10)]
    assigned = splits_by_owner(split(tmp_path, alone))
    here, there = (next(name for name, splits in assigned.items() if splits == {s}) for s in ("train", "test"))
    old = record(99, there, f"{99:016x}", day=0)
    assert f"{99:016x}" in splits_by_key(split(tmp_path, [*alone, old]))
    # The newcomer has the smaller key, and so gives the group its name.
    rows = [*alone, {**old, "group": group}, record(0x20, here, group, day=1)]
    kept = splits_by_key(split(tmp_path, rows))
    assert f"{99:016x}" in kept and f"{0x20:016x}" not in kept


def test_a_post_without_a_time_is_later_than_one_with_a_time(tmp_path: Path) -> None:
    posts = [Post("a", "g", "x", "", ""), Post("b", "g", "y", DAYS[2], ""), Post("c", "g", "z", DAYS[2], "2020-01-01")]
    assert place_owners(posts, SHARES, 1, {}, lambda key: "train").leaders["g"].key == "c"


def test_posts_without_an_owner_are_drawn_by_group_and_keep_their_split(tmp_path: Path) -> None:
    by_group = ByGroup(validation=0.2, test=0.2)
    rows = [record(n, "") for n in range(60)]
    assert splits_by_key(split(tmp_path / "owner", rows)) == splits_by_key(split(tmp_path / "group", rows, by_group))
    before = splits_by_key(split(tmp_path / "a", rows))
    after = splits_by_key(split(tmp_path / "a", rows + [record(100 + n, "", group=f"{n:016x}", day=1) for n in range(20)]))
    assert {key: after[key] for key in before} == before


def test_shares_are_met_when_one_owner_holds_half_of_the_posts(tmp_path: Path) -> None:
    rows = [record(n, "half") for n in range(100)] + [record(500 + n, f"one{n}") for n in range(100)]
    stage = split(tmp_path, rows)
    metrics = {name: value for name, value, _ in stage.metrics}
    assert metrics["largest_owner_share"] == 0.5 and metrics["deviation"] <= MAX_DEVIATION and metrics["owners"] == 101
    assert metrics["records_train"] == 120 and metrics["owners_validation"] == 40


@pytest.mark.parametrize("owners", [1, 2])
def test_fewer_owners_than_splits_give_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture, owners: int) -> None:
    with caplog.at_level(logging.WARNING):
        stage = split(tmp_path, [record(n, f"o{n % owners}") for n in range(10)])
    counts = Counter(splits_by_key(stage).values())
    assert counts == ({"train": 10} if owners == 1 else {"train": 5, "validation": 5})
    (line,) = [r.getMessage() for r in caplog.records]
    assert "off by up to" in line and "one owner holds" in line and "o0" not in line


def test_an_input_without_posts_gives_an_empty_split(tmp_path: Path) -> None:
    assert splits_by_key(split(tmp_path, [])) == {}


def test_the_check_refuses_an_owner_in_two_splits_and_accepts_records_without_owners(tmp_path: Path) -> None:
    (tmp_path / "expectations").mkdir()
    (tmp_path / "expectations/split.json").write_bytes((PROJECT / "expectations/split.json").read_bytes())
    make(tmp_path, "split")
    check(tmp_path, "english", "split")
    make(tmp_path, "split", lambda rows, ledger: [r.update(owner="ana") for r in rows])
    with pytest.raises(HearsightError, match="all posts of an account"):
        check(tmp_path, "english", "split")
