"""By text: what says the same, or shows the same image, is never parted; shares are close though components are unequal."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.caption_normalization import normalise_caption
from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages.split import ByGroup, ByOwner, ByText
from components.stages.split.run import run
from components.stages.split.text import CaptionKey, assign_by_text, find_components
from tests.support import make_output, make_stage, row

SHARES = {"train": 0.55, "validation": 0.15, "test": 0.3}
SETTINGS = ByText(validation=0.15, test=0.3)
RECORDS = st.lists(
    st.tuples(st.sampled_from(["a", "A.", "b", " b!", "c", "?", "!", ""]), st.integers(0, 9), st.integers(0, 9)), max_size=40
).map(lambda rows: [CaptionKey(f"{n:03d}", text, f"p{image}", f"g{group}") for n, (text, image, group) in enumerate(rows)])


@given(RECORDS)
def test_components_are_the_connected_ones_of_texts_images_and_groups(records):
    component = find_components(records)

    def touch(one: CaptionKey, other: CaptionKey) -> bool:
        same = normalise_caption(one.caption) == normalise_caption(other.caption)
        return same or one.image == other.image or one.group == other.group

    for first in records:  # a component is what can be reached from its smallest key
        reached = {first.key}
        while more := {o.key for o in records for r in records if r.key in reached and touch(r, o)} - reached:
            reached |= more
        assert (
            component[first.key] == min(reached)
            and {key for key in component if component[key] == component[first.key]} == reached
        )


@given(RECORDS, st.randoms(use_true_random=False))
def test_splits_do_not_depend_on_the_order_of_the_records(records, chance):
    shuffled = records[:]
    chance.shuffle(shuffled)
    assert assign_by_text(records, SHARES, 3) == assign_by_text(shuffled, SHARES, 3)


def test_shares_are_close_though_components_are_unequal():
    chance = random.Random(5)
    for _ in range(20):
        texts = [f"text {n}" for n in range(120) for _ in range(min(int(chance.paretovariate(1.2)), 12))]
        records = [CaptionKey(f"{n:05d}", text, f"p{n}", f"g{n}") for n, text in enumerate(texts)]
        splits = list(assign_by_text(records, SHARES, 1)[0].values())
        assert all(abs(splits.count(split) / len(splits) - share) < 0.01 for split, share in SHARES.items())


@pytest.mark.parametrize(
    "one, other",
    [("Une pomme rouge.", "une  pomme ROUGE !"), ("Straße", "STRASSE"), ("É", "E\u0301"), ("ﬁn", "fin"), ("l'eau", "L’eau")],
)
def test_captions_that_differ_only_in_spelling_are_one_text(one, other):
    assert normalise_caption(one) == normalise_caption(other)


def test_accents_distinguish_texts_and_texts_of_symbols_are_unchanged():
    assert normalise_caption("el papa") != normalise_caption("el papá")
    assert (normalise_caption("?"), normalise_caption("!!"), normalise_caption("")) == ("?", "!!", "")
    assert normalise_caption("हिन्दी") != normalise_caption("हन्द")


def go(tmp_path, output, rows, params=SETTINGS):
    source = make_output(tmp_path, output, [rows[:3], rows[3:]])
    stage = make_stage(tmp_path, "split", params=params, inputs={"input": source})
    run(stage)
    stage.finish()
    return StageOutput(stage.out)


def test_candidates_are_unchanged_and_each_image_is_a_group(tmp_path):
    alts = ["A dog?", "un chien", "a DOG", "cat", "un chat"]
    images = ["p0", "p0", "p1", "p2", "p2"]
    rows = [row("crawl", key=f"{n:04d}", alt=alt, image_sha256=p) for n, (alt, p) in enumerate(zip(alts, images, strict=True))]
    output = go(tmp_path, "crawl", rows)
    written = output.table().to_pylist()
    assert [r["caption"] for r in written] == [r["text"] for r in written] == [r["alt"] for r in written] == alts
    assert [r["group"] for r in written] == ["0000", "0000", "0002", "0003", "0003"]
    assert all(r["labels"] == r["steps"] == r["types"] == [] for r in written)
    assert len({r["split"] for r in written[:3]}) == 1 and output.ledger()["detail"].to_pylist()[2].endswith("with 0000")


def test_groups_of_dedup_are_unchanged_and_in_one_split(tmp_path):
    rows = [row("dedup", key=f"{n:04d}", caption=f"c{n}", image_sha256=f"p{n}", group=f"{n % 3:04d}") for n in range(9)]
    written = go(tmp_path, "dedup", rows).table().to_pylist()
    assert [r["group"] for r in written] == [f"{n % 3:04d}" for n in range(9)]
    assert all(len({r["split"] for r in written if r["group"] == group}) == 1 for group in ("0000", "0001", "0002"))


@pytest.mark.parametrize("params", [ByGroup(), ByOwner(sides="name")])
def test_candidates_have_no_groups_to_split_by(tmp_path, params):
    with pytest.raises(HearsightError, match=f"by: {params.by} needs groups, and english/crawl has none"):
        go(tmp_path, "crawl", [row("crawl", key="a")], params)
