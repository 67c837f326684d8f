"""Components of duplicates, size ranges, npmi, patterns of groups, word ranks, topics."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from components.core.ledger import dropped, kept
from components.stages.posts_report.bias import group_pattern, load_groups, measure_contrasts, npmi
from components.stages.posts_report.clusters import OUTLIER, _letter, count_bands, find_duplicates, make_sheets
from components.stages.posts_report.facts import measure_growth
from components.stages.posts_report.words import BANDS, Vocabulary, count_words, find_offences, find_topics

KNOWN = load_groups("pt")
KEYS = st.integers(0, 12).map(lambda n: f"{n:016x}")


@given(st.lists(st.tuples(KEYS, KEYS, st.booleans()), max_size=20))
def test_components_join_duplicates_of_the_ledger_in_any_order(rows):
    ledger = [
        dropped(one, "duplicate_post", f"same as {other}", 0.1) if how else kept(one, detail=f"group {other}")
        for one, other, how in rows
    ]
    result, gone = find_duplicates(ledger)
    assert (result, gone) == find_duplicates(ledger[::-1])
    for one, other, _ in rows:
        if one in result and other in result:
            assert result[one] == result[other]
    assert gone == {one for one, _, how in rows if how}
    assert all(name <= key for key, name in result.items())


def test_components_are_read_from_value_and_detail_and_a_single_post_has_none():
    rows = [
        kept("aa", detail="group aa"), dropped("bb", "duplicate_pair", "same as aa", 6, detail="group aa"),
        dropped("cc", "duplicate_post", "image .1", "image .1", detail="same as bb, by way of others; group aa"),
        kept("dd", detail="group dd"), dropped("ee", "unreadable_image", "OSError", "an image"),
    ]  # fmt: skip
    assert find_duplicates(rows) == ({"aa": "aa", "bb": "aa", "cc": "aa"}, {"bb", "cc"})


@given(st.dictionaries(st.integers(-1, 30), st.integers(1, 30_000), max_size=20))
def test_every_cluster_is_in_one_band(counted):
    assert sum(count_bands(counted)) == len(counted)


@given(
    st.dictionaries(KEYS, st.integers(-1, 3), max_size=13),
    st.integers(0, 3),
    st.integers(1, 8),
    st.dictionaries(KEYS, KEYS, max_size=6),
)
def test_a_sheet_shows_members_once_and_no_more_than_fit(cluster_of, sheets, sheet, component_of):
    made = make_sheets(cluster_of, {}, component_of, set(), sheets=sheets, sheet=sheet, seed=1, language="pt")
    assert len(made) <= sheets + 1
    for each in made:
        keys = [shown.key for shown in each.shown]
        assert 0 < len(keys) <= sheet and len(set(keys)) == len(keys)
        assert {cluster_of[key] for key in keys} == {each.cluster} and (each.cluster != OUTLIER or each is made[-1])
        letters = Counter(shown.duplicates for shown in each.shown if shown.duplicates)
        assert all(n > 1 for n in letters.values())


def test_letters_continue_after_z():
    assert [_letter(n) for n in (0, 25, 26, 51, 52)] == ["A", "Z", "AA", "AZ", "BA"]


@given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_npmi_is_between_its_bounds_and_zero_by_chance(both, one, other, rest):
    every = both + one + other + rest
    value = npmi(both, both + one, both + other, every)
    assert -1.0 <= value <= 1.0 + 1e-9
    assume(both != every)
    expected = (both + one) * (both + other) / every
    assert math.copysign(1, value) == math.copysign(1, both - expected) or math.isclose(both, expected)
    assert npmi(0, one, other, max(every, 1)) == -1.0


@pytest.mark.parametrize(
    "text, named",
    [
        ("mulher negra", True), ("duas mulheres negras", True), ("mulher jovem de pele negra", True),
        ("mulher de camisa negra", False),
        ("mulher e camisa negra", False), ("mulherio negra", False), ("homem negro", False), ("negra", False),
    ],
)  # fmt: skip
def test_a_group_is_a_noun_with_its_own_adjective(text, named):
    assert bool(group_pattern("black women", KNOWN).search(text)) is named


def test_a_rare_group_and_the_names_of_groups_are_not_reported():
    result = ["Uma mulher negra e livros"] * 3 + ["Um homem gordo e livros", "Nada de novo no jardim"]
    rows = measure_contrasts(result, "pt", min_group=2, min_together=2, most=5)
    groups = {group.name: group for row in rows for group in row}
    assert (groups["black women"].captions, groups["black women"].reported) == (3, True)
    assert (groups["fat men"].captions, groups["fat men"].reported, groups["fat men"].words) == (1, False, [])
    assert [met.word for met in groups["women"].words] == ["livros"]
    assert measure_contrasts(result, "xx", min_group=2, min_together=2, most=5) is None


def test_offensive_words_count_all_forms_and_rank_by_the_most_frequent():
    result = ["que merda", "que merda de dia", "retardados retardado", "vai tomar no cu agora"]
    words = count_words("pt", result)
    results = {each.forms[0]: each for each in find_offences("pt", result, words)}
    assert (results["merda"].count, results["merda"].rank, results["merda"].sense) == (2, words.ranks["merda"], "offensive")
    assert (results["retardado"].count, results["retardado"].source) == (2, "paper")
    assert (results["vai tomar no cu"].count, results["vai tomar no cu"].rank) == (1, 0)
    assert results["retardado"].rank == min(words.ranks["retardado"], words.ranks["retardados"])
    assert find_offences("xx", result, words) is None


def test_the_word_lists_have_no_duplicates_and_contrasts_only_of_known_groups():
    from components.stages.posts_report.words import DATA

    lines = [line for line in (DATA / "offensive.pt.tsv").read_text().splitlines() if not line.startswith("#")]
    forms = [form for line in lines for form in line.split("\t")[0].split("|")]
    assert len(forms) == len(set(forms)) and {line.split("\t")[1] for line in lines} == {"offensive", "ambiguous", "identity"}
    assert all(group_pattern(name, KNOWN) for row in KNOWN["contrasts"] for name in row)


@given(st.lists(st.text(max_size=40), max_size=10))
def test_every_word_is_in_one_band_and_ranks_are_a_permutation(captions):
    result = count_words("any", captions)
    assert sum(result.bands) == len(result.counts) and sorted(result.ranks.values()) == list(range(1, len(result.counts) + 1))
    assert len(result.bands) == len(BANDS) and sum(result.lengths.elements()) == result.counts.total()


def test_mean_and_deviation_of_no_values_are_none():
    empty = Vocabulary(name="none")
    assert (empty.mean, empty.deviation) == (0.0, 0.0)


@given(
    st.lists(st.sampled_from(["2023-01-02T01:00:00Z", "2023-01-02", "2022-12-31T00:00:00+00:00", "", "yesterday"]), max_size=12)
)
def test_growth_never_falls_and_counts_every_post_once(dates):
    made = measure_growth(dates, [], [])[0]
    posts = [n for _, n in made.days]
    assert posts == sorted(posts) and (posts[-1] if posts else 0) + made.unknown == len(dates)


def test_topics_are_seeded_and_words_probable_first():
    result = ["praia areia sol mar", "praia mar onda sol", "urna voto justiça eleição", "voto urna eleição lei"] * 3
    one, again = (find_topics(result, "pt", 2, 2, 4, seed=3) for _ in range(2))
    assert one == again and len(one) == 2 and math.isclose(sum(topic.share for topic in one), 1.0)
    assert {frozenset(word for word, _ in topic.words[:2]) <= {"praia", "mar", "sol"} for topic in one} == {True, False}
    assert all([p for _, p in topic.words] == sorted((p for _, p in topic.words), reverse=True) for topic in one)
    assert find_topics(["a"], "pt", 2, 1, 4, seed=3) == []
