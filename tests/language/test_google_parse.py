"""Google's answers read: the tables are whole, the documented form comes out as a parse, and nothing crashes the reading."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.google.method import refusal_answer, refusal_reason
from components.language.google_parse import DEP, ENTITIES, POS, to_parse
from components.providers.google_readings import ADULT, RACY, labels, polarity, pornography, profanity
from components.stages.hypernymize.rewrite import rewrite
from components.stages.hypernymize.sentence import Sentence
from tests.support.google.fake_google import label
from tests.support.google.google_documents import CROWD, DOCUMENTS, DOG, WORKER, document
from tests.support.knowledge.dictionary import knowledge

COLUMNS = ("text", "space", "lemma", "pos", "tag", "dep", "head")


def test_a_parse_of_googles_has_the_embedded_parsers_columns() -> None:
    parse = to_parse(DOCUMENTS[WORKER])
    assert parse["text"][:4] == ["A", "Pakistani", "worker", "helps"]
    assert parse["pos"][:9] == ["DET", "ADJ", "NOUN", "VERB", "PART", "VERB", "DET", "NOUN", "ADP"]
    assert parse["tag"][:9] == ["DT", "JJ", "NN", "VBZ", "TO", "VB", "DT", "NN", "IN"]
    assert parse["dep"][:9] == ["det", "amod", "nsubj", "ROOT", "aux", "xcomp", "det", "dobj", "prep"]
    assert parse["dep"][10:13] == ["compound", "compound", "pobj"] and parse["head"][10:13] == [12, 12, 8]
    assert (parse["dep"][13], parse["dep"][14], parse["dep"][-2]) == ("npadvmod", "nummod", "appos")


def test_entities_are_proper_mentions_and_quantities_the_longest_where_they_overlap() -> None:
    parse = to_parse(DOCUMENTS[WORKER])
    result = [(" ".join(parse["text"][start:end]), label) for start, end, label in parse["entities"]]
    assert result == [
        ("Pakistani", "NORP"), ("Taj Mahal Hotel", "GPE"), ("November 7 , 2005", "DATE"), ("Balakot", "GPE"), ("Pakistan", "GPE"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", list(DOCUMENTS))
def test_tokens_with_offsets_reproduce_the_text(text: str) -> None:
    assert Sentence.of(to_parse(DOCUMENTS[text])).render() == text


def test_offsets_are_characters_beyond_the_basic_plane_too() -> None:
    text = "👍🏽 thumbs up"
    assert Sentence.of(to_parse(document(text))).render() == text


@pytest.mark.parametrize(
    ("text", "caption"),
    [(WORKER, "a worker helps to clear the debris."), (CROWD, "crowd at a concert"), (DOG, "a dog on the beach.")],
)
def test_the_rewriting_reads_googles_parse_as_it_reads_the_embedded_one(text: str, caption: str) -> None:
    assert rewrite(to_parse(DOCUMENTS[text]), knowledge(), min_words=2, min_name_signals=2).caption == caption


def test_morphology_is_mapped_to_penn_tags() -> None:
    tokens = """
They they PRON NSUBJ 2
have have VERB AUX 2 INDICATIVE PRESENT
seen see VERB ROOT 2 PAST
dogs dog NOUN DOBJ 2 PLURAL
running run VERB VMOD 3
up up ADP PRT 4
's 's PRT PS 3
which which DET PREDET 3
$ $ X DEP 2
while while ADP MARK 2
was be VERB ROOT 10 INDICATIVE PAST
would would VERB AUX 10
Alps Alps NOUN DOBJ 2 PLURAL PROPER
their their PRON POSS 3
"""
    words = " ".join(line.split()[0] for line in tokens.strip().splitlines())
    parse = to_parse(document(words, tokens))
    assert parse["tag"] == ["PRP", "VBP", "VBN", "NNS", "VBG", "RP", "POS", "PDT", "SYM", "IN", "VBD", "MD", "NNPS", "PRP$"]
    assert [parse["pos"][place] for place in (1, 8, 9, 10, 12)] == ["AUX", "SYM", "SCONJ", "AUX", "PROPN"]


def test_ordinals_are_distinguished_from_cardinals() -> None:
    result = document("the 29th of 3", "the the DET DET 1\n29th 29th ADJ ROOT 1\nof of ADP PREP 1\n3 3 NUM POBJ 2", [
        ("29th", "NUMBER", [("29th", "TYPE_UNKNOWN")]), ("3", "NUMBER", [("3", "TYPE_UNKNOWN")]),
    ])  # fmt: skip
    assert [entity[2] for entity in to_parse(result)["entities"]] == ["ORDINAL", "CARDINAL"]


def test_a_refused_answer_is_read_as_an_empty_result() -> None:
    no = refusal_answer(3, "Bad image data.")
    assert refusal_reason(no) == "3 Bad image data." and not refusal_reason({"tokens": []})
    assert to_parse(no)["text"] == [] and to_parse(no)["entities"] == []
    assert (polarity(no), profanity(no), pornography(no), labels(no, least=5, most=20, min_confidence=0.5)) == (0.0, 0.0, 0.0, [])


def test_safe_search_reaches_half_where_google_says_likely_and_for_racy_only_where_it_is_sure() -> None:
    def score(adult: str, racy: str) -> float:
        return pornography({"safeSearchAnnotation": {"adult": adult, "racy": racy, "violence": "VERY_LIKELY"}})

    assert score("POSSIBLE", "LIKELY") < 0.5 <= score("LIKELY", "VERY_UNLIKELY")
    assert score("UNKNOWN", "VERY_LIKELY") >= 0.5 and score("UNKNOWN", "UNKNOWN") == 0.0
    for table in (ADULT, RACY):
        assert list(table.values()) == sorted(table.values()) and len(table) == 5


def test_topics_are_not_profane() -> None:
    result = [
        {"name": "War & Conflict", "confidence": 0.99},
        {"name": "Toxic", "confidence": 0.3},
        {"name": "Sexual", "confidence": 0.2},
    ]
    assert profanity({"moderationCategories": result}) == 0.3


def test_labels_are_surest_first_with_their_identifiers_as_many_as_asked() -> None:
    result = {
        "labelAnnotations": [label("Working  Dog", "/m/1", 0.4), label("Dog", "/m/0bt9lr", 0.98), label("Snow", "/m/2", 0.6)]
    }
    results = labels(result, least=1, most=20, min_confidence=0.5)
    assert [(each.names, each.confidence, each.identifier) for each in results] == [
        (("dog",), 0.98, "/m/0bt9lr"), (("snow",), 0.6, "/m/2"),
    ]  # fmt: skip
    assert (
        len(labels(result, least=5, most=20, min_confidence=0.5)) == 3
        and len(labels(result, least=5, most=2, min_confidence=0)) == 2
    )


def test_the_tables_contain_every_word_of_the_rewriting() -> None:
    asked = {"nsubj", "dobj", "pobj", "amod", "compound", "nummod", "appos", "conj", "quantmod", "npadvmod", "ROOT"}
    assert asked <= set(DEP.values())
    assert len(POS) == 13 and len(ENTITIES) == 11


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6), st.just(10**400),
    st.sampled_from(["NOUN", "VERB", "NN", "ROOT", "PERSON", "DATE", "PROPER", "COMMON", "a dog", "Dog", "LIKELY", "Toxic"]),
)  # fmt: skip
_NAMES = """
    tokens entities text content beginOffset partOfSpeech tag dependencyEdge headTokenIndex label lemma mentions type proper
    documentSentiment score moderationCategories name confidence labelAnnotations mid description safeSearchAnnotation adult
    racy error code message
"""
NAMES = st.sampled_from(_NAMES.split())
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6), max_leaves=40
)
SPANS = st.one_of(st.fixed_dictionaries({"content": SCALARS, "beginOffset": SCALARS}), ANYTHING)
TOKENS = st.fixed_dictionaries(
    {},
    optional={
        "text": st.one_of(SPANS, st.fixed_dictionaries({"content": st.text(max_size=4), "beginOffset": st.integers(-2, 12)})),
        "partOfSpeech": st.dictionaries(NAMES, SCALARS, max_size=4) | ANYTHING,
        "dependencyEdge": st.fixed_dictionaries({"headTokenIndex": SCALARS | st.integers(-2, 6), "label": SCALARS}) | ANYTHING,
        "lemma": SCALARS,
    },
)
MENTIONS = st.fixed_dictionaries(
    {"text": st.fixed_dictionaries({"content": st.text(max_size=8), "beginOffset": st.integers(-2, 12)}) | SPANS, "type": SCALARS}
)
KINDS = st.sampled_from([*ENTITIES, "OTHER"]) | SCALARS
ENTITY = st.fixed_dictionaries({"type": KINDS, "mentions": st.lists(MENTIONS, max_size=3)})
ANSWERS = st.one_of(
    ANYTHING,
    st.fixed_dictionaries(
        {"tokens": st.lists(TOKENS | ANYTHING, max_size=6), "entities": st.lists(ENTITY | ANYTHING, max_size=4)}
    ),
)


@given(ANSWERS)
def test_no_answer_makes_the_reader_fail_and_every_parse_is_complete(answer: Any) -> None:
    parse = to_parse(answer)
    count = len(parse["text"])
    assert {len(parse[name]) for name in COLUMNS} == {count}  # type: ignore[literal-required]
    assert all(0 <= head < count for head in parse["head"])
    assert all(isinstance(value, str) for name in ("text", "lemma", "pos", "tag", "dep") for value in parse[name])  # type: ignore[literal-required]
    ends = [0, *(end for _, end, _ in parse["entities"])]
    for before, (start, end, kind) in zip(ends, parse["entities"], strict=False):
        assert before <= start < end <= count and isinstance(kind, str)
    assert isinstance(refusal_reason(answer), str)
    assert -1 <= polarity(answer) <= 1 and 0 <= profanity(answer) <= 1 and 0 <= pornography(answer) <= 1
    assert all(0 <= each.confidence <= 1 and each.names[0] for each in labels(answer, least=2, most=5, min_confidence=0.5))


@given(st.lists(TOKENS, max_size=6), st.lists(ENTITY, max_size=4))
def test_no_answer_makes_the_rewriting_fail(tokens: list[Any], entities: list[Any]) -> None:
    rewrite(to_parse({"tokens": tokens, "entities": entities}), knowledge(), min_words=2, min_name_signals=2)
