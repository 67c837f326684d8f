"""Captions parsed for the metrics, and the dictionary as they ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.metrics.caption_parses import parse_captions
from components.metrics.lexicon import FEMALE, MALE, PERSON, Lexicon, load_lexicon
from components.metrics.parses import UNKNOWN
from tests.metrics.parsed import lexicon
from tests.support.knowledge.dictionary import extract


def test_unknown_words_keep_their_position_in_the_caption():
    caption = "a <UNK> rides a [unk] thing"
    words = parse_captions([caption])[caption].words
    assert [word.lemma for word in words] == ["a", UNKNOWN, "ride", "a", UNKNOWN, "thing"]
    assert [caption[word.start : word.end] for word in words] == [word.text for word in words]


def test_cached_parses_are_equal(tmp_path: Path):
    captions = ["a dog on a bed", "<UNK> in a red car", "a dog on a bed"]
    store = ResultCache(tmp_path)
    cold, warm = parse_captions(captions, store), parse_captions(captions, store)
    assert cold == warm == parse_captions(captions) and len(cold) == 2


def test_an_empty_caption_is_an_empty_sentence():
    assert parse_captions([""])[""].words == ()


def test_the_dictionary_gives_synonyms_hypernyms_and_depths():
    words: Lexicon = lexicon()
    assert set(words.nouns("airplane")) & set(words.nouns("aeroplane")) and not set(words.nouns("dog")) & set(words.nouns("cat"))
    (dog, *_), (animal, *_) = words.nouns("dogs"), words.nouns("animal")
    assert animal in words.above(dog) and words.depth(dog) > words.depth(animal)
    assert words.nouns("xyzzy") == words.nouns("") == () and words.above(0) == frozenset()


def test_the_synset_numbers_of_the_rules_are_persons():
    words = lexicon()
    assert PERSON in words.above(words.nouns("man")[0]) and MALE in words.above(words.nouns("man")[0])
    assert FEMALE in words.above(words.nouns("woman")[0])


def test_proper_names_have_no_meanings():
    assert lexicon().nouns("paris") == () or all(not extract().synset(n).instance_of for n in lexicon().nouns("paris"))  # type: ignore[union-attr]
    assert lexicon().nouns("golden gate bridge") == ()


def test_a_missing_dictionary_gives_none_and_a_damaged_one_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(tmp_path))
    assert load_lexicon() is None
    (tmp_path / "data.noun").write_text("broken line\n")
    with pytest.raises(HearsightError, match="cannot be read"):
        load_lexicon()
