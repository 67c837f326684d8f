"""Steps that replace: names become hypernyms, "actor and actor" becomes "actors".

Source: CC §3 and table 1.
"""

from __future__ import annotations

import re

from components.knowledge.cascade import Knowledge
from components.knowledge.kinds import KINDS
from components.language.capitals import is_initialism
from components.language.words import article, plural
from components.stages.hypernymize.common_nouns import is_written_so
from components.stages.hypernymize.evidence import find_kind, signals_of_group
from components.stages.hypernymize.removals import NAMING
from components.stages.hypernymize.sentence import MODIFIERS, SUBJECTS, Entity, Sentence

_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)$")


def rename_entities(sentence: Sentence, knowledge: Knowledge, *, min_name_signals: int) -> str:
    """Replace each named entity that is not a modifier by its hypernym, and remove the words that describe the name.

    ``artist Duncan McKellar`` → ``person`` and ``the 29th American Film Festival`` → ``festival``, as in table 1. A name after
    the noun for its kind is removed without a replacement: ``the shuttle Atlantis``, ``the actor X``.
    """
    changed = []
    for entity in sentence.entities:
        if not sentence.living(entity) or sentence.is_modifier(entity):
            continue
        name = sentence.text_of(entity.start, entity.end)
        people = sentence.words[entity.end - 1]
        if entity.kind == "NORP" and people.tag in ("NNS", "NNPS") and people.text[:1].isupper():
            signals = signals_of_group(sentence, entity, people, knowledge)
            if len(signals) < min_name_signals:
                _leave_unknown(sentence, entity, tuple(signals))
                continue
            _replace_name(sentence, entity, "people", "person", plural_tag=True)
            changed.append(f"{name} are people")
            continue
        if entity.kind not in KINDS:
            continue
        naming = entity.start - 1
        if naming > 0 and sentence.words[naming].lemma in NAMING and sentence.words[naming].dep == "acl":
            changed.append(f"{sentence.strike(range(naming, entity.end))} only names")
            continue
        apposed = _apposed(sentence, entity, knowledge)
        if apposed:
            sentence.strike(apposed)
            changed.append(f"{name} is the {sentence.words[entity.start - 1].text} before it")
            continue
        if entity.end - entity.start == 1 and is_initialism(name) and is_written_so(name, knowledge):
            sentence.words[entity.start].pos = "NOUN"  # "AI"
            continue
        known = find_kind(sentence, entity, knowledge, min_name_signals)
        if known.word is None:
            _leave_unknown(sentence, entity, known.signals)
            continue
        hypernym = known.word
        described = _description(sentence, entity, knowledge)
        roles = [sentence.words[position].lemma.lower() for position in described if sentence.words[position].pos == "NOUN"]
        if roles and entity.kind == "PERSON" and _stands_alone(sentence, entity, described):
            sentence.strike(range(entity.start, entity.end))
            changed.append(f"{name} is the {roles[-1]} before it")
            continue
        if known.source == "wordnet" and not _fits(hypernym, roles, knowledge):
            hypernym, known = "person", known._replace(source="the role before it")  # another bearer of the name
        sentence.strike(_without_article(sentence, entity, described))
        _replace_name(sentence, entity, hypernym, hypernym)
        changed.append(f"{name} ({entity.kind}) is {article(hypernym)} {hypernym}, says {known.source}")
    return "; ".join(changed)


def _stands_alone(sentence: Sentence, entity: Entity, described: list[int]) -> bool:
    """Return whether the text is only a name and what describes it, so that "person" alone would be left."""
    covered = {*described, *range(entity.start, entity.end)}
    return not any(at not in covered and sentence.words[at].text[:1].isalnum() for at in sentence.alive())


def _fits(hypernym: str, roles: list[str], knowledge: Knowledge) -> bool:
    """Return whether a dictionary's answer is one of the roles that the caption states, or a kind of one, or none is stated."""
    return not roles or any(
        hypernym == role or hypernym in knowledge.kinds(role) or role in knowledge.kinds(hypernym) for role in roles
    )


def _leave_unknown(sentence: Sentence, entity: Entity, signals: tuple[str, ...]) -> None:
    """Tag the words of a name of unknown kind as names, for which ``find_shortcoming`` drops the caption."""
    entity.doubt = ", ".join(signals) or "no signal"
    for word in sentence.words[entity.start : entity.end]:
        if word.text[:1].isupper() and word.pos != "DET":
            word.pos = "PROPN"


def _replace_name(sentence: Sentence, entity: Entity, text: str, lemma: str, *, plural_tag: bool = False) -> None:
    """Replace an entity's words by ``text``, keeping an article inside it."""
    head = sentence.words[entity.end - 1]
    sentence.strike(position for position in range(entity.start, entity.end - 1) if sentence.words[position].pos != "DET")
    head.text, head.lemma, head.pos, head.alive, head.renamed = text, lemma, "NOUN", True, True
    head.tag = "NNS" if plural_tag else "NN"
    mark = sentence.words[entity.end] if entity.end < len(sentence.words) else None
    if mark is not None and mark.text in ("'", "’") and mark.tag == "POS" and not text.endswith("s"):
        mark.text += "s"  # "the Smiths' house"


def _without_article(sentence: Sentence, entity: Entity, described: list[int]) -> list[int]:
    """Return the positions to remove with a name: its description and its article, unless that is "the" and still fits.

    A person has no article, and without its ordinal a noun is no longer definite (table 1: "at festival"). A product after "a"
    is one of several, so it keeps the article.
    """
    inside = [position for position in range(entity.start, entity.end) if sentence.words[position].pos == "DET"]
    before = sentence.before(entity.start)
    outside = [before] if before is not None and sentence.words[before].pos == "DET" else []
    ordinal = any(_ORDINAL.match(sentence.words[position].text) for position in [*described, *range(entity.start, entity.end)])
    articles = [*inside, *outside, *(position for position in described if sentence.words[position].pos == "DET")]
    definite = [position for position in articles if sentence.words[position].text.lower() == "the"]
    removed = [position for position in described if sentence.words[position].pos != "DET"]
    if entity.kind == "PRODUCT" and not definite and not ordinal:
        return removed
    if entity.kind == "PERSON" or ordinal or not definite:
        return [*removed, *articles]
    return [*removed, *(position for position in articles if position not in definite)]


def _apposed(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> list[int]:
    """Return the positions of a name that only repeats the noun before it; empty if the name stands alone.

    This holds for a name of a thing or place after its noun, and for a person's name after a role with an article or in the
    plural ("tennis players X and Y"). ``artist X`` alone is left to the hypernym, as in table 1.
    """
    position = entity.start - 1
    if (
        position < 0
        or not sentence.words[position].alive
        or sentence.words[position].pos != "NOUN"
        or sentence.words[position].renamed
    ):
        return []
    noun = sentence.words[position]
    span = list(range(entity.start, entity.end))
    if sentence.words[entity.end - 1].dep in SUBJECTS and noun.dep not in MODIFIERS:
        return []  # "the cloth NASA buys"
    if entity.kind != "PERSON":
        if noun.dep == "compound" and noun.tag == "NN" and position and not _has_article(sentence, position):
            return []  # "with Internet giant X" needs an article
        return span if noun.dep not in ("compound",) or not sentence.words[entity.end - 1].text[:1].islower() else []
    if not knowledge.is_role(noun.lemma.lower()):
        last = sentence.words[entity.end - 1]
        described = noun.dep in MODIFIERS and noun.head in span
        same = (noun.dep, noun.head) == (last.dep, last.head)
        whole = noun.text.islower() and (position == 0 or sentence.words[position - 1].space)  # not "president-elect X"
        return span if whole and (described or same) else []  # "goalie X", "storm X"
    plural_role = noun.tag in ("NNS", "NNPS")
    if not plural_role and not _has_article(sentence, position):
        return []
    while plural_role and (following := _next_person(sentence, span[-1] + 1)) is not None:
        span += range(span[-1] + 1, following.end)
    return span


def _has_article(sentence: Sentence, place: int) -> bool:
    before = sentence.before(place)
    while before is not None and sentence.words[before].pos in ("ADJ", "NOUN"):
        before = sentence.before(before)
    return before is not None and (sentence.words[before].pos == "DET" or sentence.words[before].tag in ("PRP$", "POS"))


def _next_person(sentence: Sentence, position: int) -> Entity | None:
    """The person that follows after a comma or "and"."""
    place = position
    while place < len(sentence.words) and sentence.words[place].text.lower() in (",", "and", "&"):
        place += 1
    entity = sentence.entity_at(place) if place > position and place < len(sentence.words) else None
    return entity if entity is not None and entity.kind == "PERSON" and entity.start == place else None


def merge_coordination(sentence: Sentence, knowledge: Knowledge) -> str:
    """Merge equal coordinated nouns into one plural if one replaced a name: "actor and actor", "person, person and person"."""
    merged = _level_people(sentence, knowledge)
    alive = sentence.alive()
    order = 0
    while order < len(alive):
        first = sentence.words[alive[order]]
        run = [order]
        look = order
        while first.pos == "NOUN" and (following := _same_noun_after(sentence, alive, look, first.lemma)) is not None:
            run.append(following)
            look = following
        if any(sentence.words[alive[index]].renamed for index in run) and len(run) > 1:
            start = alive[order]
            lead = sentence.before(start)
            if lead is not None and sentence.words[lead].text.lower() in ("a", "an"):
                sentence.strike([lead])
            sentence.strike(alive[order + 1 : look + 1])
            first.text, first.tag = plural(first.lemma), "NNS"
            merged.append(f"{len(run)} times {first.lemma}")
        order = look + 1
    return "; ".join(merged)


def _level_people(sentence: Sentence, knowledge: Knowledge) -> list[str]:
    """Rename coordinated people to "person" if one of them is only known as a person: "person and general"."""
    changed = []
    alive = sentence.alive()
    for order in range(len(alive) - 2):
        first, joint, other = (sentence.words[alive[index]] for index in (order, order + 1, order + 2))
        if joint.text.lower() not in ("and", "&", ",") or not (first.renamed and other.renamed) or first.lemma == other.lemma:
            continue
        if "person" in (first.lemma, other.lemma) and all(
            word.lemma == "person" or knowledge.is_role(word.lemma) for word in (first, other)
        ):
            changed.append(f"{first.text} {joint.text} {other.text}: people")
            for word in (first, other):
                word.text = word.lemma = "person"
    return changed


def _same_noun_after(sentence: Sentence, alive: list[int], order: int, lemma: str) -> int | None:
    index, joined = order + 1, False
    while index < len(alive) and sentence.words[alive[index]].text.lower() in ("and", ",", "&"):
        index, joined = index + 1, True
    if joined and index < len(alive) and sentence.words[alive[index]].text.lower() in ("a", "an", "the"):
        index += 1
    if (
        joined
        and index < len(alive)
        and sentence.words[alive[index]].pos == "NOUN"
        and sentence.words[alive[index]].lemma == lemma
    ):
        return index
    return None


def _description(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> list[int]:
    """Return the positions left of a name that only describe its bearer: titles, roles, ordinals, names, the determiner."""
    positions: list[int] = []
    inside = set(range(entity.start, entity.end))
    position = sentence.before(entity.start)
    while position is not None:
        word = sentence.words[position]
        joined = position > 1 and sentence.words[position - 1].text == "-"
        first = position - 2 if joined else position  # "third-grader X"
        role = word.pos == "NOUN" and entity.kind == "PERSON" and knowledge.is_role(word.lemma.lower())
        if joined and knowledge.is_role(sentence.words[first].text.lower()):
            role = True  # "president-elect X"
        if positions and knowledge.is_noun(f"{word.text} {sentence.words[positions[-1]].text}".lower()):
            role = True  # "head coach X"
        belongs = word.pos in ("PROPN", "NUM", "ADJ") and (word.head in inside or word.head in positions)
        belongs = belongs or (word.pos == "NOUN" and word.dep == "compound" and word.head in positions)  # "relief pitcher X"
        if not (role or belongs):
            break
        positions += range(position, first - 1, -1)
        inside |= set(range(first, position + 1))
        position = sentence.before(first)
    if position is not None and sentence.words[position].pos == "DET":
        positions.append(position)
    return sorted(positions)
