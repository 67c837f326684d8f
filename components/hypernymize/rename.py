"""Steps that replace: the tagger's plain mistakes mended, names become hypernyms, "actor and actor" becomes "actors".

Source: seed 000 section 3 and table 1.
"""

from __future__ import annotations

from components.hypernymize.sentence import Entity, Sentence
from components.providers.knowledge import Knowledge
from components.providers.language_words import article, plural

RENAMED = frozenset({"PERSON", "GPE", "LOC", "FAC", "ORG", "EVENT", "WORK_OF_ART", "PRODUCT", "LAW"})


def mend_tags(sentence: Sentence, knowledge: Knowledge) -> str:
    """Correct what the dictionary contradicts; changes no text, so nothing is recorded.

    * A word tagged as a common noun that the dictionary knows as a verb and never as a noun is a verb ("adorn").
    * A capitalised head noun outside every entity that the dictionary knows as a common noun is one ("Petunia").
    * Quotes do not belong to an entity, plain words without a capital are none, and a given name begins a person.
    """
    for entity in sentence.entities:
        while entity.start < entity.end and not sentence.words[entity.start].text[:1].isalnum():
            entity.start += 1
        while entity.end > entity.start and not _names(sentence, entity.end - 1):
            entity.end -= 1
        name = " ".join(word.text for word in sentence.words[entity.start : entity.end])
        entity.kind = knowledge.kind_of(name, entity.kind)
    sentence.entities = [
        entity for entity in sentence.entities if entity.end > entity.start and not _common(sentence, entity, knowledge)
    ]
    for position, word in enumerate(sentence.words):
        plain = word.text.lower()
        if word.tag == "NN" and plain.isalpha() and not knowledge.is_noun(plain) and knowledge.is_verb(plain):
            word.pos = "VERB"
        elif (
            word.pos == "PROPN"
            and sentence.entity_at(position) is None
            and sentence.modifies(position, position + 1) is None
            and knowledge.is_noun(plain)
            and not knowledge.is_instance(plain)
        ):
            word.pos, word.lemma = "NOUN", word.lemma.lower()
    return ""


def rename_entities(sentence: Sentence, knowledge: Knowledge, *, stated_role: bool) -> str:
    """Each named entity that is no mere modifier becomes its hypernym, and what described the name goes with it.

    ``artist Duncan McKellar`` → ``person`` and ``the 29th American Film Festival`` → ``festival``, as in table 1; with
    ``stated_role`` a person whose hypernym is not known is called by the role stated before the name (``artist``).
    """
    changed = []
    for entity in sentence.entities:
        if entity.kind not in RENAMED or not sentence.living(entity) or sentence.modifies(entity.start, entity.end) is not None:
            continue
        name = " ".join(word.text for word in sentence.words[entity.start : entity.end] if word.alive)
        known = knowledge.known(name, entity.kind)
        if known is None:
            continue
        hypernym = known.word
        described = _description(sentence, entity, knowledge)
        roles = [sentence.words[place].lemma.lower() for place in described if sentence.words[place].pos == "NOUN"]
        if stated_role and entity.kind == "PERSON" and hypernym == "person" and roles:
            hypernym, known = roles[-1], known._replace(source="the caption")
        last = entity.end - 1
        head = sentence.words[last]
        sentence.strike([*described, *range(entity.start, last)])
        head.text, head.lemma, head.pos, head.tag, head.alive, head.renamed = hypernym, hypernym, "NOUN", "NN", True, True
        changed.append(f"{name} ({entity.kind}) is {article(hypernym)} {hypernym}, says {known.source}")
    return "; ".join(changed)


def merge_coordination(sentence: Sentence, knowledge: Knowledge) -> str:
    """Nouns of the same name in coordination become one plural: "actor and actor", "person, person and person"."""
    merged = []
    alive = sentence.alive()
    order = 0
    while order < len(alive):
        first = sentence.words[alive[order]]
        run = [order]
        look = order
        while first.pos == "NOUN" and (following := _same_noun_after(sentence, alive, look, first.lemma)) is not None:
            run.append(following)
            look = following
        if len(run) > 1:
            start = alive[order]
            lead = sentence.before(start)
            if lead is not None and sentence.words[lead].text.lower() in ("a", "an"):
                sentence.strike([lead])
            sentence.strike(alive[order + 1 : look + 1])
            first.text, first.tag = plural(first.lemma), "NNS"
            merged.append(f"{len(run)} times {first.lemma}")
        order = look + 1
    return "; ".join(merged)


def _common(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Whether a supposed name is plain words without a capital ("a koala" is no person)."""
    words = [word.text for word in sentence.words[entity.start : entity.end] if word.pos != "DET"]
    return entity.kind in RENAMED and all(word == word.lower() and knowledge.is_noun(word) for word in words)


def _names(sentence: Sentence, position: int) -> bool:
    return sentence.words[position].tag != "POS" and sentence.words[position].text[-1:].isalnum()


def _same_noun_after(sentence: Sentence, alive: list[int], order: int, lemma: str) -> int | None:
    place, joined = order + 1, False
    while place < len(alive) and sentence.words[alive[place]].text.lower() in ("and", ",", "&"):
        place, joined = place + 1, True
    if joined and place < len(alive) and sentence.words[alive[place]].text.lower() in ("a", "an", "the"):
        place += 1
    if (
        joined
        and place < len(alive)
        and sentence.words[alive[place]].pos == "NOUN"
        and sentence.words[alive[place]].lemma == lemma
    ):
        return place
    return None


def _description(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> list[int]:
    """The words left of a name that only describe its bearer: titles, roles, ordinals, names, the determiner."""
    found: list[int] = []
    inside = set(range(entity.start, entity.end))
    place = sentence.before(entity.start)
    while place is not None:
        word = sentence.words[place]
        role = word.pos == "NOUN" and entity.kind == "PERSON" and knowledge.is_role(word.lemma.lower())
        belongs = word.pos in ("PROPN", "NUM", "ADJ") and (word.head in inside or word.head in found)
        if not (role or belongs):
            break
        found.append(place)
        inside.add(place)
        place = sentence.before(place)
    if place is not None and sentence.words[place].pos == "DET":
        found.append(place)
    return sorted(found)
