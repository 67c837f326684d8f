"""Evidence of what a name is: a name gets a kind only if independent signals agree, or its own head says it.

The recogniser alone is wrong too often ("Vision Pro" is labelled as an organisation), and so is each list alone ("Toyota" is a
city). Source: ours; CC §3 matches names with a knowledge graph, whose entry is such a second signal.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from components.knowledge.cascade import HypernymAnswer, Knowledge, strip_article
from components.knowledge.embedded import ALONE, LAST, THINGS
from components.knowledge.gazetteers import brand_kind, place_kind
from components.knowledge.kinds import FOOD, KINDS, SOLID_FOOD, STRUCTURE
from components.knowledge.names import kind_by_form
from components.language.capitals import is_common_word
from components.language.person_names import is_given_name, is_surname
from components.language.words import zipf
from components.stages.hypernymize.name_types import LOCATIVE, NUMERAL, coordinated, is_role, led_by
from components.stages.hypernymize.people import is_double_name, is_family
from components.stages.hypernymize.second_recogniser import second_opinion
from components.stages.hypernymize.sentence import PLACES, SUBJECTS, Entity, Sentence, Word

_ACTS = """
    address announce answer applaud argue ask attend board catch celebrate cheer climb congratulate cook dance deliver discuss
    dress drive eat embrace explain gesture greet hit hug interview joke kick kiss laugh lecture listen marry meet paint perform
    play point pose practice prepare present raise react read rehearse return ride say serve shake sing sit sign smile speak
    stand talk teach tell testify throw visit vote walk watch wave wear win work write
"""
HUMAN_ACTS = frozenset(_ACTS.split())
"""Verbs whose subject is mostly a person."""
PRONOUNS = frozenset({"he", "she", "his", "her", "him", "himself", "herself", "who", "whose"})
TOLD_BY_TYPE = frozenset({"PERSON", "GPE", "LOC", "EVENT"})
"""Types whose own word says something: "person", "location", "event"; "organization" and "work" are no kinds one can see."""
CLEAR = 4
"""Meanings of a head noun, at most, for it to mean the same without its name: "luncheon", but not "front"."""
EATEN = frozenset({FOOD, SOLID_FOOD})
RARE = 3.5
"""Frequency (Zipf) under which a common word at the end of a name is no evidence against a person: "Salah"."""
_INITIAL = re.compile(r"[A-Z]\.(?:[A-Z]\.)*$")
_CODE = re.compile(r"\d|^[A-Z]{2,}$|^['’]s$")
"""Matches what is in names of products and firms only: a digit, an abbreviation, a genitive."""
_NAMED = re.compile(r"[A-Z][^\W\d_]*[^\W\d_A-Z]['’A-Z]*[^\W\d_]*$")


class Kind(NamedTuple):
    """What a name is: the common noun (None: unknown), the source of it, and the signals that agree."""

    word: str | None
    source: str
    signals: tuple[str, ...]


def find_kind(sentence: Sentence, entity: Entity, knowledge: Knowledge, least: int) -> Kind:
    """Return the kind of a name if at least ``least`` signals agree, else that of its own head noun, else an unknown one."""
    words = [word for word in sentence.words[entity.start : entity.end] if word.alive and word.pos != "DET"]
    town = " ".join(word.text for word in words[:-1])
    first = " ".join(word.text for word in words[:2])
    plain = is_common_word(words[0].text.lower(), knowledge.wordnet) and not place_kind(first)  # Best is a town
    team = words[-1].tag == "NNPS" and place_kind(town) and not (plain or kind_by_form(f"{town} {words[-1].text}", "LOC"))
    if team and entity.kind not in ("PERSON", "EVENT", "WORK_OF_ART"):
        return Kind("team", "the name's form", ("place", "plural"))  # "the Green Bay Packers", whatever its label
    known = knowledge.lookup(sentence.text_of(entity.start, entity.end), entity.kind)
    if known is None or _contradicted(sentence, entity, known, knowledge) or (known.word == "sports team" and plain):
        return Kind(None, "", ())
    signals = ["recogniser"] if entity.said == entity.kind or {entity.said, entity.kind} <= PLACES else []
    same = second_opinion(sentence, entity)
    if same is not None:
        signals = [*signals, "second recogniser"] if same else []  # two that disagree say nothing
    if known.source == ALONE:
        signals = []  # the recogniser says something else
    if known.source != "type":
        signals.append(known.source)
    if entity.kind == "PERSON":
        signals += _signals_of_person(sentence, entity, words, knowledge)
    elif entity.kind in PLACES:
        signals += _signals_of_place(sentence, entity, known.source, knowledge)
    elif entity.kind == "EVENT" and led_by(sentence, entity.start) == "during":
        signals.append("preposition")
    proven = len(signals) >= least
    if proven and known.source != "type":
        return Kind(known.word, known.source, tuple(signals))
    if head := _own_head(sentence, entity, words, knowledge):
        return Kind(head, "the name's head", tuple(signals))
    return Kind(known.word if proven and entity.kind in TOLD_BY_TYPE else None, "type", tuple(signals))


def _contradicted(sentence: Sentence, entity: Entity, known: HypernymAnswer, knowledge: Knowledge) -> bool:
    """Return whether the sentence or the dictionary speaks against a kind.

    "The Mona Lisa" and "Keychron K2 HE" are no people, "Brazil celebrate" no country. The last word of a name that WordNet has
    under another class does not say its kind: "the White House".
    """
    if entity.kind == "PERSON":
        return _is_no_person(sentence, entity, knowledge)
    if known.source in (LAST, ALONE):
        name = strip_article(sentence.text_of(entity.start, entity.end))
        senses = [sense for sense in knowledge.wordnet.senses(name) if sense.instance_of]
        above = {lemma for sense in senses for item in knowledge.wordnet.ancestors(sense) for lemma in item.lemmas}
        if senses and known.word not in above:
            return True
    return entity.kind in PLACES and _acts(sentence, sentence.words[entity.end - 1])


def _is_no_person(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Return whether the words in or beside a name speak against a person: an article, a code, a thing, an animal."""
    words, last = [word.text for word in sentence.words[entity.start : entity.end]], sentence.words[entity.end - 1]
    outside = sentence.words[entity.start - 1] if entity.start else None
    article = outside.text if outside is not None and outside.pos == "DET" else words[0]
    if article.lower() == "the" and not words[0].endswith("."):  # "the Rev. X"
        return True
    if any(_CODE.search(word) and not NUMERAL.match(word) for word in words) and not all(map(str.isupper, words)):
        return True
    above = sentence.words[last.head]
    if last.dep == "appos" and above.pos == "NOUN" and above.text.islower() and not knowledge.is_role(above.lemma):
        return True  # "the store, Louis Vuitton"
    after = [word for word in sentence.words[entity.end : entity.end + 3] if word.pos != "ADJ"][:2]
    beast = len(after) == 2 and after[0].pos == "DET" and after[1].pos == "NOUN" and knowledge.is_animal(after[1].lemma)
    return beast or led_by(sentence, entity.start) in ("from", "at", "in")


def _acts(sentence: Sentence, word: Word) -> bool:
    """Return whether a word is the subject of a verb whose subject is mostly a person."""
    verb = sentence.words[word.head]
    return word.dep in SUBJECTS and verb.pos in ("VERB", "AUX") and verb.lemma in HUMAN_ACTS


def _signals_of_place(sentence: Sentence, entity: Entity, source: str, knowledge: Knowledge) -> list[str]:
    senses = knowledge.wordnet.senses(sentence.text_of(entity.start, entity.end)) if source == "gazetteer" else []
    places = any(sense.instance_of and knowledge.wordnet.is_a(sense, KINDS["LOC"][0]) for sense in senses)
    found = {"preposition": led_by(sentence, entity.start) in LOCATIVE, "wordnet": places}
    return [signal for signal, holds in found.items() if holds]


def _signals_of_person(sentence: Sentence, entity: Entity, words: list[Word], knowledge: Knowledge) -> list[str]:
    written, last = [word.text for word in words], words[-1]
    after = sentence.words[entity.end] if entity.end < len(sentence.words) else None
    parts = [text for text in written if text[:1].isalpha()][-2:]
    form = len(words) > 1 and all(_INITIAL.match(part) or _is_proper(part, knowledge) for part in parts)
    found = {
        "list of names": _are_listed(written, knowledge),
        "form": form or is_double_name(written),
        "role": _has_role(sentence, entity, knowledge),
        "verb": _acts(sentence, last) or (after is not None and after.tag == "VBG" and after.lemma in HUMAN_ACTS),
        "pronoun": sum(each.kind == "PERSON" for each in sentence.entities) == 1
        and any(word.text.lower() in PRONOUNS for word in sentence.words),
        "beside a person": coordinated(sentence, entity.start) == "PERSON",
    }
    return [signal for signal, holds in found.items() if holds]


def _is_proper(text: str, knowledge: Knowledge) -> bool:
    """Return whether a word has the form of a name and no dictionary lists it as a common word."""
    name = text.capitalize() if text.islower() else text
    return _NAMED.match(name) is not None and not is_common_word(text.lower(), knowledge.wordnet)


def _are_listed(words: list[str], knowledge: Knowledge) -> bool:
    """Return whether lists have a given name or a surname of these words: "Grace Hopper", but not "Moon" or "Olive Bread"."""
    last = words[-1].lower()
    plain = is_common_word(last, knowledge.wordnet)
    given = [word for word in words[:-1] or words if is_given_name(word)]
    if len(words) == 1 or not plain:
        return not plain and (bool(given) or (len(words) > 1 and is_surname(last)))
    eaten = _is_eaten(last, knowledge)
    if all(is_common_word(word.lower(), knowledge.wordnet) for word in given):
        return bool(given) and is_surname(last) and not eaten
    return is_surname(last) or (zipf(last) < RARE and not (eaten or knowledge.is_object(last) or knowledge.is_place(last)))


def _is_eaten(noun: str, knowledge: Knowledge) -> bool:
    """Return whether the first meaning of a noun is food."""
    return any(knowledge.wordnet.is_a(sense, EATEN) for sense in knowledge.wordnet.senses(noun)[:1])


def _has_role(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Return whether a role stands before a name ("artist X") or in apposition after it ("X, a photographer")."""
    words = sentence.words
    if entity.start and words[entity.start - 1].pos in ("NOUN", "PROPN") and is_role(sentence, entity.start - 1, knowledge):
        return True
    if entity.end >= len(words) or words[entity.end].text not in (",", "("):
        return False
    beside = words[entity.end + 1 : entity.end + 5]
    return any(word.tag in ("NN", "NNP") and knowledge.is_role(word.text.lower()) for word in beside)


def _own_head(sentence: Sentence, entity: Entity, words: list[Word], knowledge: Knowledge) -> str:
    """Return a name's head ("an Uber Bus", "the Statue of Liberty") if an article shows that it is a common noun; or ""."""
    joint = next((at for at, word in enumerate(words) if at and word.text == "of"), len(words))
    noun = words[joint - 1].text.lower()
    if not is_common_word(noun, knowledge.wordnet):
        return ""
    if _is_dish(sentence, entity, words, knowledge):
        return noun
    if len(words) < 2 or entity.kind == "PERSON":
        return ""
    senses = [sense for sense in knowledge.wordnet.senses(noun) if not sense.instance_of]
    if not senses or noun not in senses[0].lemmas or not knowledge.wordnet.is_a(senses[0], THINGS | EATEN):
        return ""
    inside = sentence.words[entity.start] if sentence.words[entity.start].pos == "DET" else None
    position = entity.start - 1
    while position >= 0 and sentence.words[position].pos in ("ADJ", "NUM"):
        position -= 1
    before = inside or (sentence.words[position] if position >= 0 else None)
    if before is not None and before.text.lower() in ("a", "an"):
        return noun
    clear = len(senses) <= CLEAR or knowledge.wordnet.is_a(senses[0], frozenset({STRUCTURE}))
    return noun if clear and before is not None and (before.pos == "DET" or before.tag in ("PRP$", "POS")) else ""


def _is_dish(sentence: Sentence, entity: Entity, words: list[Word], knowledge: Knowledge) -> bool:
    """Return whether a name is that of food by its last word, after another word in a title's capitals: "Raw Quinoa"."""
    noun, first = words[-1].text.lower(), words[0].text
    before = sentence.words[entity.start - 1] if len(words) < 2 and entity.start else words[0]
    eaten = _is_eaten(noun, knowledge)
    if not eaten or before is words[-1] or not before.text.istitle() or brand_kind(words[-1].text):
        return False
    plain = words[0].tag == "JJ" or is_common_word(first.lower(), knowledge.wordnet)  # "Olive Bread", but not "Anne Rice"
    return entity.kind != "PERSON" or plain or not (is_given_name(first) or is_surname(noun))


def signals_of_group(sentence: Sentence, entity: Entity, word: Word, knowledge: Knowledge) -> list[str]:
    """Return the signals that a plural name means people: "Africans", "the Smiths"."""
    senses, same = knowledge.wordnet.senses(word.text.lower()), second_opinion(sentence, entity)
    people = [sense for sense in senses if not sense.instance_of and knowledge.wordnet.is_a(sense, KINDS["PERSON"][0])]
    found = {
        "recogniser": entity.said == "NORP" and same is not False,
        "second recogniser": same is True,
        "wordnet": any(lemma[:1].isupper() for sense in people for lemma in sense.lemmas),
        "plural": word.tag == "NNPS" and (bool(people) or is_family(word, knowledge)),
        "list of names": is_family(word, knowledge),
    }
    return [signal for signal, holds in found.items() if holds]
