"""Steps that replace: names become hypernyms, "actor and actor" becomes "actors".

Source: CC section 3 and table 1.
"""

from __future__ import annotations

import re

from components.knowledge.cascade import HypernymAnswer, Knowledge
from components.knowledge.gazetteers import place_kind
from components.language.words import article, plural
from components.stages.hypernymize.sentence import Entity, Sentence

_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)$")
RENAMED = frozenset({"PERSON", "GPE", "LOC", "FAC", "ORG", "EVENT", "WORK_OF_ART", "PRODUCT", "LAW"})


def rename_entities(sentence: Sentence, knowledge: Knowledge, *, stated_role: bool) -> str:
    """Each named entity that is no mere modifier becomes its hypernym, and what described the name goes with it.

    ``artist Duncan McKellar`` → ``person`` and ``the 29th American Film Festival`` → ``festival``, as in table 1; with
    ``stated_role`` a person whose hypernym is not known is called by the role stated before the name (``artist``).
    A name right after the noun of what it names goes without a word in its place: ``the shuttle Atlantis``, ``the actor X``.
    """
    changed = []
    for entity in sentence.entities:
        if not sentence.living(entity) or sentence.modifies(entity.start, entity.end) is not None:
            continue
        if sentence.noun_beside(entity) is not None:
            continue
        name = sentence.text_of(entity.start, entity.end)
        if entity.kind == "NORP" and sentence.words[entity.end - 1].tag == "NNPS":
            _put(sentence, entity, "people", "person", plural_tag=True)
            changed.append(f"{name} are people")
            continue
        if entity.kind not in RENAMED:
            continue
        apposed = _apposed(sentence, entity, knowledge)
        if apposed:
            sentence.strike(apposed)
            changed.append(f"{name} is the {sentence.words[entity.start - 1].text} before it")
            continue
        known = HypernymAnswer("team", "the name's form") if _is_team(sentence, entity) else knowledge.lookup(name, entity.kind)
        if known is None:
            continue
        hypernym = known.word
        described = _description(sentence, entity, knowledge)
        roles = [sentence.words[place].lemma.lower() for place in described if sentence.words[place].pos == "NOUN"]
        if stated_role and entity.kind == "PERSON" and hypernym == "person" and roles:
            hypernym, known = roles[-1], known._replace(source="the caption")
        sentence.strike(_without_article(sentence, entity, described))
        _put(sentence, entity, hypernym, hypernym)
        changed.append(f"{name} ({entity.kind}) is {article(hypernym)} {hypernym}, says {known.source}")
    return "; ".join(changed)


def _is_team(sentence: Sentence, entity: Entity) -> bool:
    """Whether a name is a place's and a plural: the Green Bay Packers, whatever the recogniser takes them for."""
    words = [word for word in sentence.words[entity.start : entity.end] if word.pos != "DET"]
    town = " ".join(word.text for word in words[:-1])
    return (
        entity.kind not in ("PERSON", "EVENT", "WORK_OF_ART")
        and len(words) > 1
        and words[-1].tag == "NNPS"
        and bool(place_kind(town))
    )


def _put(sentence: Sentence, entity: Entity, text: str, lemma: str, *, plural_tag: bool = False) -> None:
    """Let ``text`` stand for an entity's name, an article inside it aside."""
    head = sentence.words[entity.end - 1]
    sentence.strike(place for place in range(entity.start, entity.end - 1) if sentence.words[place].pos != "DET")
    head.text, head.lemma, head.pos, head.alive, head.renamed = text, lemma, "NOUN", True, True
    head.tag = "NNS" if plural_tag else "NN"


def _without_article(sentence: Sentence, entity: Entity, described: list[int]) -> list[int]:
    """What goes with a name: all that described it, and its article too, unless that is "the" and still makes sense.

    A person has none, and what an ordinal made definite is so no longer (table 1: "at festival").
    """
    inside = [place for place in range(entity.start, entity.end) if sentence.words[place].pos == "DET"]
    before = sentence.before(entity.start)
    outside = [before] if before is not None and sentence.words[before].pos == "DET" else []
    ordinal = any(_ORDINAL.match(sentence.words[place].text) for place in [*described, *range(entity.start, entity.end)])
    articles = [*inside, *outside, *(place for place in described if sentence.words[place].pos == "DET")]
    definite = [place for place in articles if sentence.words[place].text.lower() == "the"]
    gone = [place for place in described if sentence.words[place].pos != "DET"]
    if entity.kind == "PERSON" or ordinal or not definite:
        return [*gone, *articles]
    return [*gone, *(place for place in articles if place not in definite)]


def _apposed(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> list[int]:
    """The words to strike where a name only repeats the noun right before it; empty where it stands for itself.

    So with a thing's or place's name after its noun, with a person's after a role that has an article or is a plural
    ("tennis players X and Y"). ``artist X`` alone is left to the hypernym, as table 1 has it.
    """
    place = entity.start - 1
    if place < 0 or not sentence.words[place].alive or sentence.words[place].pos != "NOUN" or sentence.words[place].renamed:
        return []
    noun = sentence.words[place]
    span = list(range(entity.start, entity.end))
    if entity.kind != "PERSON":
        return span if noun.dep not in ("compound",) or not sentence.words[entity.end - 1].text[:1].islower() else []
    if not knowledge.is_role(noun.lemma.lower()):
        return []
    several = noun.tag in ("NNS", "NNPS")
    if not several and not _has_article(sentence, place):
        return []
    while several and (following := _next_person(sentence, span[-1] + 1)) is not None:
        span += range(span[-1] + 1, following.end)
    return span


def _has_article(sentence: Sentence, place: int) -> bool:
    before = sentence.before(place)
    while before is not None and sentence.words[before].pos in ("ADJ", "NOUN"):
        before = sentence.before(before)
    return before is not None and sentence.words[before].pos == "DET"


def _next_person(sentence: Sentence, position: int) -> Entity | None:
    """The person that follows after a comma or "and"."""
    place = position
    while place < len(sentence.words) and sentence.words[place].text.lower() in (",", "and", "&"):
        place += 1
    entity = sentence.entity_at(place) if place > position and place < len(sentence.words) else None
    return entity if entity is not None and entity.kind == "PERSON" and entity.start == place else None


def merge_coordination(sentence: Sentence, knowledge: Knowledge) -> str:
    """Nouns of the same name in coordination become one plural: "actor and actor", "person, person and person"."""
    merged = _level(sentence, knowledge)
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


def _level(sentence: Sentence, knowledge: Knowledge) -> list[str]:
    """Of people in coordination some of whom are only known to be persons, all are: "person and general"."""
    levelled = []
    alive = sentence.alive()
    for order in range(len(alive) - 2):
        first, joint, other = (sentence.words[alive[at]] for at in (order, order + 1, order + 2))
        if joint.text.lower() not in ("and", "&", ",") or not (first.renamed and other.renamed) or first.lemma == other.lemma:
            continue
        if "person" in (first.lemma, other.lemma) and all(
            word.lemma == "person" or knowledge.is_role(word.lemma) for word in (first, other)
        ):
            levelled.append(f"{first.text} {joint.text} {other.text}: people")
            for word in (first, other):
                word.text = word.lemma = "person"
    return levelled


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
        belongs = belongs or (word.pos == "NOUN" and word.dep == "compound" and word.head in found)  # "relief pitcher X"
        if not (role or belongs):
            break
        found.append(place)
        inside.add(place)
        place = sentence.before(place)
    if place is not None and sentence.words[place].pos == "DET":
        found.append(place)
    return sorted(found)
