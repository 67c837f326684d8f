"""The first step: correct typical mistakes of the tagger and the entity recogniser, by dictionary and context.

It changes no text, so no step is recorded. Typical mistakes: names that are missed or cut short, place names labelled as people,
verbs tagged as nouns, common words tagged as names, missed dates.
"""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.knowledge.gazetteers import place_kind
from components.language.capitals import begins_sentence, is_common_word
from components.language.person_names import is_given_name
from components.language.words import zipf
from components.stages.hypernymize.common_nouns import is_written_so, keep_common_nouns, settle_indefinite
from components.stages.hypernymize.dates import find_dates
from components.stages.hypernymize.name_types import coordinated, is_role, relabel_people, relabel_places
from components.stages.hypernymize.names import add_missed_names, extend_names, join_numbers, trim_names
from components.stages.hypernymize.people import FREQUENT, is_family, is_full_name, is_rare_surname
from components.stages.hypernymize.sentence import SUBJECTS, Entity, Sentence, Word


def correct_parse(sentence: Sentence, knowledge: Knowledge) -> None:
    """Correct tags and entities of a sentence in place; no text changes."""
    _capitalise_full_names(sentence, knowledge)
    _find_team(sentence, knowledge)
    _retag_verbs(sentence, knowledge)
    _correct_tags(sentence, knowledge)
    keep_common_nouns(sentence, knowledge)
    join_numbers(sentence)
    trim_names(sentence, knowledge)
    extend_names(sentence, knowledge)
    relabel_places(sentence, knowledge)
    add_missed_names(sentence, knowledge)
    relabel_people(sentence, knowledge)
    settle_indefinite(sentence, knowledge)
    _retag_coordinated_verb(sentence, knowledge)
    _add_dates(sentence)
    sentence.entities.sort(key=lambda entity: entity.start)


def _capitalise_full_names(sentence: Sentence, knowledge: Knowledge) -> None:
    """Give people's names in small letters a capital, so that they are names in what follows; the caption has none in the end."""
    words, position = sentence.words, 0
    while position + 1 < len(words):
        if not is_full_name(words[position], words[position + 1], knowledge):
            position += 1
            continue
        end = position + 2
        while end < len(words) and is_rare_surname(words[end].text, knowledge):
            end += 1
        for word in words[position:end]:
            word.text, word.pos, word.tag = word.text.capitalize(), "PROPN", "NNP"
        inside = [entity for entity in sentence.entities if entity.start < end and position < entity.end]
        sentence.entities = [entity for entity in sentence.entities if entity not in inside] + [Entity(position, end, "PERSON")]
        position = end


def _find_team(sentence: Sentence, knowledge: Knowledge) -> None:
    """Tag the plural that begins a text before a role, a person and a verb as a team's name: "Cowboys head coach X looks"."""
    words = sentence.words
    for entity in sentence.entities:
        roles = words[1 : entity.start]
        if entity.kind != "PERSON" or not roles or words[entity.end : entity.end + 1] == [] or words[entity.end].tag != "VBZ":
            continue
        nouns = all(word.text.islower() and knowledge.is_noun(word.text) for word in roles)
        if words[0].tag not in ("NNS", "NNPS") or not nouns or not is_role(sentence, entity.start - 1, knowledge):
            continue
        words[0].text, words[0].pos, words[0].tag = words[0].text.capitalize(), "PROPN", "NNPS"
        for position, word in enumerate(words[: entity.start]):
            word.dep, word.head = "compound", position + 1
        for word in roles:
            word.pos, word.tag, word.lemma = "NOUN", "NN", word.text
        words[entity.end - 1].dep, words[entity.end - 1].head = "nsubj", entity.end


def _correct_tags(sentence: Sentence, knowledge: Knowledge) -> None:
    written = [word.text for word in sentence.words]
    for position, word in enumerate(sentence.words):
        plain = word.text.lower()
        capital = word.text[:1].isupper()
        inside = capital and not begins_sentence(written, position)
        if word.tag == "NN" and plain.isalpha() and not knowledge.is_noun(plain) and knowledge.is_verb(plain):
            word.pos = "VERB"  # "adorn"
        elif (
            word.pos in ("PRON", "VERB")
            and plain.isalpha()
            and _is_noun_only(word, knowledge)
            and not _has_object(sentence, position)
        ):
            word.pos, word.tag = "NOUN", "NNS" if word.tag == "VBZ" else "NN"  # "bookshelf", "statuettes"
            if position and word.dep == "ROOT" and sentence.words[position - 1].dep in SUBJECTS:
                sentence.words[position - 1].dep = "compound"
        elif word.pos == "PROPN" and word.text.islower():
            word.pos, word.tag = "NOUN", "NNS" if word.tag == "NNPS" else "NN"  # "a wooden jetty"
        elif word.pos == "NOUN" and capital and plain.isalpha() and _is_name_only(plain, knowledge):
            word.pos = "PROPN"  # "Lisbon", "Coyoacán"
        elif inside and word.pos in ("ADV", "VERB", "ADJ", "AUX") and _odd_capital(sentence, position):
            word.pos = "PROPN"  # "the ship Ever Given"
        elif inside and word.pos in ("DET", "PRON") and plain not in ("the", "i") and _before(sentence, position) == "PROPN":
            before = sentence.words[position - 1]  # "Nguyễn Văn An eating"
            word.pos, word.tag, word.dep = "PROPN", "NNP", before.dep
            word.head = position if before.dep == "ROOT" else before.head
            before.dep, before.head = "compound", position
        elif word.pos == "NOUN" and inside and _before_small_noun(sentence, position):
            word.pos = "PROPN"  # "the Lilium air taxi"
        elif word.pos == "PROPN" and sentence.entity_at(position) is None:
            alone = sentence.modifies(position, position + 1) is None and not _beside_name(sentence, position)
            common = is_common_word(plain, knowledge.wordnet) or is_written_so(word.text, knowledge)
            family = inside and is_family(word, knowledge) and _before(sentence, position) == "DET"
            if alone and common and knowledge.is_noun(plain) and not (is_given_name(plain) or family):
                word.pos, word.lemma = "NOUN", word.lemma.lower()  # "Petunia", "Tourists"


def _retag_verbs(sentence: Sentence, knowledge: Knowledge) -> None:
    """Tag a plural noun as a verb where it has a subject or the article "a", which no plural has: "a Boeing 747 lands"."""
    for position, word in enumerate(sentence.words):
        base = _base(word.text.lower(), knowledge)
        if word.tag != "NNS" or not base:
            continue
        parts = [index for index in range(position) if sentence.words[index].head == position]
        article = next((index for index in parts if sentence.words[index].text.lower() in ("a", "an")), None)
        subject = next((index for index in parts if sentence.words[index].dep == "nsubj"), None)
        if subject is None:
            subject = _name_that_acts(sentence, position, parts, article, knowledge)
            if subject is not None:
                for index in parts:
                    sentence.words[index].head = subject
        if subject is not None:
            word.pos, word.tag, word.lemma = "VERB", "VBZ", base
            sentence.words[subject].dep, sentence.words[subject].head = "nsubj", position


def _base(word: str, knowledge: Knowledge) -> str:
    """Return the verb of which a word in -s or -es may be a form, or ""."""
    bases = (word.removesuffix("s"), word.removesuffix("es"))
    return next((base for base in bases if base != word and knowledge.is_verb(base)), "")


def _name_that_acts(sentence: Sentence, position: int, parts: list[int], article: int | None, knowledge: Knowledge) -> int | None:
    """Return the position of the name, tagged as one, that is the subject of a plural noun meant as a verb; None for none."""
    if article is None:
        bracket = sentence.words[position - 1].text == ")" and position > 3 and sentence.words[position - 3].text == "("
        last = position - (4 if bracket else 1)  # "X (left) gestures"
        return last if _acts(sentence, last, position, knowledge) else None
    names = [index for index in parts if index > article and sentence.words[index].text[:1].isupper()]
    if not names or (names[-1] != position - 1 and sentence.words[position - 1].pos != "NUM"):
        return None
    sentence.words[names[-1]].pos = "PROPN"
    return names[-1]


def _acts(sentence: Sentence, last: int, position: int, knowledge: Knowledge) -> bool:
    """Return whether a plural noun after a name is the verb that the sentence lacks: "HBX plans to build", "Ann Lee reacts"."""
    words = sentence.words
    if last < 0 or words[last].pos != "PROPN" or words[position].dep != "ROOT":
        return False
    if any(word.tag in ("VBZ", "VBP", "VBD", "MD") for word in words):
        return False
    after = [word.tag for word in words[position + 1 : position + 3]]
    if after == ["TO", "VB"] or after[:1] in (["DT"], ["PRP$"], ["NNP"]):
        return True  # a noun is followed by neither
    noun = _base(words[position].text.lower(), knowledge)
    entity = sentence.entity_at(last)
    person = entity is not None and entity.kind == "PERSON" and last > 0 and words[last - 1].pos == "PROPN"
    return not knowledge.is_noun(noun) or (person and not knowledge.is_object(noun))  # "Ann Lee smiles at", "Ann Lee books on"


def _retag_coordinated_verb(sentence: Sentence, knowledge: Knowledge) -> None:
    """Tag a noun after two coordinated people or a team as a verb if it is a verb's base form: "X and Y hang in"."""
    verbs = any(word.tag in ("VBZ", "VBP", "VBD", "MD") for word in sentence.words)
    for entity in sentence.entities:
        word = sentence.words[entity.end] if entity.end < len(sentence.words) else None
        if word is None or word.tag != "NN" or not knowledge.is_verb(word.text):
            continue
        team = sentence.words[entity.end - 1].tag == "NNPS" and not verbs  # "fans of the Giants cheer"
        if team or (entity.kind == "PERSON" and coordinated(sentence, entity.start) == "PERSON"):
            word.pos, sentence.words[entity.end - 1].dep = "VERB", "nsubj"


def _add_dates(sentence: Sentence) -> None:
    """Replace the entities within spans that are dates by their form with DATE entities."""
    for start, end in find_dates([word.text for word in sentence.words]):
        overlapping = [entity for entity in sentence.entities if entity.start < end and start < entity.end]
        if any(entity.kind not in ("DATE", "TIME", "CARDINAL", "ORDINAL") for entity in overlapping):
            continue
        low, high = min([start, *(entity.start for entity in overlapping)]), max([end, *(entity.end for entity in overlapping)])
        sentence.entities = [entity for entity in sentence.entities if entity not in overlapping]
        sentence.entities.append(Entity(low, high, "DATE"))


def _is_noun_only(word: Word, knowledge: Knowledge) -> bool:
    """Return whether the dictionary has a word that is tagged as a pronoun or as a present verb as a noun only."""
    plain = word.text
    verb = word.pos == "VERB" and (word.tag != "VBZ" or bool(_base(plain, knowledge)))
    return plain.islower() and zipf(plain) < FREQUENT and not verb and knowledge.is_common_noun(plain)


def _has_object(sentence: Sentence, position: int) -> bool:
    return any(word.dep == "dobj" and word.head == position for word in sentence.words)


def _is_name_only(plain: str, knowledge: Knowledge) -> bool:
    frequent = zipf(plain) >= 3.0 and not is_given_name(plain)
    common = knowledge.is_noun(plain) or knowledge.is_verb(plain) or frequent
    return knowledge.is_instance(plain) or not common or bool(place_kind(plain) and not knowledge.is_noun(plain))


def _before(sentence: Sentence, position: int) -> str:
    """Return the part of speech of the word before in a text of mostly small letters; "" otherwise."""
    small = sum(word.text[:1].isupper() for word in sentence.words) * 2 <= len(sentence.words)
    return sentence.words[position - 1].pos if position and small else ""


def _beside_name(sentence: Sentence, position: int) -> bool:
    """Return whether a proper noun, or after it a noun, is next to the word."""
    words = sentence.words
    before = position > 0 and words[position - 1].pos == "PROPN"
    return before or (position + 1 < len(words) and words[position + 1].pos in ("PROPN", "NOUN"))


def _odd_capital(sentence: Sentence, position: int) -> bool:
    """Return whether a capital suggests a name: most words are lower-case, and a name or noun is adjacent."""
    words = sentence.words
    before = words[position - 1]
    if before.pos == "PUNCT" or sum(word.text[:1].isupper() for word in words) * 2 > len(words):
        return False
    after = words[position + 1] if position + 1 < len(words) else None
    return (before.pos in ("NOUN", "PROPN") and words[position].pos != "ADJ") or (after is not None and after.pos == "PROPN")


def _before_small_noun(sentence: Sentence, position: int) -> bool:
    """Return whether a lower-case noun that the word modifies follows directly, numbers ignored."""
    following = position + 1
    while following < len(sentence.words) and sentence.words[following].pos == "NUM":  # "the Falcon 9 rocket"
        following += 1
    noun = sentence.words[following] if following < len(sentence.words) else None
    return (
        noun is not None
        and noun.pos == "NOUN"
        and noun.text[:1].islower()
        and sentence.words[position].dep in ("compound", "nmod")
    )
