"""Features of a text's form that tell descriptions of images from headlines, link texts, titles, buttons and notices.

The form only: parts of speech and their order, mood and tense, capitals, marks, function words, and the WordNet categories of
nouns and verbs. No content word is a feature, and every name is one placeholder, so a model cannot learn topics or names.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from components.core.params import read_yaml
from components.language.capitals import begins_sentence, is_common_word
from components.language.parser import Parse
from components.language.wordnet import WordNet


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NAMES = frozenset({"PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW", "LANGUAGE"})
"""Entity types whose words are names."""
SHOWN = {
    "PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organization", "DATE": "date", "TIME": "date",
    "MONEY": "amount", "PERCENT": "amount", "QUANTITY": "amount", "WORK_OF_ART": "work", "EVENT": "event", "NORP": "people",
}  # fmt: skip
"""Entity type → the kind that is a feature."""
_LISTS = read_yaml(Path(__file__).parent / "data" / "description_features.yaml")
FUNCTION_WORDS, SHOTS, GRAPHICS = (_words(_LISTS[name]) for name in ("function_words", "shots", "graphics"))
"""Closed-class words that are features of their own; nouns for an image that shows something; nouns for an image that is made of
text and marks, or stands for something."""
_MARKS = {
    "comma": ",", "stop": ".", "colon": ": ;", "question": "?", "exclamation": "!", "bar": "| • ·", "dash": "– — - --",
    "dots": "… ...", "bracket": "( [", "ampersand": "&", "slash": "/", "sign": "# $ % +", "quote": "» « \" “ ” ‘ ’ '",
}  # fmt: skip
_PUNCTUATION = {mark: name for name, marks in _MARKS.items() for mark in marks.split()}
_CONCRETE = frozenset(
    f"noun.{name}" for name in _words("animal artifact body food object person plant substance location group phenomenon shape")
)
_LENGTHS = (3, 5, 8, 12, 17, 25, 40)


def form_features(parse: Parse, wordnet: WordNet) -> dict[str, float]:
    """Return the features of a parsed text by name; each value is from 0 to about 1, and a feature that is absent is 0."""
    kept = [at for at, tag in enumerate(parse["pos"]) if tag != "SPACE"]
    if not kept:
        return {}
    named = _named(parse)
    found: dict[str, float] = {}
    symbols = [_symbol(parse, at, at in named) for at in kept]
    _add_order(symbols, found)
    _add_marks(parse, kept, found)
    _add_capitals(parse, kept, named, wordnet, found)
    _add_function_words(parse, kept, found)
    _add_verbs(parse, kept, symbols, named, wordnet, found)
    _add_nouns(parse, kept, named, wordnet, found)
    for label in {SHOWN[label] for _, _, label in parse["entities"] if label in SHOWN}:
        found[f"entity {label}"] = 1.0
    return found


def _named(parse: Parse) -> set[int]:
    """Return the positions of words of names: capitalised words of an entity, and proper nouns."""
    inside = {at for start, end, label in parse["entities"] if label in NAMES for at in range(start, end)}
    return {
        at
        for at, (word, tag) in enumerate(zip(parse["text"], parse["pos"], strict=True))
        if tag == "PROPN" or (at in inside and word[:1].isupper())
    }


def _symbol(parse: Parse, at: int, named: bool) -> str:
    """Return the class of a token in the order features."""
    if named:
        return "NAME"
    word, pos, tag = parse["text"][at].lower(), parse["pos"][at], parse["tag"][at]
    match pos:
        case "PUNCT" | "SYM":
            return _PUNCTUATION.get(word, "mark")
        case "NOUN":
            return "NOUNS" if tag == "NNS" else "NOUN"
        case "VERB" | "AUX":
            return tag if pos == "VERB" else f"AUX {tag}"
        case "DET":
            return "A" if word in ("a", "an") else "THE" if word == "the" else "DET"
        case "PRON":
            return "WH" if tag.startswith("W") else "POSS" if tag == "PRP$" else "PRON"
        case "ADV":
            return "WH" if tag == "WRB" else "ADV"
        case "ADJ":
            return tag if tag in ("JJS", "JJR") else pos
        case _:
            return pos


def _add_order(symbols: Sequence[str], found: dict[str, float]) -> None:
    """Add which class of token follows which, how the text begins and ends, and each class's share."""
    merged = [symbol for at, symbol in enumerate(symbols) if not (at and symbol == "NAME" == symbols[at - 1])]
    bounded = ["^", *merged, "$"]
    for pair in set(pairwise(bounded)):
        found[f"{pair[0]} {pair[1]}"] = 1.0
    found[f"begins {' '.join(merged[:3])}"] = 1.0
    for symbol, count in Counter(symbols).items():
        found[f"share {symbol}"] = count / len(symbols)
    bound = next((bound for bound in _LENGTHS if len(symbols) <= bound), 99)
    found[f"length {bound}"] = 1.0
    found["length"] = math.log1p(len(symbols)) / 4


def _add_marks(parse: Parse, kept: Sequence[int], found: dict[str, float]) -> None:
    """Add marks, digits and brackets, wherever they are, and that of the end."""
    words = [parse["text"][at] for at in kept]
    for word in words:
        if kind := _PUNCTUATION.get(word):
            found[f"has {kind}"] = 1.0
    digits = sum(any(char.isdigit() for char in word) for word in words)
    if digits:
        found["has digits"] = 1.0
        found["share digits"] = digits / len(words)
    if words[0][:1].isdigit():
        found["begins digit"] = 1.0
    last = words[-1]
    found[f"ends {_PUNCTUATION.get(last, 'word')}"] = 1.0
    colon = next((at for at, word in enumerate(words) if word in (":", "|")), None)
    if colon is not None and colon <= 3:
        found["early colon"] = 1.0
    stops = sum(word in (".", "!", "?") for word in words[:-1])
    if stops:
        found["sentences"] = min(3, stops) / 3


def _add_capitals(parse: Parse, kept: Sequence[int], named: set[int], wordnet: WordNet, found: dict[str, float]) -> None:
    """Add how words are written: capitals that no name and no beginning explains, words all in capitals, a small first letter."""
    words = [(at, parse["text"][at]) for at in kept if parse["text"][at].isalpha()]
    if not words:
        found["no words"] = 1.0
        return
    later = [(at, word) for at, word in words if not begins_sentence(parse["text"], at) and len(word) > 3]
    if later:
        capitals = [(at, word) for at, word in later if word[0].isupper()]
        common = sum(is_common_word(word.lower(), wordnet) for _, word in capitals)
        found["capitals"] = len(capitals) / len(later)
        found["capitals of common words"] = common / len(later)
        found["title"] = float(len(capitals) == len(later) and common > 0)
    found["all capitals"] = sum(len(word) > 3 and word.isupper() for _, word in words) / len(words)
    found["names"] = sum(at in named for at, _ in words) / len(words)
    found["only names"] = float(all(at in named for at, _ in words))


def _add_function_words(parse: Parse, kept: Sequence[int], found: dict[str, float]) -> None:
    words = [parse["text"][at].lower().replace("’", "'") for at in kept]
    for word in FUNCTION_WORDS.intersection(words):
        found[f"word {word}"] = 1.0
    if words[0] in FUNCTION_WORDS:
        found[f"first {words[0]}"] = 1.0
    if words[-1] in FUNCTION_WORDS:
        found["ends function word"] = 1.0
    for name, nouns in (("shot", SHOTS), ("graphic", GRAPHICS)):
        if nouns.intersection(words):
            found[name] = 1.0
            found[f"{name} first"] = float(bool(nouns.intersection(words[:3])))
            found[f"{name} of"] = float(any(one in nouns and other == "of" for one, other in pairwise(words)))


def _add_verbs(
    parse: Parse, kept: Sequence[int], symbols: Sequence[str], named: set[int], wordnet: WordNet, found: dict[str, float]
) -> None:
    """Add mood, tense and subject of the main clause, participles and clauses below it, and the categories of verbs."""
    dep, head, tag, pos = parse["dep"], parse["head"], parse["tag"], parse["pos"]
    first = parse["text"][kept[0]].lower()
    if wordnet.knows_verb(first) and len(symbols) > 1:
        found["begins with a verb's base form"] = 1.0
        found[f"verb? {symbols[1]}"] = 1.0
        found[f"verb? as {symbols[0]}"] = 1.0
    roots = [at for at in kept if dep[at] == "ROOT" and pos[at] != "PUNCT"]
    if len(roots) > 1:
        found["several roots"] = 1.0
    for at in kept:
        if dep[at] in ("relcl", "acl", "advcl", "ccomp", "xcomp", "csubj", "parataxis", "appos", "agent", "expl", "neg",
                       "nsubjpass", "conj", "intj", "dative", "oprd", "attr", "acomp", "npadvmod", "poss", "compound",
                       "prep", "pobj", "dobj", "amod", "nummod", "mark", "meta", "dep"):  # fmt: skip
            found[f"dep {dep[at]}"] = 1.0
            if dep[at] in ("acl", "advcl", "relcl", "ccomp", "xcomp", "conj"):
                found[f"dep {dep[at]} {tag[at]}"] = 1.0
        if pos[at] == "VERB" and (category := wordnet.verb_category(parse["lemma"][at])):
            found[category] = 1.0
    if not roots:
        return
    root = roots[0]
    below = [at for at in kept if head[at] == root and at != root]
    deps = {dep[at] for at in below}
    aux = [at for at in below if dep[at] in ("aux", "auxpass")]
    kind = tag[root] if pos[root] in ("VERB", "AUX") else "NAME" if root in named else pos[root]
    found[f"root {kind}"] = 1.0
    found[f"begins {symbols[0]}, root {kind}"] = 1.0
    subject = next((at for at in below if dep[at] in ("nsubj", "nsubjpass", "csubj", "expl")), None)
    if pos[root] in ("VERB", "AUX"):
        tense = _tense([tag[at] for at in aux] + [tag[root]])
        found[f"tense {tense}"] = 1.0
        if subject is None and not aux and tag[root] in ("VB", "VBP"):
            found["imperative"] = 1.0
            found["imperative first"] = float(root == kept[0])
        if "auxpass" in deps:
            found["passive"] = 1.0
        if parse["lemma"][root] == "be":
            found["root be"] = 1.0
            found.update({f"is {wordnet.noun_category(parse['lemma'][at].lower())}": 1.0 for at in below if dep[at] == "attr"})
        if category := wordnet.verb_category(parse["lemma"][root]):
            found[f"root {category}"] = 1.0
            found[f"{tense} {category}"] = 1.0
    if subject is not None:
        whose = "NAME" if subject in named else pos[subject]
        found[f"subject {whose}"] = 1.0
        found[f"subject {whose}, root {kind}"] = 1.0
        determined = any(head[at] == subject and dep[at] in ("det", "poss", "nummod") for at in kept)
        if whose == "NOUN":
            found["subject determined" if determined else "subject bare"] = 1.0
            if category := wordnet.noun_category(parse["lemma"][subject].lower()):
                found[f"subject {category}"] = 1.0
    elif pos[root] in ("VERB", "AUX"):
        found["no subject"] = 1.0
    if pos[root] == "NOUN":
        determined = any(dep[at] in ("det", "poss", "nummod") for at in below)
        found["root determined" if determined else "root bare"] = 1.0
    for name in ("prep", "acl", "relcl", "appos", "dobj", "neg", "punct", "cc", "advmod", "compound", "amod", "mark"):
        if name in deps:
            found[f"root has {name}"] = 1.0


def _tense(tags: Sequence[str]) -> str:
    if "MD" in tags:
        return "modal"
    finite = next((tag for tag in tags if tag in ("VBD", "VBZ", "VBP")), None)
    if finite is None:
        return "participle" if tags[-1] in ("VBG", "VBN") else "infinitive"
    name = "past" if finite == "VBD" else "present"
    return f"{name} {tags[-1]}" if tags[-1] in ("VBG", "VBN") and len(tags) > 1 else name


def _add_nouns(parse: Parse, kept: Sequence[int], named: set[int], wordnet: WordNet, found: dict[str, float]) -> None:
    """Add the categories of the common nouns, of the first and the head noun apart, and the share that names what can be seen."""
    nouns = [at for at in kept if parse["pos"][at] == "NOUN" and at not in named]
    if not any(parse["text"][at].lower() not in SHOTS and parse["text"][at].lower() not in GRAPHICS for at in nouns):
        found["nothing shown"] = 1.0
    if not nouns:
        found["no nouns"] = 1.0
        return
    categories = [wordnet.noun_category(parse["lemma"][at].lower()) for at in nouns]
    for category in set(categories):
        if category:
            found[category] = 1.0
    found["concrete"] = sum(category in _CONCRETE for category in categories) / len(nouns)
    found["abstract"] = sum(category not in _CONCRETE and category != "" for category in categories) / len(nouns)
    found["unlisted"] = sum(not category for category in categories) / len(nouns)
    head = next((at for at in nouns if parse["dep"][at] in ("ROOT", "nsubj", "nsubjpass")), nouns[0])
    if category := categories[nouns.index(head)]:
        found[f"head {category}"] = 1.0
        found["head concrete"] = float(category in _CONCRETE)
    if not any(parse["dep"][at] == "det" for at in kept):
        found["no determiner"] = 1.0
